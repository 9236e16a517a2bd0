import { Extremes, lowerBound } from "./extremes.ts";
import type { View } from "./view.ts";
import { KIND_MASK } from "./kind.ts";
import type { Segments } from "./data.ts";

/** Segments to draw: at a time, from a byte to a byte. */
export interface Bars {
  at: ArrayLike<number>;
  start: ArrayLike<number>;
  stop: ArrayLike<number>;
  kind: ArrayLike<number>;
  from: number;
  to: number;
}

/** Up to so many ordinary segments a pixel column are drawn one by one; more are drawn as what they cover in each column. */
const PLENTY = 4;

/** The segments of a track as bars: the ordinary ones, of which a column of pixels needs but one, and the rare ones, each of them. */
export class SegmentBars {
  readonly ordinary: Bars;
  readonly rare: Bars;
  private readonly tree: Extremes;

  constructor(segments: Segments) {
    const { kind } = segments;
    const places: { ordinary: number[]; rare: number[] } = { ordinary: [], rare: [] };
    for (let i = 0; i < kind.length; i++) places[kind[i] === 0 ? "ordinary" : "rare"].push(i);
    this.ordinary = pick(segments, places.ordinary);
    this.rare = pick(segments, places.rare);
    this.tree = new Extremes(this.ordinary.start, this.ordinary.stop);
  }

  /** The ordinary ones in view, or what they cover: at most one bar a column then. */
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

  /** The rare ones in view, each of them. */
  rareInView(view: View): Bars {
    const { rare } = this;
    return { ...rare, from: lowerBound(rare.at, view.start), to: lowerBound(rare.at, view.end) };
  }

  /** Lowest and highest byte of all in view. */
  extent(view: View): { low: number; high: number } {
    const box = { low: 0, high: 0 };
    const { ordinary } = this;
    this.tree.query(lowerBound(ordinary.at, view.start), lowerBound(ordinary.at, view.end), box);
    const rare = this.rareInView(view);
    for (let i = rare.from; i < rare.to; i++) {
      box.low = Math.min(box.low, rare.start[i]);
      box.high = Math.max(box.high, rare.stop[i]);
    }
    return box;
  }
}

function pick(segments: Segments, places: number[]): Bars {
  const column = (values: Float64Array): Float64Array => Float64Array.from(places, (place) => values[place]);
  const kind = Uint8Array.from(places, (place) => segments.kind[place] & KIND_MASK);
  return {
    at: column(segments.at),
    start: column(segments.start),
    stop: column(segments.stop),
    kind,
    from: 0,
    to: places.length,
  };
}
