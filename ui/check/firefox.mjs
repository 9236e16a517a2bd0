// Drives a headless Firefox by WebDriver BiDi, without any package: as Browser of browser.mjs, as
// far as check/speed.mjs uses it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const READY = /WebDriver BiDi listening on (ws:\S+)/;

export class Firefox {
  #answers = new Map();
  #id = 0;

  static async open() {
    const firefox = new Firefox();
    await firefox.#start();
    return firefox;
  }

  async #start() {
    this.folder = mkdtempSync(join(tmpdir(), "fathom-firefox-"));
    // A temporary profile accepts a self-signed certificate by capability, and asks for no proxy.
    const flags = ["--headless", "--no-remote", "--profile", this.folder, "--remote-debugging-port", "0", "about:blank"];
    const name = process.env.FIREFOX ?? "firefox-esr";
    this.process = spawn(name, flags, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: this.folder } });
    this.process.on("error", (error) => {
      console.error(`page: cannot start ${name}: ${error.message}; try: apt-get install firefox-esr, or FIREFOX=...`);
      process.exit(3);
    });
    const address = await new Promise((done) => {
      let text = "";
      this.process.stderr.on("data", (bytes) => {
        text += bytes;
        const found = READY.exec(text);
        if (found) done(found[1]);
      });
    });
    this.socket = new WebSocket(`${address}/session`);
    await new Promise((done) => (this.socket.onopen = done));
    this.socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      const answer = this.#answers.get(message.id);
      this.#answers.delete(message.id);
      if (message.type === "error") answer?.reject(new Error(`${message.error}: ${message.message}`));
      else answer?.resolve(message.result);
    };
    await this.send("session.new", { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
    const { contexts } = await this.send("browsingContext.getTree");
    this.context = contexts[0].context;
  }

  send(method, params = {}) {
    const id = ++this.#id;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  /** Runs before the scripts of each page. */
  async before(source) {
    await this.send("script.addPreloadScript", { functionDeclaration: `() => { ${source} }` });
  }

  async goto(url, { width = 1200, height = 1400 } = {}) {
    await this.size({ width, height });
    await this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  async size({ width, height }) {
    await this.send("browsingContext.setViewport", { context: this.context, viewport: { width, height } });
  }

  /** Shows another tab in front of the page. */
  async hide() {
    this.front = (await this.send("browsingContext.create", { type: "tab", background: false })).context;
  }

  /** Closes that tab. */
  async unhide() {
    await this.send("browsingContext.close", { context: this.front });
    await this.send("browsingContext.activate", { context: this.context });
  }

  /** The value as JSON has it. */
  async evaluate(expression) {
    const { type, result, exceptionDetails } = await this.send("script.evaluate", {
      expression: `(async () => JSON.stringify(await (${expression})) ?? "null")()`,
      target: { context: this.context },
      awaitPromise: true,
    });
    if (type === "exception") throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  errors() {
    return [];
  }

  asked() {
    return [];
  }

  async screenshot(file) {
    const { data } = await this.send("browsingContext.captureScreenshot", { context: this.context });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise((done) => this.process.on("exit", done));
    await this.send("browser.close").catch(() => undefined);
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
