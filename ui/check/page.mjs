// Opens a page in a headless Chromium, operates it like a person, and prints the cost:
//     node check/page.mjs PAGE.html [DIRECTORY for screenshots]
// Fails if the page throws, draws too much, or omits a rare event. Times are printed, not judged:
// this machine may be busy, and rendering is in software.
import { strict as assert } from "node:assert";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Browser } from "./browser.mjs";

const [page, folder = ""] = process.argv.slice(2);
if (!page) {
  console.error("usage: node check/page.mjs PAGE.html [DIRECTORY for screenshots]");
  process.exit(2);
}
const file = resolve(page);
if (folder) mkdirSync(folder, { recursive: true });
const browser = await Browser.open();
const picture = async (name) => folder && browser.screenshot(join(folder, `${name}.png`));

/** Runs in the page: `stage`, `frame()`, and `work()` of the last drawing. */
const TOOLS = `
  const stage = document.querySelector(".stage");
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const work = () => ({ ms: +stage.dataset.ms, calls: +stage.dataset.calls, points: +stage.dataset.points, bars: +stage.dataset.bars });
  const press = async (key) => { stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })); await frame(); };
  const column = document.querySelector(".plot").getBoundingClientRect();
  const wheel = async (delta, x) => {
    const at = { clientX: column.left + x * column.width, clientY: column.top + 50 };
    stage.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: delta, bubbles: true, cancelable: true }));
    const began = performance.now();
    await frame();
    return { ...work(), whole: performance.now() - began };
  };`;
const inPage = (body) => browser.evaluate(`(async () => { ${TOOLS} ${body} })()`);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const tell = (name, steps) => {
  const [ms, whole] = [steps.map((s) => s.ms), steps.map((s) => s.whole)];
  const most = (key) => Math.max(...steps.map((s) => s[key]));
  console.log(
    `${name}: ${steps.length} frames; script ${median(ms).toFixed(1)} ms median, ${Math.max(...ms).toFixed(1)} max; until shown ` +
      `${median(whole).toFixed(0)} ms median; at most ${most("calls")} calls, ${most("bars")} bars, ${most("points")} points`,
  );
};

const began = performance.now();
await browser.goto(file, { width: 1200, height: 1500 });
console.log(`open: ${((performance.now() - began) / 1e3).toFixed(1)} s`);
await picture("light");

// Zooms from the whole to a few microseconds, at a tenth, in the middle and near the end; and back.
const counts = await inPage(`return {
  layers: document.querySelectorAll(".keys button").length,
  columns: Math.round(column.width * Math.min(devicePixelRatio, 2)),
  badges: document.querySelector("details summary").textContent,
  lost: document.querySelector("canvas[role=img]").getAttribute("aria-label"),
};`);
console.log(`${counts.lost} ${counts.badges}.`);
const rare = Number(/of ([\d,]+)/.exec(counts.badges)[1].replaceAll(",", ""));
for (const place of [0.1, 0.5, 0.97]) {
  const zoomed = await inPage(`const steps = []; await press("0");
    for (let n = 0; n < 60; n++) steps.push(await wheel(-120, ${place}));
    for (let n = 0; n < 60; n++) steps.push(await wheel(120, ${place}));
    return steps;`);
  tell(`zoom at ${place}`, zoomed);
  for (const step of zoomed) {
    assert.ok(step.calls <= 4, `${step.calls} draw calls`);
    // Four ordinary segments per column, as many SACK blocks, the rare events, and their badges.
    assert.ok(step.bars <= 8 * counts.columns + 2 * rare, `${step.bars} bars`);
    assert.ok(step.points <= 4 * (counts.columns + 3) * counts.layers, `${step.points} points`);
  }
}
const panned = await inPage(`const steps = []; await press("0"); for (let n = 0; n < 12; n++) await wheel(-120, 0.5);
  for (let n = 0; n < 30; n++) { const began = performance.now(); await press(n < 15 ? "ArrowLeft" : "ArrowRight");
    steps.push({ ...work(), whole: performance.now() - began }); }
  return steps;`);
tell("move", panned);

// Mouse: shows what is under it, dragging moves, a box with Shift selects, a click pins the cursor.
const ticks = () => inPage(`await frame(); return stage.dataset.view`);
const spanOf = async () => {
  const [start, end] = (await ticks()).split(" ").map(Number);
  return { start, end, length: end - start };
};
const box = await inPage(`await press("0"); const { left, top, width, height } = column; return { left, top, width, height };`);
const at = (x, y) => [box.left + x * box.width, box.top + y * box.height];
await browser.hover(...at(0.5, 0.5));
assert.match(await inPage(`await frame(); return document.querySelector(".hit").textContent`), /frame\.number == \d+/);
// A cross among the round trips shows what it is, if the capture has probes.
const trips = await inPage(`const panel = [...document.querySelectorAll(".panel")].find((e) => e.textContent.startsWith("Round-trip"));
  const has = [...panel.querySelectorAll("button")].some((e) => /ICMP|DNS|QUIC/.test(e.textContent));
  const { left, top, width, height } = panel.querySelector(".plot").getBoundingClientRect(); return { has, left, top, width, height };`);
