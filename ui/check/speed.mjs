// Tests a line with the page of `fathom serve` in a headless browser, and prints what the page got as JSON:
//     node check/speed.mjs http[s]://HOST:PORT [--firefox] [--without-webrtc] [--pictures PREFIX] [--phone] [--dark]
//         [--consent NAME] [--frames] [--hide]
// --hide shows another tab for 5 s during the first load.
// --frames counts the frames of the page during the test; it makes the browser draw each.
import { Browser } from "./browser.mjs";
import { Firefox } from "./firefox.mjs";

const [url, ...flags] = process.argv.slice(2);
const has = (flag) => flags.includes(flag);
const prefix = has("--pictures") ? flags[flags.indexOf("--pictures") + 1] : undefined;
const HIDDEN_MS = 5_000;
/** Longer than the longest test. */
const PATIENCE_MS = 240_000;

const browser = has("--firefox") ? await Firefox.open() : await Browser.open("--ignore-certificate-errors");
if (has("--without-webrtc")) await browser.before("delete globalThis.RTCPeerConnection");
const view = has("--phone") ? { width: 390, height: 844, scale: 2, mobile: true } : { width: 1000, height: 900 };
await browser.goto(url, { ...view, dark: has("--dark") });
const picture = async (name) => prefix && (await browser.screenshot(`${prefix}-${name}.png`));
if (has("--consent")) {
  const name = JSON.stringify(flags[flags.indexOf("--consent") + 1]);
  await browser.evaluate(`(document.getElementById('consent').click(), document.getElementById('device').value = ${name})`);
}
await picture("start");
const firstPaintMs = await browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
if (has("--frames")) {
  await browser.evaluate(`(() => {
    globalThis.frames = [];
    const count = (at) => (frames.push(at), requestAnimationFrame(count));
    requestAnimationFrame(count);
  })()`);
}
await browser.evaluate("document.getElementById('go').click()");
const started = Date.now();
const pause = () => new Promise((done) => setTimeout(done, 250));
let state = "run";
let isPictured = false;
let paused = has("--hide") ? undefined : "";
while (state === "run" && Date.now() - started < PATIENCE_MS) {
  await pause();
  state = await browser.evaluate("['start', 'run', 'result', 'failure'].find((id) => !document.getElementById(id).hidden)");
  if (!isPictured && Date.now() - started > 20_000) {
    await picture("running");
    isPictured = true;
  }
  if (paused === undefined && (await browser.evaluate("document.querySelector('#phases [aria-current]:nth-child(2)') !== null"))) {
    await browser.hide();
    await new Promise((done) => setTimeout(done, HIDDEN_MS));
    paused = await browser.evaluate("document.title");
    await picture("paused");
    await browser.unhide();
  }
}
// The list of devices and the history follow.
await pause();
await browser.size({ ...view, height: await browser.evaluate("document.documentElement.scrollHeight") });
await picture("end");
const text = (id) => browser.evaluate(`document.getElementById(${JSON.stringify(id)}).textContent`);
const report = await browser.evaluate("document.getElementById('report').getAttribute('href')");
const read = (path) => browser.evaluate(`fetch(${JSON.stringify(path)}).then((response) => response.json())`);
const result = {
  state,
  headline: await text(state === "failure" ? "problem" : "headline"),
  quality: await text("quality"),
  paused,
  brief: report ? await read(report.replace("/result/", "/page/result/")) : null,
  consent: await text("consent-text"),
  devices: await text("devices"),
  asked: [...new Set(browser.asked().map((asked) => new URL(asked).host || "data"))],
  errors: browser.errors(),
  first_paint_ms: firstPaintMs,
};
if (has("--frames")) {
  const frames = await browser.evaluate("globalThis.frames");
  const gaps = frames.slice(1).map((at, n) => at - frames[n]).sort((a, b) => a - b);
  const [first, last] = [frames[0], frames.at(-1)];
  result.frames = { per_s: (1_000 * gaps.length) / (last - first), gap_ms: { p99: gaps[Math.floor(gaps.length * 0.99)], max: gaps.at(-1) } };
}
console.log(JSON.stringify(result));
await browser.close();
process.exit(0);
