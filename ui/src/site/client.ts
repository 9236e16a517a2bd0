// The page's side of the worker. The engine is a script with base64 in it, because a page that was
// opened from a disk may load scripts, but no other files.
import type { Output } from "./engine.ts";
import type { Reply, Request } from "./requests.ts";
import EngineWorker from "./worker.ts?worker&inline";

declare global {
  // The module shell/wasm, and a capture to try; both compressed with gzip, in base64.
  var fathomEngine: { module: string; example: string } | undefined;
}

const ENGINE = "engine.js";

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/** Loads the script once. */
const load = async (): Promise<{ module: string; example: string }> => {
  if (!globalThis.fathomEngine) {
    await new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = ENGINE;
      script.onload = done;
      script.onerror = () => failed(new Error(`${ENGINE} could not be loaded: try to reload this page`));
      document.head.append(script);
    });
  }
  if (!globalThis.fathomEngine) throw new Error(`${ENGINE} is damaged: try to reload this page`);
  return globalThis.fathomEngine;
};

/** A capture to try. */
export const example = async (): Promise<File> => new File([bytesOf((await load()).example)], "example.pcap.gz");

interface Waiting {
  done(output: Output): void;
  failed(error: Error): void;
  progress(share: number): void;
}

export class Client {
  private worker: Promise<Worker> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private count = 0;

  sim(scenario: string, seed: number): Promise<Output> {
    return this.ask((id) => ({ kind: "sim", id, scenario, seed }), () => {});
  }

  trace(file: File, progress: (share: number) => void): Promise<Output> {
    return this.ask((id) => ({ kind: "trace", id, file, name: file.name }), progress);
  }

  /** Ends what the worker does. */
  stop(): void {
    // If it could not be started, the first request has failed.
    this.worker?.then((worker) => worker.terminate()).catch(() => {});
    this.worker = undefined;
    for (const { failed } of this.waiting.values()) failed(new Error("stopped"));
    this.waiting.clear();
  }

  private async start(): Promise<Worker> {
    const { module } = await load();
    const worker = new EngineWorker();
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.take(data);
    worker.onerror = ({ message }) => {
      for (const { failed } of this.waiting.values()) failed(new Error(message || "the worker could not be started"));
      this.waiting.clear();
    };
    const request: Request = { kind: "start", gzipped: bytesOf(module) };
    worker.postMessage(request, [request.gzipped.buffer]);
    return worker;
  }

  private async ask(request: (id: number) => Request, progress: (share: number) => void): Promise<Output> {
    this.worker ??= this.start();
    const starting = this.worker;
    const worker = await starting.catch((error: unknown) => {
      if (this.worker === starting) this.worker = undefined;
      throw error;
    });
    const id = ++this.count;
    return new Promise((done, failed) => {
      this.waiting.set(id, { done, failed, progress });
      worker.postMessage(request(id));
    });
  }

  private take(reply: Reply): void {
    const waiting = this.waiting.get(reply.id);
    if (!waiting) return;
    if (reply.kind === "progress") return waiting.progress(reply.share);
    this.waiting.delete(reply.id);
    if (reply.kind === "done") waiting.done(reply.output);
    else waiting.failed(new Error(reply.message));
  }
}
