// Opens the page of fathom watch in a headless Chromium and operates it like a person:
//     node check/watch.mjs empty|overview|findings|detail|down http://127.0.0.1:8077 [DIRECTORY for screenshots]
// Fails if the page throws, contacts another host, or misbehaves. Times are printed, not judged.
import { strict as assert } from "node:assert";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [work, address, folder = ""] = process.argv.slice(2);
if (!address) {
  console.error("usage: node check/watch.mjs empty|overview|findings|detail|down URL [DIRECTORY for screenshots]");
  process.exit(2);
}
if (folder) mkdirSync(folder, { recursive: true });
const browser = await Browser.open();
const picture = async (name) => folder && browser.screenshot(join(folder, `${work}-${name}.png`));
const run = (body) => browser.evaluate(`(async () => { ${TOOLS} ${body} })()`);

/** Runs in the page. */
const TOOLS = `
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const until = async (what, holds) => { for (let n = 0; n < 2400; n++) { if (holds()) return; await new Promise((done) => setTimeout(done, 25)); } throw new Error("never " + what); };
  const stage = () => one(".stage");
  const view = () => stage().dataset.view.split(" ").map(Number);
  const press = async (key, shiftKey = false) => { stage().dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true })); await frame(); };
  const quiet = () => until("quiet", () => stage().dataset.loading === "false" && all(".plot-stage").length > 0);
  const ink = (selector) => { const canvas = one(selector); if (!canvas?.width) return 0; const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height); let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n / (data.length / 4); };
`;

/** Opens a place of the page in one of the themes. */
const open = async (hash, look = {}) => {
  await browser.goto("about:blank", look);
  await browser.goto(`${address}/${hash}`, { height: 1000, ...look });
};

/** Checks names, texts and contrast of controls, and that nothing is wider than the screen. */
async function isUsable(name) {
  const nameless = await run(`return all("button, select, input, a, canvas:not([aria-hidden]), [tabindex]")
    .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)`);
  assert.deepEqual(nameless, [], name);
  const wide = await run(`return document.documentElement.scrollWidth - innerWidth`);
  assert.ok(wide <= 0, `${name}: ${wide} pixels wider than the screen`);
}

