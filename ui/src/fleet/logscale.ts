/** A logarithmic axis from one value to another. */
export interface LogScale {
  low: number;
  high: number;
}

/** Whole parts of decades that hold all values; undefined without any. */
export function logScale(values: Iterable<number>): LogScale | undefined {
  let [least, most] = [Infinity, 0];
  for (const value of values) {
    if (!(value > 0) || !Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (most === 0) return undefined;
  const below = (value: number): number => 10 ** Math.floor(Math.log10(value * 1.000_001));
  const low = below(least / 1.2);
  const high = 10 ** Math.ceil(Math.log10(most * 1.2) - 1e-9);
  return { low, high: high > low ? high : low * 10 };
}

/** The place of a value, from 0 to 1. */
export function share({ low, high }: LogScale, value: number): number {
  return Math.log(value / low) / Math.log(high / low);
}

/** The value at a place from 0 to 1. */
export function valueAt({ low, high }: LogScale, place: number): number {
  return low * (high / low) ** place;
}

/** Each power of ten, in order. */
export function decades({ low, high }: LogScale): number[] {
  const count = Math.round(Math.log10(high / low));
  return Array.from({ length: count + 1 }, (_, number) => low * 10 ** number);
}