let mark = "";
for (let y = 1; trips.has && y < trips.height && !mark.includes("request in frame"); y += 3) {
  await browser.hover(trips.left + trips.width / 2, trips.top + y);
  mark = await inPage(`await frame(); return document.querySelector(".hit").textContent`);
}
if (trips.has) assert.match(mark, /reply after .* \(request in frame \d+\)frame\.number == \d+/);
await inPage(`for (let n = 0; n < 12; n++) await wheel(-120, 0.5);`);
const before = await spanOf();
await browser.drag([at(0.5, 0.5), at(0.45, 0.5), at(0.4, 0.5)]);
const moved = await spanOf();
assert.ok(Math.abs(moved.start - before.start - 0.1 * before.length) < 0.01 * before.length, "dragged by a tenth");
await browser.drag([at(0.25, 0.2), at(0.5, 0.5), at(0.75, 0.8)], 8);
const boxed = await spanOf();
assert.ok(Math.abs(boxed.length - moved.length / 2) < 0.02 * moved.length, "half of it selected");
await picture("box");
await inPage(`await press("0")`);

// From one rare event to the next, each exactly once.
const visited = await inPage(`await press("0"); stage.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  const said = document.querySelector("[role=status]"); const seen = []; let before = "";
  await press("Home");
  for (let n = 0; n < 20; n++) { await press("n"); if (said.textContent === before) break; before = said.textContent; seen.push(before); }
  return seen;`);
assert.equal(visited.length > 0, rare > 0);
console.log(`n: ${visited.slice(0, 3).join(" | ")}`);
await inPage(`for (let n = 0; n < 22; n++) { const seen = stage.getBoundingClientRect(); await press("+"); } await frame();`);
await picture("loss");
const filter = await inPage(`return document.querySelector(".hit code").textContent`);
if (rare > 0) assert.match(filter, /^frame\.number == \d+$/);

// The SVG button gives valid XML that draws something.
const svg = await inPage(`let text; const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { text = blob.text(); return make.call(URL, blob); };
  HTMLAnchorElement.prototype.click = () => undefined;
  await press("0"); [...document.querySelectorAll(".tools button")].find((b) => b.textContent === "SVG").click();
  text = await text; const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  return { bytes: text.length, wrong: parsed.querySelector("parsererror")?.textContent, paths: parsed.querySelectorAll("path").length, text };`);
assert.equal(svg.wrong, undefined);
assert.ok(svg.paths > 5, `${svg.paths} paths`);
console.log(`SVG: ${svg.bytes} bytes, ${svg.paths} paths`);
if (folder) (await import("node:fs")).writeFileSync(join(folder, "view.svg"), svg.text);

// All controls have names, and the table has text.
const nameless = await inPage(`return [...document.querySelectorAll("button, select, canvas:not([aria-hidden]), [tabindex]")]
  .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML)`);
assert.deepEqual(nameless, []);
const rows = await inPage(`const details = document.querySelector(".timeline details"); details.open = true; await press("0");
  await new Promise((done) => setTimeout(done, 400)); return details.querySelectorAll("tbody tr").length;`);
assert.equal(rows, Math.min(rare, 200));

await browser.goto(file, { width: 1200, height: 1500, dark: true });
await picture("dark");
const painter = await inPage(`return { width: document.documentElement.scrollWidth }`);
assert.ok(painter.width <= 1200);
await browser.goto(file, { width: 390, height: 1800, scale: 2, mobile: true });
const whole = await spanOf();
const touched = await inPage(`return { left: column.left, top: column.top, width: column.width }`);
await browser.pinch(touched.top + 60, [touched.left + 120, touched.left + 180], [touched.left + 60, touched.left + 240]);
const pinched = await spanOf();
assert.ok(Math.abs(whole.length / pinched.length - 3) < 0.4, `pinched by ${whole.length / pinched.length}`);
await inPage(`await press("0")`);
const phone = await inPage(`return document.documentElement.scrollWidth`);
assert.ok(phone <= 390, `${phone} pixels wide on a phone of 390`);
await picture("phone");

// Without WebGL 2, the 2D canvas shows the same.
await browser.send("Page.addScriptToEvaluateOnNewDocument", {
  source: `const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : get.call(this, kind, ...rest); };`,
});
await browser.goto(file, { width: 1200, height: 1500 });
const plain = await inPage(`return work()`);
assert.ok(plain.calls === 0 && plain.bars > 300, JSON.stringify(plain));
await picture("plain");

assert.deepEqual(browser.errors(), []);
await browser.close();
console.log("page: ok");
