/** Formats numbers as in Fathom's other reports; captures also show microseconds. */
export type Unit = "seconds" | "bytes" | "rate" | "plain";

const RATES: [number, string][] = [
  [1e9, "Gbit/s"],
  [1e6, "Mbit/s"],
  [1e3, "kbit/s"],
  [1, "bit/s"],
];
const BYTES: [number, string][] = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
];
const SECONDS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];
const PLAIN: [number, string][] = [[1, ""]];

/** A multiple of a unit. */
export interface Scale {
  factor: number;
  name: string;
}

/** The multiple that suits the largest value. */
export function scaleFor(unit: Unit, largest: number): Scale {
  const scales = { seconds: SECONDS, bytes: BYTES, rate: RATES, plain: PLAIN }[unit];
  const found = scales.find(([factor]) => Math.abs(largest) >= factor * 0.9995) ?? scales[scales.length - 1];
  return { factor: found[0], name: found[1] };
}

/** Groups digits by three. */
export function thousands(value: number): string {
  const digits = Math.abs(value).toFixed(0);
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, ",");
  return value < 0 && digits !== "0" ? `-${grouped}` : grouped;
}

/** Formats with three digits and the unit: `0.42 ms`, `868 ms`, `1.25 MB`. */
export function quantity(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return "–";
  // Seconds are used from 10 s on; shorter delays are in milliseconds.
  const largest = unit === "seconds" && Math.abs(value) < 9.995 && Math.abs(value) >= 0.000_999_5 ? 1e-3 : value;
  const { factor, name } = value === 0 ? scaleFor(unit, unit === "seconds" ? 1e-3 : 1) : scaleFor(unit, largest);
  const scaled = value / factor;
  const size = Math.abs(scaled);
  const whole = size >= 99.95 || scaled === 0 || (factor === 1 && unit !== "seconds" && Number.isInteger(scaled));
  const text = whole ? thousands(scaled) : size >= 9.995 ? scaled.toFixed(1) : scaled.toFixed(2);
  return name === "" ? text : `${text} ${name}`;
}

/** Formats a time in seconds, with enough decimals to distinguish adjacent pixels. */
export function moment(ns: number, nsPerPixel: number): string {
  const decimals = Math.min(Math.max(Math.ceil(9 - Math.log10(Math.max(nsPerPixel, 1))), 0), 9);
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

/** Round values between two, at most `most` of them. */
export function ticks(from: number, to: number, most: number): number[] {
  const rough = (to - from) / Math.max(most, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough * 0.999_999) ?? 10 * power;
  const values: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++) values.push(n * step);
  return values;
}

/** Labels of ticks, all with the number of decimals that their step needs. */
export function labels(values: number[], factor: number): string[] {
  const step = values.length > 1 ? (values[1] - values[0]) / factor : (values[0] ?? 1) / factor;
  const decimals = Math.min(Math.max(Math.ceil(-Math.log10(Math.abs(step) || 1) - 1e-9), 0), 9);
  return values.map((value) => {
    const scaled = value / factor;
    return decimals === 0 ? thousands(scaled) : scaled.toFixed(decimals);
  });
}
