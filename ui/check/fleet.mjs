// Opens the page of fathom fleet in a headless Chromium and operates it like a person:
//     node check/fleet.mjs views|many|million|empty http://127.0.0.1:8079 [DIRECTORY for screenshots]
// Fails if the page throws, contacts another host, or misbehaves. The sites are those of
// shell/fleet/web/tests/system.
import { strict as assert } from "node:assert";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [work, address, folder = ""] = process.argv.slice(2);
if (!address) {
  console.error("usage: node check/fleet.mjs views|many|million|empty URL [DIRECTORY for screenshots]");
  process.exit(2);
}
if (folder) mkdirSync(folder, { recursive: true });
const browser = await Browser.open();
const picture = async (name) => folder && browser.screenshot(join(folder, `fleet-${work}-${name}.png`));

/** Runs in the page. */
const TOOLS = `
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const until = async (what, holds) => { for (let n = 0; n < 2400; n++) { if (holds()) return; await new Promise((done) => setTimeout(done, 25)); } throw new Error("never " + what + ": " + document.body.textContent); };
  const quiet = () => until("quiet", () => one("#stage h1") && !one("#stage[aria-busy]"));
  const ink = (selector) => { const canvas = one(selector); if (!canvas?.width) return 0; const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height); let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n / (data.length / 4); };
`;
const run = (body) => browser.evaluate(`(async () => { ${TOOLS} ${body} })()`);
const headline = () => run(`await quiet(); return one("#stage h1").textContent`);

const open = async (hash, look = {}) => {
  await browser.goto("about:blank", look);
  await browser.goto(`${address}/${hash}`, { height: 1000, ...look });
  return headline();
};

/** Checks names of controls, and that nothing is wider than the screen. */
async function isUsable(name) {
  const nameless = await run(`return all("button, select, input, a, canvas:not([aria-hidden]), [tabindex]")
    .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)`);
  assert.deepEqual(nameless, [], name);
  const wide = await run(`return document.documentElement.scrollWidth - innerWidth`);
  assert.ok(wide <= 0, `${name}: ${wide} pixels wider than the screen`);
  await picture(name);
}