const works = {
  async findings() {
    await open("");
    await run(`await until("findings", () => one(".findings")?.hidden === false)`);
    const told = await run(`return all(".findings > ul > li").map((e) => e.firstElementChild.textContent)`);
    assert.ok(told.length > 0);
    assert.ok(told.some((text) => /^target \d .* latency is [\d.]+ m?s higher.*certainty: \w+$/.test(text)), told.join("\n"));
    await isUsable("findings");
    const evidence = await run(`const more = one(".findings details"); more.querySelector("summary").click(); await frame();
      return { open: more.open, names: [...more.querySelectorAll("th")].map((e) => e.textContent), refuted: more.textContent.includes("Refuted by: ") }`);
    assert.ok(evidence.open && evidence.refuted && evidence.names.includes("target"), JSON.stringify(evidence));
    // Text for readers, not JSON keys.
    assert.ok(!evidence.names.some((name) => /_|^(of|hours) \w+$/.test(name) && !/^hours (from|to)$/.test(name)), evidence.names.join("\n"));
    await picture("light");
    await run(`const seen = one(".findings .seen a"); const series = seen.hash.match(/targets\\/(\\d+)/)[1]; seen.click();
      await until("its plot", () => location.hash.includes("targets/" + series) && one(".plot")); await quiet();`);
    const width = await run(`const [from, to] = view(); return to - from`);
    assert.ok(width >= 3_600, `a plot of ${width} s`);
    await open("", { dark: true, width: 390, height: 800 });
    await run(`await until("findings", () => one(".findings")?.hidden === false); one(".findings").scrollIntoView()`);
    await isUsable("findings on a phone");
    await picture("phone-dark");
  },

  async empty() {
    await open("");
    await run(`await until("told", () => one(".none")?.textContent.includes("No targets yet"))`);
    await isUsable("empty");
    await picture("light");
    await open("#/targets/7");
    await run(`await until("told", () => one(".trouble")?.textContent.includes("no series 7"))`);
    await picture("unknown");
    await open("#/targets/x,y?span=-5&to=zz");
    await run(`await until("back", () => one(".overview"))`);
  },

  async overview() {
    const began = performance.now();
    await open("");
    await run(`await until("all rows", () => all(".rows li").length === 500)`);
    console.log(`500 rows after ${(performance.now() - began).toFixed(0)} ms`);
    await run(`await until("a small picture", () => ink(".row canvas") > 0.01)`);
    const first = await run(`return { text: one(".rows li").textContent, summary: one(".summary").textContent, ranks: all(".rows a").map((a) => a.dataset.state) }`);
    assert.match(first.text, /failing.*no answer/);
    assert.match(first.summary, /^500 targets: 1\d failing, \d+ trouble/);
    const order = ["failing", "trouble", "unknown", "fine"];
    const ranks = first.ranks.map((state) => order.indexOf(state));
    assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b));
    await isUsable("overview");
    await picture("light");
    const filtered = await run(`const box = one("input[type=search]"); box.value = "target 49 fine"; box.dispatchEvent(new Event("input")); await frame(); return all(".rows li").length`);
    assert.ok(filtered > 0 && filtered < 25, `${filtered} rows`);
    await run(`const box = one("input[type=search]"); box.value = "no such thing"; box.dispatchEvent(new Event("input")); await frame();
      if (!one(".none").textContent.includes("No target matches")) throw new Error("no words");`);
    await run(`const box = one("input[type=search]"); box.value = "192.0.2.249"; box.dispatchEvent(new Event("input")); await frame(); all(".tools button").find((b) => !b.hidden).click();
      await until("several", () => all(".plot").length === 2); await quiet();`);
    const same = await run(`await frame(); const lefts = new Set(all(".plot-stage").map((e) => e.getBoundingClientRect().left)); return lefts.size`);
    assert.equal(same, 1, "all plots on one axis");
    await run(`scrollTo(0, 0)`);
    const box = await run(`const { left, top, width } = stage().getBoundingClientRect(); return { left, top, width }`);
    await browser.hover(box.left + box.width / 2, box.top + 120);
    const told = await run(`await frame(); return all(".plot .told").map((e) => e.textContent)`);
    assert.ok(told.length === 2 && told.every((text) => text !== ""), `one cursor for all: ${told}`);
    await picture("several");
    await open("", { dark: true });
    await run(`await until("a small picture", () => ink(".row canvas") > 0.01)`);
    await picture("dark");
    await open("", { width: 390, height: 844, scale: 2, mobile: true });
    await run(`await until("a small picture", () => ink(".row canvas") > 0.01)`);
    await isUsable("overview on a phone");
    await picture("phone");
  },

  async detail() {
    await open("#/targets/0?span=86400");
    await run(`await until("drawn", () => ink(".plot-stage canvas") > 0.05); await quiet()`);
    await isUsable("detail");
    await picture("light");
    // The wheel zooms around the pointer, dragging moves, and nothing waits for the server.
    const zoomed = await run(`const { left, top, width } = stage().getBoundingClientRect(); const before = view(); const ms = [];
      for (let n = 0; n < 12; n++) { stage().dispatchEvent(new WheelEvent("wheel", { clientX: left + width / 2, clientY: top + 150, deltaY: -120, bubbles: true, cancelable: true })); await frame(); ms.push(+stage().dataset.ms);
        if (ink(".plot-stage canvas") < 0.02) throw new Error("an empty plot while zooming"); }
      await quiet(); return { before, after: view(), ms };`);
    assert.ok(zoomed.after[1] - zoomed.after[0] < (zoomed.before[1] - zoomed.before[0]) / 8);
    console.log(`zoom: ${Math.max(...zoomed.ms).toFixed(1)} ms max`);
    const box = await run(`const { left, top, width, height } = one(".plot-stage").getBoundingClientRect(); return { left, top, width, height }`);
    const at = (x) => [box.left + x * box.width, box.top + box.height / 2];
    const start = await run(`return view()`);
    await browser.drag([at(0.4), at(0.5), at(0.7)]);
    const moved = await run(`await frame(); return view()`);
    assert.ok(moved[0] < start[0] && Math.abs(moved[1] - moved[0] - (start[1] - start[0])) < 1e-3, "dragged to the past");
    await browser.drag([at(0.4), at(0.5), at(0.6)], 8);
    const selected = await run(`await frame(); return view()`);
    assert.ok(selected[1] - selected[0] < 0.3 * (moved[1] - moved[0]), "a part selected with Shift");
    // Keyboard: the cursor announces each column to screen readers.
    const said = await run(`await quiet(); await press("Escape"); await press("ArrowRight", true); await press("ArrowRight", true); return one(".unseen[aria-live]").textContent`);
    assert.match(said, /\d{4}, \d\d:\d\d.*(ms|lost)/);
    await run(`await press("n"); if (!one("button[aria-pressed=true]")) throw new Error("not live"); for (const key of ["+", "-", "ArrowLeft", "ArrowUp", "PageUp"]) await press(key);`);
    // From a minute to years.
    for (const span of [60, 600, 3600, 604800, 31557600, 315576000]) {
      await open(`#/targets/0?span=${span}`);
      await run(`await until("drawn", () => ink(".plot-stage canvas") > 0.01 && stage().dataset.loading === "false")`);
      const [from, to] = await run(`return view()`);
      assert.ok(Math.abs(to - from - span) < span * 1e-3, `${span} s shown as ${to - from}`);
      await picture(`${span}s`);
    }
    await open("#/targets/0?span=1209600");
    await run(`await quiet(); all("summary").forEach((e) => (e.parentElement.open = true)); await until("heat", () => ink(".heat canvas") > 0.3); await until("compared", () => ink(".compare canvas") > 0.005); await frame(); await until("a table", () => all(".table tbody tr").length > 50)`);
    const compared = await run(`return one(".compare .told").textContent`);
    assert.match(compared, /^95 % of the replies took at most/);
    const told = await run(`const canvas = one(".heat canvas"); canvas.focus(); canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true })); await frame(); return one(".heat .told").textContent`);
    assert.match(told, /median .* p95 .* lost/);
    const hop = await run(`await until("a path", () => ink(".path canvas") > 0.3); const canvas = one(".path canvas"); canvas.focus();
      const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
      key("ArrowDown"); for (let n = 0; n < 150; n++) key("ArrowRight"); await frame(); return one(".path .told").textContent`);
    assert.match(hop, /, hop 2: median [\d.]+ ms, queueing delay [\d.]+ (ms|µs)$/);
    await browser.send("Emulation.setDeviceMetricsOverride", { width: 1200, height: 2600, deviceScaleFactor: 1, mobile: false });
    await run(`await frame()`);
    await picture("whole");
    // Names of targets and events are text, never markup.
    await open("#/targets/0?span=10800");
    const event = await run(`await until("events", () => all(".events li").length === 2); const rows = all(".events li"); const alert = rows.find((row) => row.querySelector("b").textContent === "alert"); return { text: alert.textContent, bold: alert.querySelectorAll("b").length, report: one(".events a").getAttribute("href"), links: all(".links a").map((a) => a.getAttribute("href")) }`);
    assert.ok(event.text.includes("loss <b>above</b> 5 %") && event.bold === 1, event.text);
    for (const link of event.links) assert.equal((await fetch(address + link)).status, 200, link);
    const report = await fetch(address + event.report);
    assert.ok(report.status === 200 && report.headers.get("content-security-policy").startsWith("sandbox"), event.report);
    await run(`one(".events button").click(); await frame(); await quiet()`);
    await picture("event");
    await open("#/targets/0?span=86400", { dark: true });
    await run(`await quiet(); await until("drawn", () => ink(".plot-stage canvas") > 0.05)`);
    await picture("dark");
    await open("#/targets/0?span=86400", { width: 390, height: 844, scale: 2, mobile: true });
    await run(`await quiet(); await until("drawn", () => ink(".plot-stage canvas") > 0.05)`);
    await isUsable("detail on a phone");
    const wide = await run(`return view()`);
    await browser.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
    const y = await run(`return one(".plot-stage").getBoundingClientRect().top + 100`);
    await browser.pinch(y, [180, 220], [90, 320]);
    const pinched = await run(`await frame(); return view()`);
    assert.ok(pinched[1] - pinched[0] < 0.6 * (wide[1] - wide[0]), "two fingers zoom");
    await picture("phone");
  },

  async down() {
    await open("#/targets/3?span=10800");
    await run(`await quiet(); await until("drawn", () => ink(".plot-stage canvas") > 0.05);
      await until("told", () => /probes, [1-9]\\d+ lost/.test(one(".plot-stage canvas").getAttribute("aria-label")))`);
    await picture("light");
    await open("#/targets/3?span=10800", { dark: true });
    await run(`await quiet()`);
    await picture("dark");
    await open("");
    await run(`await until("rows", () => all(".rows li").length === 5); await until("a small picture", () => ink(".row canvas") > 0.01)`);
    await picture("overview");
  },
};

if (!works[work]) throw new Error(`what is ${work}?`);
await browser.send("Network.enable");
await works[work]();
assert.deepEqual(browser.errors(), []);
const asked = browser.asked().filter((url) => !url.startsWith(address) && /^(https?|wss?):/.test(url));
assert.deepEqual(asked, [], "another host was contacted");
await browser.close();
