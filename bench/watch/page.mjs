// Measures the page of fathom watch in a headless Chromium with software rendering: node
// bench/watch/page.mjs URL ROUNDS. Prints JSON: time to the first view of the overview, and per
// frame of zooming and moving through a year.
import { Browser } from "../../ui/check/browser.mjs";

const [address, rounds] = [process.argv[2], Number(process.argv[3])];
const browser = await Browser.open();

/** In the page: when the rows of the overview, and then its small pictures, were on the screen. */
const FIRST = `new Promise((done) => {
  const seen = {};
  const look = () => {
    const rows = document.querySelectorAll(".rows li").length;
    if (rows > 0 && !seen.rows) seen.rows = { count: rows, ms: performance.now() };
    const canvas = document.querySelector(".row canvas");
    if (canvas?.width > 0 && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0)) seen.sparks = performance.now();
    if (seen.rows && seen.sparks) return done(seen);
    requestAnimationFrame(look);
  };
  look();
})`;

/** In the page: each step's script, and how long until its frame was shown, for a year of columns. */
const ZOOM = `(async () => {
  const stage = document.querySelector(".stage");
  const quiet = async () => { for (let n = 0; n < 1200 && !(stage.dataset.loading === "false" && Number(stage.dataset.columns) > 200); n++) await new Promise((r) => setTimeout(r, 25)); };
  await quiet();
  const { left, top, width } = stage.getBoundingClientRect();
  const steps = [];
  const step = async (act) => {
    const began = performance.now();
    act();
    await new Promise((r) => requestAnimationFrame(r));
    const channel = new MessageChannel();
    const painted = new Promise((r) => (channel.port1.onmessage = r));
    channel.port2.postMessage(0);
    await painted;
    steps.push({ whole: performance.now() - began, script: Number(stage.dataset.ms), columns: Number(stage.dataset.columns) });
  };
  const wheel = (deltaY, x) => stage.dispatchEvent(new WheelEvent("wheel", { clientX: left + x * width, clientY: top + 150, deltaY, bubbles: true, cancelable: true }));
  for (const x of [0.3, 0.7]) {
    for (let n = 0; n < 40; n++) await step(() => wheel(-120, x));
    for (let n = 0; n < 40; n++) await step(() => wheel(120, x));
  }
  for (let n = 0; n < 20; n++) await step(() => stage.dispatchEvent(new KeyboardEvent("keydown", { key: n < 10 ? "ArrowLeft" : "ArrowRight", bubbles: true })));
  const began = performance.now();
  wheel(-700, 0.4);
  await new Promise((r) => requestAnimationFrame(r));
  await quiet();
  return { steps, refined: performance.now() - began };
})()`;

/** In the page: when anything was painted. */
const PAINTED = `new Promise((done) => {
  const look = () => { const [paint] = performance.getEntriesByName("first-contentful-paint"); if (paint) done(paint.startTime); else setTimeout(look, 5); };
  look();
})`;

const [first, bare] = [[], []];
for (let n = 0; n < rounds; n++) {
  await browser.goto("about:blank", { width: 1280, height: 900 });
  await browser.send("Page.navigate", { url: `${address}/login` });
  bare.push(await browser.evaluate(PAINTED));
}
for (let n = 0; n < rounds; n++) {
  await browser.goto("about:blank", { width: 1280, height: 900 });
  // Does not wait for the load event: measures when something is visible, from the start of
  // navigation.
  await browser.send("Page.navigate", { url: `${address}/` });
  first.push(await browser.evaluate(FIRST));
}
await browser.goto("about:blank", { width: 1280, height: 900 });
await browser.goto(`${address}/#/targets/0?span=31557600`, { width: 1280, height: 900 });
const zoom = await browser.evaluate(ZOOM);
console.log(JSON.stringify({ first, bare, zoom }));
await browser.close();
