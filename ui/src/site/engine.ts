// The host of the WebAssembly module shell/wasm: `fathom trace` and `fathom sim`.

interface Exports {
  memory: WebAssembly.Memory;
  fathom_input(bytes: number): number;
  fathom_sim(seed: bigint): number;
  fathom_trace(seed: bigint): number;
  fathom_trace_push(): number;
  fathom_trace_rewind(): number;
  fathom_trace_finish(): number;
  fathom_output(which: number): number;
  fathom_output_bytes(which: number): number;
}

export interface Output {
  /** JSON: docs/schema/result.schema.json. */
  document: string;
  /** HTML. */
  page: string;
}

/** Outputs of the module. */
const DOCUMENT = 0;
const PAGE = 1;
const FAILURE = 2;

/** How compressed files begin that a browser cannot unpack. */
const PACKED: [name: string, begins: number[]][] = [
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58]],
  ["lz4", [0x04, 0x22, 0x4d, 0x18]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
];
const GZIP = [0x1f, 0x8b];

const starts = (bytes: Uint8Array, begins: number[]): boolean => begins.every((byte, n) => bytes[n] === byte);

/** Calls `take` with the parts of a file, unpacked, and `progress` with the share read. Returns why it could not be read to its end. */
const read = async (file: Blob, take: (part: Uint8Array) => void, progress: (share: number) => void): Promise<string> => {
  let bytes = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, to) {
      bytes += part.length;
      to.enqueue(part);
    },
  });
  const begins = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const packed = PACKED.find(([, known]) => starts(begins, known));
  if (packed) throw new Error(`it is compressed with ${packed[0]}, which a browser cannot unpack: unpack it first (gzip works)`);
  const counted = file.stream().pipeThrough(counter);
  const parts = (starts(begins, GZIP) ? counted.pipeThrough(new DecompressionStream("gzip")) : counted).getReader();
  for (;;) {
    let part: ReadableStreamReadResult<Uint8Array>;
    try {
      part = await parts.read();
    } catch (error) {
      return `read error: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (part.done) return "";
    take(part.value);
    progress(file.size > 0 ? bytes / file.size : 1);
  }
};

export class Engine {
  private wasm: Exports | undefined;

  private constructor(private readonly module: WebAssembly.Module) {}

  /** Unpacks and compiles the module. */
  static async start(gzipped: Uint8Array<ArrayBuffer>): Promise<Engine> {
    const stream = new Blob([gzipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    return new Engine(await WebAssembly.compile(bytes));
  }

  /** Simulates a scenario file. */
  async sim(scenario: string, seed: number): Promise<Output> {
    return this.guarded(async (wasm) => {
      this.write(wasm, new TextEncoder().encode(scenario));
      this.check(wasm, wasm.fathom_sim(BigInt(seed)));
      return this.output(wasm);
    });
  }

  /** Analyzes a capture. It is read twice. */
  async trace(file: Blob, name: string, progress: (share: number) => void): Promise<Output> {
    return this.guarded(async (wasm) => {
      const push = (part: Uint8Array) => {
        this.write(wasm, part);
        this.check(wasm, wasm.fathom_trace_push());
      };
      const [seed] = crypto.getRandomValues(new BigUint64Array(1));
      this.write(wasm, new TextEncoder().encode(name));
      this.check(wasm, wasm.fathom_trace(seed ?? 0n));
      const unread = await read(file, push, (share) => progress(share / 2));
      this.write(wasm, new TextEncoder().encode(unread));
      this.check(wasm, wasm.fathom_trace_rewind());
      await read(file, push, (share) => progress((1 + share) / 2));
      this.check(wasm, wasm.fathom_trace_finish());
      return this.output(wasm);
    });
  }

  /** A call, after which a module that has failed is replaced. */
  private async guarded(call: (wasm: Exports) => Promise<Output>): Promise<Output> {
    this.wasm ??= (await WebAssembly.instantiate(this.module)).exports as unknown as Exports;
    const { wasm } = this;
    try {
      return await call(wasm);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.wasm = undefined;
      const why = this.text(wasm, FAILURE) || error.message;
      throw new Error(`Fathom failed, which is a defect of Fathom: please report it. ${why}`);
    }
  }

  private write(wasm: Exports, bytes: Uint8Array): void {
    const at = wasm.fathom_input(bytes.length);
    new Uint8Array(wasm.memory.buffer).set(bytes, at);
  }

  private check(wasm: Exports, code: number): void {
    if (code !== 0) throw new Error(this.text(wasm, DOCUMENT));
  }

  private output(wasm: Exports): Output {
    return { document: this.text(wasm, DOCUMENT), page: this.text(wasm, PAGE) };
  }

  private text(wasm: Exports, which: number): string {
    const [at, bytes] = [wasm.fathom_output(which), wasm.fathom_output_bytes(which)];
    return new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at >>> 0, bytes));
  }
}
