import type { Unit } from "../format.ts";

/** Shares of the answered probes whose delay the columns tell; in step with the server. */
export const SHARES: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
export const MEDIAN = SHARES.indexOf(0.5);

/** "FSM1" and "FOV1", read as little endian. */
const SMOKE_MAGIC = 0x314d5346;
const OVERVIEW_MAGIC = 0x31564f46;
/** Magic, count, shares, unit; from, to and width held in seconds. */
const HEAD_BYTES = 40;
const UNITS: readonly Unit[] = ["seconds", "rate", "bytes"];
const NONE = -32768;
const ZERO = -32767;
/** Steps of a code in one doubling: an error of 0.14 % at most. */
const PER_OCTAVE = 256;

/** Columns of time, all as wide, of one series. What no probe answered is NaN. */
export interface Columns {
  unit: Unit;
  from: number;
  to: number;
  count: number;
  /** How wide the store's own columns are, in seconds: more than ours where only its rollups are left. */
  held: number;
  min: Float32Array;
  max: Float32Array;
  /** Those that failed are none of them. */
  sent: Uint32Array;
  answered: Uint32Array;
  late: Uint32Array;
  lost: Uint32Array;
  failed: Uint32Array;
  /** Of each share in `SHARES`. */
  quantiles: Float32Array[];
}

/** The value of a code. */
export function valueOf(code: number): number {
  if (code === NONE) return NaN;
  return code === ZERO ? 0 : 2 ** (code / PER_OCTAVE);
}

function values(buffer: ArrayBuffer, at: number, count: number): Float32Array {
  return Float32Array.from(new Int16Array(buffer, at, count), valueOf);
}

/** Reads what `/api/v1/smoke` sends. */
export function decodeColumns(buffer: ArrayBuffer): Columns {
  if (buffer.byteLength < HEAD_BYTES) throw new RangeError("the server's answer is cut short");
  const head = new DataView(buffer);
  const [magic, count, shares, unit] = [0, 4, 8, 12].map((at) => head.getUint32(at, true));
  const bytes = HEAD_BYTES + count * (20 + 2 * (shares + 2));
  if (magic !== SMOKE_MAGIC || shares !== SHARES.length || buffer.byteLength !== bytes) {
    throw new RangeError("the server is of another version than this page: load the page again");
  }
  const counts = (n: number): Uint32Array => new Uint32Array(buffer, HEAD_BYTES + 4 * n * count, count);
  const codes = (n: number): Float32Array => values(buffer, HEAD_BYTES + 20 * count + 2 * n * count, count);
  return {
    unit: UNITS[unit] ?? "plain",
    from: head.getFloat64(16, true),
    to: head.getFloat64(24, true),
    held: head.getFloat64(32, true),
    count,
    sent: counts(0),
    answered: counts(1),
    late: counts(2),
    lost: counts(3),
    failed: counts(4),
    min: codes(0),
    quantiles: SHARES.map((_, n) => codes(n + 1)),
    max: codes(SHARES.length + 1),
  };
}

/** The last hours of one series, for its row. */
export interface Spark {
  median: Float32Array;
  max: Float32Array;
  /** Share of lost probes; NaN where none were sent. */
  lost: Float32Array;
}

/** The same as `decodeOverview` reads, in base64; nothing of an empty text. */
export function decodeSparks(text: string): Map<number, Spark> {
  return text === "" ? new Map() : decodeOverview(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** Reads what `/api/v1/overview` sends: sparks by series. */
export function decodeOverview(buffer: ArrayBuffer): Map<number, Spark> {
  const head = new DataView(buffer);
  if (buffer.byteLength < 32 || head.getUint32(0, true) !== OVERVIEW_MAGIC) {
    throw new RangeError("the server is of another version than this page: load the page again");
  }
  const [rows, columns] = [head.getUint32(4, true), head.getUint32(8, true)];
  const sparks = new Map<number, Spark>();
  const ids = new Uint32Array(buffer, 32, rows);
  for (let row = 0, at = 32 + 4 * rows; row < rows; row++, at += 6 * columns) {
    const lost = Float32Array.from(new Int16Array(buffer, at + 4 * columns, columns), (n) => (n < 0 ? NaN : n / 10_000));
    sparks.set(ids[row], { median: values(buffer, at, columns), max: values(buffer, at + 2 * columns, columns), lost });
  }
  return sparks;
}
