// Uses the pages of the static site in a headless browser, and prints what they show as JSON:
//     node check/site.mjs DIRECTORY|URL CAPTURE... [--firefox] [--pictures PREFIX] [--phone] [--dark]
// `sim`: the simulation of some settings, its scenario file, and how long changes took; `traces`: for the example
// and each CAPTURE the document, or the error.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";
import { Firefox } from "./firefox.mjs";

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const at = process.argv.indexOf("--pictures");
const prefix = at > 0 ? process.argv[at + 1] : undefined;
const [base, ...captures] = process.argv.slice(2).filter((argument) => !argument.startsWith("--") && argument !== prefix);
const site = /^https?:/.test(base) ? base : pathToFileURL(resolve(base)).href;
const PATIENCE_MS = 120_000;
const SETTINGS = "#down=16&up=1&rtt=32&buffer=500&queue=fifo&load=up&flows=1&tcp=cubic&seconds=20&compare=true";
/** Places of the buffer's slider. */
const PLACES = Array.from({ length: 20 }, (_, n) => 10 * n);

const browser = flags.includes("--firefox") ? await Firefox.open() : await Browser.open("--ignore-certificate-errors");
const view = flags.includes("--phone") ? { width: 390, height: 844, scale: 2, mobile: true } : { width: 1100, height: 1000 };
// Files that the page offers. As text: JavaScript would round times in ns.
await browser.before(`globalThis.made = [];
  const usual = URL.createObjectURL;
  URL.createObjectURL = (blob) => (made.push(blob), usual.call(URL, blob));`);
const LATEST_DOCUMENT = "made.findLast(({ type }) => type === 'application/json').text()";
const open = (page) => browser.goto(`${site}/${page}`, { ...view, dark: flags.includes("--dark") });
const picture = async (name) => {
  if (!prefix) return;
  await browser.size({ ...view, height: await browser.evaluate("document.documentElement.scrollHeight") });
  await browser.screenshot(`${prefix}-${name}.png`);
  await browser.size(view);
};
const until = async (condition, what) => {
  const from = Date.now();
  while (!(await browser.evaluate(condition))) {
    if (Date.now() - from > PATIENCE_MS) throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
};
const text = (id) => browser.evaluate(`document.getElementById(${JSON.stringify(id)}).textContent`);
const isSimulated = "/simulated/.test(document.getElementById('spent').textContent) || /NO RESULT/.test(document.getElementById('level').textContent)";

await open(`sim.html${SETTINGS}`);
await until(isSimulated, "a simulation");
const sim = { headline: await text("headline"), level: await text("level"), figures: await text("figures") };
await picture("sim");
sim.scenario = await browser.evaluate("(document.getElementById('scenario').click(), made.at(-1).text())");
const changes = await browser.evaluate(`(async () => {
  const slider = document.getElementById("buffer");
  const spent = document.getElementById("spent");
  const took = [];
  for (const place of ${JSON.stringify(PLACES)}) {
    spent.textContent = "";
    const from = performance.now();
    slider.value = place;
    slider.dispatchEvent(new Event("input"));
    while (!/simulated/.test(spent.textContent)) await new Promise((done) => requestAnimationFrame(done));
    took.push(performance.now() - from);
  }
  return took;
})()`);
changes.sort((a, b) => a - b);
sim.change_ms = { median: changes[changes.length / 2], max: changes.at(-1) };
sim.widest = await text("figures");

const ends = "!document.getElementById('result').hidden || !document.getElementById('failure').hidden";
const analyzed = async (name) => {
  await until(ends, name);
  const failed = await browser.evaluate("!document.getElementById('failure').hidden");
  const result = failed
    ? { name, error: `${await text("problem")}: ${await text("remedy")}` }
    : { name, spent: await text("spent"), document: await browser.evaluate(LATEST_DOCUMENT) };
  await new Promise((done) => setTimeout(done, prefix ? 1_000 : 0));
  await picture(`trace-${name}`);
  await browser.evaluate("(document.getElementById('again').click(), document.getElementById('failure').hidden = true)");
  return result;
};
await open("trace.html");
await picture("trace");
const traces = [];
await browser.evaluate("document.getElementById('example').click()");
traces.push(await analyzed("example.pcap.gz"));
for (const capture of captures) {
  const [name, bytes] = [basename(capture), readFileSync(capture).toString("base64")];
  await browser.evaluate(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(bytes)}), (char) => char.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], ${JSON.stringify(name)}));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
  })()`);
  traces.push(await analyzed(name));
}
const asked = browser.asked().map((url) => new URL(url)).filter(({ protocol }) => !["blob:", "data:"].includes(protocol));
const hosts = [...new Set(asked.map(({ host }) => host))];
console.log(JSON.stringify({ sim, traces, hosts, errors: browser.errors() }));
await browser.close();
process.exit(0);
