import { Extremes, lowerBound } from "./extremes.ts";
import type { View } from "./view.ts";
import { KIND_MASK } from "./kind.ts";
import type { Segments } from "./data.ts";

/** Segments to draw: time, first byte and end. */
export interface Bars {
  at: ArrayLike<number>;
  start: ArrayLike<number>;
  stop: ArrayLike<number>;
  kind: ArrayLike<number>;
  from: number;
  to: number;
}

/**
 * Up to this many ordinary segments per pixel column are drawn individually; beyond it, the range
 * that they cover is drawn.
 */
const PLENTY = 4;

/**
 * The segments of a track as bars: ordinary ones, thinned to one per pixel column, and rare ones,
 * each drawn.
 */
export class SegmentBars {
  readonly ordinary: Bars;
  readonly rare: Bars;
  private readonly tree: Extremes;
  private readonly rareTree: Extremes;

  constructor(segments: Segments) {
    this.ordinary = pick(segments, (kind) => kind === 0);
    this.rare = pick(segments, (kind) => kind !== 0);
    this.tree = new Extremes(this.ordinary.start, this.ordinary.stop);
    this.rareTree = new Extremes(this.rare.start, this.rare.stop);
  }

  /** The visible ordinary segments, or the ranges they cover: then at most one bar per column. */
  inView(view: View, columns: number): { bars: Bars; single: boolean } {
    const { ordinary, tree } = this;
    const from = lowerBound(ordinary.at, view.start);
    const to = lowerBound(ordinary.at, view.end);
    if (to - from <= columns * PLENTY) return { bars: { ...ordinary, from, to }, single: true };
    const width = (view.end - view.start) / columns;
    const at: number[] = [];
    const start: number[] = [];
    const stop: number[] = [];
    const box = { low: 0, high: 0 };
    for (let i = from; i < to; ) {
      const column = Math.floor(ordinary.at[i] / width);
      const next = Math.max(lowerBound(ordinary.at, (column + 1) * width, i, to), i + 1);
      tree.query(i, next, box);
      at.push((column + 0.5) * width);
      start.push(box.low);
      stop.push(box.high);
      i = next;
    }
    const kind = new Uint8Array(at.length);
    return { bars: { at, start, stop, kind, from: 0, to: at.length }, single: false };
  }

  /** All visible rare segments. */
  rareInView(view: View): Bars {
    const { rare } = this;
    return { ...rare, from: lowerBound(rare.at, view.start), to: lowerBound(rare.at, view.end) };
  }

  /** Lowest and highest visible byte. */
  extent(view: View): { low: number; high: number } {
    const box = { low: 0, high: 0 };
    const { ordinary } = this;
    this.tree.query(lowerBound(ordinary.at, view.start), lowerBound(ordinary.at, view.end), box);
    const rare = this.rareInView(view);
    const other = { low: 0, high: 0 };
    this.rareTree.query(rare.from, rare.to, other);
    return { low: Math.min(box.low, other.low), high: Math.max(box.high, other.high) };
  }
}

/**
 * Selects some kinds. Uses plain loops, because it runs over a whole large file before the first
 * view.
 */
function pick(segments: Segments, wanted: (kind: number) => boolean): Bars {
  let count = 0;
  for (const kind of segments.kind) if (wanted(kind)) count++;
  const [at, start, stop] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  const kind = new Uint8Array(count);
  for (let i = 0, to = 0; i < segments.kind.length; i++) {
    if (!wanted(segments.kind[i])) continue;
    at[to] = segments.at[i];
    start[to] = segments.start[i];
    stop[to] = segments.stop[i];
    kind[to++] = segments.kind[i] & KIND_MASK;
  }
  return { at, start, stop, kind, from: 0, to: count };
}
