// Drives a headless Chromium over its debugging pipe, without any package.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--hide-scrollbars",
  "--remote-debugging-pipe",
];

export class Browser {
  #answers = new Map();
  #events = [];
  #id = 0;

  /** Starts it with these flags in addition. */
  static async open(...flags) {
    const browser = new Browser();
    await browser.#start(flags);
    return browser;
  }

  async #start(more) {
    this.folder = mkdtempSync(join(tmpdir(), "fathom-page-"));
    const flags = [...FLAGS, ...more, `--user-data-dir=${this.folder}`, "about:blank"];
    const name = process.env.CHROMIUM ?? "chromium";
    this.process = spawn(name, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.process.on("error", (error) => {
      console.error(`page: cannot start ${name}: ${error.message}; try: apt-get install chromium, or CHROMIUM=...`);
      process.exit(3);
    });
    let rest = "";
    this.process.stdio[4].on("data", (bytes) => {
      const messages = (rest + bytes).split("\0");
      rest = messages.pop();
      messages.map((text) => JSON.parse(text)).forEach((message) => this.#hear(message));
    });
    const { targetInfos } = await this.send("Target.getTargets");
    const { targetId } = targetInfos.find((info) => info.type === "page");
    this.session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await this.send("Page.enable");
    await this.send("Runtime.enable");
    await this.send("Network.enable");
  }

  /** Runs before the scripts of each page. */
  async before(source) {
    await this.send("Page.addScriptToEvaluateOnNewDocument", { source });
  }

  #hear(message) {
    if (message.id) {
      const { resolve, reject } = this.#answers.get(message.id);
      this.#answers.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    } else this.#events.push(message);
  }

  send(method, params = {}) {
    const id = ++this.#id;
    const message = { id, method, params, ...(this.session ? { sessionId: this.session } : {}) };
    this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  /** Uncaught script errors of the page so far. */
  errors() {
    const thrown = this.#events.filter((event) => event.method === "Runtime.exceptionThrown");
    return thrown.map((event) => event.params.exceptionDetails.exception?.description ?? event.params.exceptionDetails.text);
  }

  /** Requests since network events were enabled. */
  asked() {
    return this.#events.filter((event) => event.method === "Network.requestWillBeSent").map((event) => event.params.request.url);
  }

  /** Navigates to a local file or a URL. */
  async goto(place, { width = 1200, height = 1400, scale = 1, dark = false, mobile = false } = {}) {
    await this.size({ width, height, scale, mobile });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
    await this.send("Emulation.setEmulatedMedia", { features });
    await this.send("Page.navigate", { url: /^[a-z]+:/.test(place) ? place : `file://${place}` });
    await this.evaluate("new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))");
    await this.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  async size({ width, height, scale = 1, mobile = false }) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile });
  }

  /** Shows another tab in front of the page. */
  async hide() {
    this.front = (await this.send("Target.createTarget", { url: "about:blank" })).targetId;
  }

  /** Closes that tab. */
  async unhide() {
    await this.send("Target.closeTarget", { targetId: this.front });
    await this.send("Page.bringToFront");
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /**
   * Presses the mouse at the first position, moves it over the others and releases it; `modifiers`
   * 8 is Shift.
   */
  async drag(places, modifiers = 0) {
    const send = (type, [x, y], buttons) =>
      this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons, clickCount: 1, modifiers });
    await send("mousePressed", places[0], 1);
    for (const place of places.slice(1)) await send("mouseMoved", place, 1);
    await send("mouseReleased", places.at(-1), 0);
  }

  async hover(x, y) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  /** Two fingers at the same height, moved from two positions to two others. */
  async pinch(y, from, to) {
    const touch = (type, xs) =>
      this.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x, y, id })) });
    await touch("touchStart", [from[0]]);
    await touch("touchStart", from);
    for (const share of [0.25, 0.5, 0.75, 1]) {
      await touch("touchMove", from.map((x, n) => x + share * (to[n] - x)));
    }
    await touch("touchEnd", []);
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise((done) => this.process.on("exit", done));
    await this.send("Browser.close", {}).catch(() => undefined);
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
