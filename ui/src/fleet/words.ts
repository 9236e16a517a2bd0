import { quantity, thousands } from "../format.ts";
import type { Site, Values } from "./api.ts";

/** A lag; a dash without one. */
export function lag(seconds: number | null): string {
  return seconds === null ? "–" : quantity(seconds, "seconds");
}

export function speed(bits: number | null): string {
  return bits === null ? "–" : quantity(bits, "rate");
}

export function size(bytes: number | null): string {
  return bytes === null ? "–" : quantity(bytes, "bytes");
}

export function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)} %`;
}

export function counted(count: number, one: string, several: string): string {
  return `${thousands(count)} ${count === 1 ? one : several}`;
}

/** The larger lag of both directions. */
export function worst(values: Values): number | null {
  const known = [values.lag_up_s, values.lag_down_s].filter((lag) => lag !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

/** Lag from which a line is bloated, in seconds: as of `fathom test`. */
export const BLOATED_S = 0.2;

export function state(seconds: number | null): "good" | "fair" | "bad" {
  if (seconds === null || seconds < BLOATED_S / 2) return "good";
  return seconds < BLOATED_S ? "fair" : "bad";
}

export function labelsOf(site: Site): string {
  return Object.values(site.labels).join(", ");
}
