import type { Piece } from "./tiles.ts";
import { SHARES } from "./wire.ts";

/** Mapping of delays to height. */
export type ScaleKind = "fit" | "whole" | "log";

export interface Scale {
  kind: ScaleKind;
  low: number;
  high: number;
}

/**
 * Peaks above this multiple of the typical maximum are cut off and marked, so that they do not
 * flatten the rest.
 */
const CUT_ABOVE = 3;
const NICE = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((n) => n * power >= value * 0.999_999) ?? 10) * power;
}

/** A scale for the visible columns; `least` keeps microseconds of noise from filling the plot. */
export function scaleOf(pieces: readonly Piece[], kind: ScaleKind, least: number): Scale {
  const highs: number[] = [];
  let [most, low] = [0, Infinity];
  for (const { tile, first, last } of pieces) {
    const { max, min, quantiles } = tile.columns;
    const upper = quantiles[SHARES.length - 1];
    for (const i of tile.filled) {
      if (i < first || i >= last || Number.isNaN(max[i])) continue;
      highs.push(upper[i]);
      if (max[i] > most) most = max[i];
      if (min[i] > 0 && min[i] < low) low = min[i];
    }
  }
  if (most <= 0) return { kind, low: kind === "log" ? least / 100 : 0, high: least };
  if (kind === "log") return { kind, low: 10 ** Math.floor(Math.log10(low)), high: niceAbove(Math.max(most * 1.05, low * 10)) };
  highs.sort((a, b) => a - b);
  const usual = highs[Math.floor(0.98 * (highs.length - 1))] * 1.25;
  const cut = kind === "fit" && most > CUT_ABOVE * usual;
  return { kind, low: 0, high: niceAbove(Math.max(cut ? usual : most * 1.05, least)) };
}

/** Position of a value in pixels from the top; larger values are clamped to the top. */
export function heightOf(scale: Scale, top: number, height: number): (value: number) => number {
  const place =
    scale.kind === "log"
      ? (value: number) => Math.log(Math.max(value, scale.low) / scale.low) / Math.log(scale.high / scale.low)
      : (value: number) => value / scale.high;
  return (value) => top + height * (1 - Math.min(Math.max(place(value), 0), 1));
}

/** Values with labels. */
export function valueTicks(scale: Scale, most: number): number[] {
  if (scale.kind !== "log") return [];
  const ticks: number[] = [];
  const decades = Math.log10(scale.high / scale.low);
  const parts = decades * 3 <= most ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(scale.low)); power <= Math.log10(scale.high); power++) {
    for (const part of parts) {
      const value = part * 10 ** power;
      if (value >= scale.low * 0.999 && value <= scale.high * 1.001) ticks.push(value);
    }
  }
  return ticks;
}
