// Messages between a page and its worker.
import type { Output } from "./engine.ts";

export type Request =
  | { kind: "start"; gzipped: Uint8Array<ArrayBuffer> }
  | { kind: "sim"; id: number; scenario: string; seed: number }
  | { kind: "trace"; id: number; file: Blob; name: string };

export type Reply =
  | { kind: "progress"; id: number; share: number }
  | { kind: "done"; id: number; output: Output }
  | { kind: "failed"; id: number; message: string };