const works = {
  async views() {
    assert.equal(await open("#/sites?by=provider"), "10 of 40 sites are bloated.");
    const rows = await run(`return all("#stage table").map((table) => table.querySelectorAll("tbody tr").length)`);
    assert.deepEqual(rows, [3, 40]);
    // A name is text, whatever it contains.
    const image = await run(`return { images: all("img").length, shown: document.body.textContent.includes("<img src=x onerror=alert(1)>4") }`);
    assert.deepEqual(image, { images: 0, shown: true });
    await isUsable("sites");

    // A group leads to its own sites, and its filter can be removed.
    await run(`all("#stage a").find((e) => e.textContent === "Alpha & Sons").click(); await until("filtered", () => location.hash.includes("only="))`);
    assert.equal(await headline(), "4 of 14 sites are bloated.");
    await run(`all(".tools button").find((e) => e.textContent.includes("Alpha & Sons")).click(); await until("unfiltered", () => !location.hash.includes("only="))`);
    assert.equal(await headline(), "10 of 40 sites are bloated.");

    // Controls change the place, and the place survives a reload.
    await run(`const search = one("input[type=search]"); search.value = "home-1"; search.dispatchEvent(new Event("change")); await until("searched", () => location.hash.includes("search=home-1"))`);
    await run(`await until("fewer", () => all("#stage table")[1]?.querySelectorAll("tbody tr").length === 9)`);

    assert.equal(await open("#/buffers?by=provider"), "10 of 40 buffers are bloated.");
    assert.ok((await run(`return ink("canvas")`)) > 0.005);
    const shown = await run(`
      const canvas = one("canvas"), { left, top, width, height } = canvas.getBoundingClientRect(), hint = one(".chart .note").textContent;
      for (let x = 0; x < width; x += 5) for (let y = 0; y < height; y += 5) {
        canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }));
        if (one(".chart .note").textContent !== hint) return one(".chart .note").textContent;
      }
      return ""`);
    assert.match(shown, /^(home-\d+|<img .*>\d+), (Alpha & Sons|Beta|Gamma): [\d.]+ Mbit\/s, [\d.]+ [kM]?B, [\d.]+ ms when full$/);
    await isUsable("buffers");
    assert.equal(await open("#/buffers?direction=down"), "No site was tested.");

    assert.match(await open("#/trend?by=provider"), /^Median lag: 3[\d.]+ ms, then 3[\d.]+ ms\.$/);
    assert.equal(await run(`return all(".legend .key").length`), 4);
    await isUsable("trend");

    assert.equal(await open("#/together"), "13 of 40 sites slowed down together.");
    assert.ok(await run(`return one("#stage table").textContent.includes("provider Beta")`));
    await isUsable("together");

    assert.equal(await open("#/changes"), "Choose when something changed.");
    const at = Math.floor(Date.now() / 1e3) - 7 * 86_400;
    assert.equal(await open(`#/changes?to=${at}`), "0 of 40 sites are better, 0 worse.");
    await isUsable("changes");

    assert.equal(await open("#/site/home-0"), "home-0 is bloated.");
    const result = await run(`return one("#stage ul a").href`);
    await browser.goto(result);
    assert.match(await run(`return document.title`), /Fathom/);
    assert.match(await open(`#/site/${encodeURIComponent("<img src=x onerror=alert(1)>4")}`), /^<img src=x onerror=alert\(1\)>4 is bloated\.$/);
    assert.equal(await open("#/site/nobody"), "No answer");
    assert.ok(await run(`return one("[role=alert]").textContent.includes("site nobody: has no test in this period")`));

    for (const view of ["sites?by=provider", "buffers?by=provider", "trend", "changes", "together", "site/home-0"]) {
      await open(`#/${view}`, { width: 390, height: 844, dark: true, mobile: true });
      await isUsable(`phone-${view.split("?")[0].replace("/", "-")}`);
    }
    const chosen = await run(`one("#theme").click(); return document.documentElement.dataset.theme`);
    assert.equal(chosen, "light");
  },

  async many() {
    assert.equal(await open("#/sites"), "7,500 of 30,000 sites are bloated.");
    assert.ok(await run(`return one("#stage").textContent.includes("29,000 more: search, or filter by a label.")`));
    assert.equal(await open("#/buffers"), "7,500 of 30,000 buffers are bloated.");
    assert.ok((await run(`return ink("canvas")`)) > 0.005);
    await isUsable("buffers");
  },

  async million() {
    assert.equal(await open("#/buffers?by=plan"), "250,000 of 1,000,000 buffers are bloated.");
    assert.ok((await run(`return ink("canvas")`)) > 0.05);
    assert.ok(await run(`return one("#stage").textContent.includes("Darker cells have more lines.")`));
    await isUsable("buffers");
    assert.equal(await open("#/sites?by=plan"), "250,000 of 1,000,000 sites are bloated.");
    assert.ok(await run(`return one("#stage").textContent.includes("999,000 more: search, or filter by a label.")`));
    await isUsable("sites");
    const at = Math.floor(Date.now() / 1e3) - 7 * 86_400;
    assert.match(await open(`#/changes?to=${at}`), /^[\d,]+ of 1,000,000 sites are better, [\d,]+ worse\.$/);
    assert.ok(await run(`return one("#stage").textContent.includes("999,500 more: filter by a label.")`));
    await isUsable("changes");
    await open("#/buffers", { width: 390, height: 844, dark: true, mobile: true });
    await isUsable("phone-buffers");
  },

  async empty() {
    assert.equal(await open(""), "No site was tested.");
    assert.equal(await open("#/buffers"), "No site was tested.");
    assert.equal(await open("#/trend"), "No site was tested.");
    assert.equal(await open("#/together"), "No site was tested.");
  },
};

if (!works[work]) throw new Error(`what is ${work}?`);
await works[work]();
assert.deepEqual(browser.errors(), []);
const elsewhere = browser.asked().filter((url) => !url.startsWith(address) && /^(https?|wss?):/.test(url));
assert.deepEqual(elsewhere, [], "another host was contacted");
await browser.close();
