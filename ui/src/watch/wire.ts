import type { Unit } from "../format.ts";

/** Quantiles of the delays in a column. Keep in sync with the server. */
export const SHARES: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
export const MEDIAN = SHARES.indexOf(0.5);

/** "FSM1" and "FOV1" in little-endian order. */
const SMOKE_MAGIC = 0x314d5346;
const OVERVIEW_MAGIC = 0x31564f46;
/** Header: magic, count, quantiles, unit; from, to and column width in seconds. */
const HEAD_BYTES = 40;
const UNITS: readonly Unit[] = ["seconds", "rate", "bytes"];
const NONE = -32768;
const ZERO = -32767;
/** Code steps per factor of two: an error of at most 0.14 %. */
const PER_OCTAVE = 256;

/** Equal columns of time of one series. Values without replies are NaN. */
export interface Columns {
  unit: Unit;
  from: number;
  to: number;
  count: number;
  /**
   * Width of the store's own columns in seconds: wider than ours where only its rollups are left.
   */
  held: number;
  min: Float32Array;
  max: Float32Array;
  /** Excludes failed probes. */
  sent: Uint32Array;
  answered: Uint32Array;
  late: Uint32Array;
  lost: Uint32Array;
  failed: Uint32Array;
  /** One array per quantile in `SHARES`. */
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

/** Decodes a response of `/api/v1/smoke`. */
export function decodeColumns(buffer: ArrayBuffer): Columns {
  if (buffer.byteLength < HEAD_BYTES) throw new RangeError("the server's response is truncated");
  const head = new DataView(buffer);
  const [magic, count, shares, unit] = [0, 4, 8, 12].map((at) => head.getUint32(at, true));
  const bytes = HEAD_BYTES + count * (20 + 2 * (shares + 2));
  if (magic !== SMOKE_MAGIC || shares !== SHARES.length || buffer.byteLength !== bytes) {
    throw new RangeError("the server has another version than this page: reload the page");
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

/** The last hours of one series, for its sparkline. */
export interface Spark {
  median: Float32Array;
  max: Float32Array;
  /** Loss ratio; NaN where nothing was sent. */
  lost: Float32Array;
}

/**
 * Decodes the base64 form of the data that `decodeOverview` reads; an empty map for an empty text.
 */
export function decodeSparks(text: string): Map<number, Spark> {
  return text === "" ? new Map() : decodeOverview(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** Decodes a response of `/api/v1/overview`: sparklines by series. */
export function decodeOverview(buffer: ArrayBuffer): Map<number, Spark> {
  const head = new DataView(buffer);
  if (buffer.byteLength < 32 || head.getUint32(0, true) !== OVERVIEW_MAGIC) {
    throw new RangeError("the server has another version than this page: reload the page");
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
