// A worker that carries the load: downloads and uploads, as the probes say.
import type { Stage } from "./messages.ts";
import { nowUs } from "./messages.ts";

/** A browser opens six connections to a server at once; both directions together need no more. */
const FLOWS = 4;
const FLOWS_OF_BOTH = 3;
const COUNT_EVERY_MS = 100;
/** Pause after a failure. */
const AGAIN_MS = 200;
const PART_BYTES = 1 << 20;
/** One upload: long enough that its end is rare, short enough for the memory of a phone. */
const UPLOAD_PARTS = 32;
/** Most that `getRandomValues` fills at once. */
const RANDOM_BYTES = 1 << 16;

interface Start {
  url: string;
  probes: MessagePort;
}

let url = "";
let stage: Stage = "between";
let running = new AbortController();
let downloaded = 0;

/** Bytes that no proxy can compress. */
const payload = (): Blob => {
  const part = new Uint8Array(PART_BYTES);
  for (let at = 0; at < PART_BYTES; at += RANDOM_BYTES) {
    crypto.getRandomValues(part.subarray(at, at + RANDOM_BYTES));
  }
  return new Blob(Array.from({ length: UPLOAD_PARTS }, () => part));
};
let uploads: Blob | undefined;

const download = async (signal: AbortSignal): Promise<void> => {
  const response = await fetch(url, { signal, cache: "no-store" });
  const reader = response.ok ? response.body?.getReader() : undefined;
  if (!reader) throw new Error(`status ${response.status}`);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    downloaded += value.length;
  }
};

const upload = async (signal: AbortSignal): Promise<void> => {
  uploads ??= payload();
  const response = await fetch(url, { method: "POST", body: uploads, signal, cache: "no-store" });
  if (!response.ok) throw new Error(`status ${response.status}`);
};

const keep = async (transfer: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await transfer(signal).catch(() => signal.aborted || new Promise((done) => setTimeout(done, AGAIN_MS)));
  }
};

/** What each stage transfers. */
const transfers = (next: Stage): ((signal: AbortSignal) => Promise<void>)[] => {
  if (next === "down") return Array.from({ length: FLOWS }, () => download);
  if (next === "up") return Array.from({ length: FLOWS }, () => upload);
  if (next === "both") return Array.from({ length: 2 * FLOWS_OF_BOTH }, (_, n) => (n % 2 ? upload : download));
  return [];
};

const follow = (next: Stage): void => {
  if (next === stage) return;
  stage = next;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  transfers(next).forEach((transfer) => void keep(transfer, signal));
};

onmessage = ({ data }: MessageEvent<Start>) => {
  url = data.url;
  const { probes } = data;
  probes.onmessage = (event) => follow(event.data);
  setInterval(() => probes.postMessage({ bytes: downloaded, atUs: nowUs() }), COUNT_EVERY_MS);
};
