import { Extremes, lowerBound } from "./extremes.ts";
import type { View } from "./view.ts";

/** Points as x, y, x, y; x in nanoseconds. A NaN breaks the line. */
export type Points = number[];

/** A curve in a panel. */
export interface Drawn {
  /** The points to draw, at most four in each of `columns` columns. */
  points(view: View, columns: number): Points;
  /** The value at a time: the last one before it; NaN if there is none. */
  valueAt(ns: number, view: View): number;
  /** Smallest and largest visible value; `low > high` if there is none. */
  extent(view: View): { low: number; high: number };
  /** Text that depends on the view, for the legend. */
  detail?(view: View): string;
}

/** If fewer rows per column than this are visible, all are drawn. */
const PLENTY = 3;

/**
 * A line through samples. Where a pixel column has many, only the first, the smallest, the largest
 * and the last of them are drawn (M4, Jugel et al. 2014), which colors the same pixels.
 */
export class Line implements Drawn {
  private readonly tree: Extremes;

  /** Each row is a range from low to high, which are usually equal. */
  constructor(
    readonly at: Float64Array,
    readonly low: Float64Array,
    readonly high: Float64Array = low,
  ) {
    this.tree = new Extremes(low, high);
  }

  points(view: View, columns: number): Points {
    const { at, low, high } = this;
    // One more row on each side, so that the line continues to the edges.
    const from = Math.max(lowerBound(at, view.start) - 1, 0);
    const to = Math.min(lowerBound(at, view.end) + 1, at.length);
    const points: Points = [];
    if (to - from <= columns * PLENTY) {
      for (let i = from; i < to; i++) {
        points.push(at[i], low[i]);
        if (high[i] !== low[i]) points.push(at[i], high[i]);
      }
      return points;
    }
    // Columns are aligned to multiples of their width, so that nothing flickers while the view
    // moves.
    const width = (view.end - view.start) / columns;
    const box = { low: 0, high: 0 };
    for (let i = from, column = Math.floor(at[from] / width); i < to; ) {
      const next = lowerBound(at, (column + 1) * width, i, to);
      if (next > i) {
        const x = (column + 0.5) * width;
        this.tree.query(i, next, box);
        let before = NaN;
        for (const value of [low[i], box.low, box.high, low[next - 1]]) {
          if (value !== before) points.push(x, value);
          before = value;
        }
        i = next;
      }
      column = i < to ? Math.max(column + 1, Math.floor(at[i] / width)) : column;
    }
    return points;
  }

  valueAt(ns: number): number {
    const i = lowerBound(this.at, ns + 0.5) - 1;
    return i < 0 ? NaN : this.high[i];
  }

  extent(view: View): { low: number; high: number } {
    const box = { low: 0, high: 0 };
    // Includes the rows next to the view, so that the line continues to the edges.
    const from = Math.max(lowerBound(this.at, view.start) - 1, 0);
    this.tree.query(from, Math.min(lowerBound(this.at, view.end) + 1, this.at.length), box);
    return box;
  }
}

/** A line between distant points: values in between are interpolated. */
export class Curve extends Line {
  override valueAt(ns: number): number {
    const { at, high } = this;
    const next = lowerBound(at, ns);
    if (next === 0 || next === at.length || at[next] === ns) return super.valueAt(ns);
    const share = (ns - at[next - 1]) / (at[next] - at[next - 1]);
    return high[next - 1] + share * (high[next] - high[next - 1]);
  }
}

/**
 * Minimum pixel columns, and minimum ACKs, per mean of a rate: fewer would show the spacing of
 * single ACKs.
 */
const COLUMNS_A_MEAN = 5;
const ACKS_A_MEAN = 10;

/** The growth rate of a byte count, as means over periods that suit the view. */
export class RateOf implements Drawn {
  /** The period used in the last drawing, for the legend. */
  private columns = 1000;

  /** `count` must never decrease. */
  constructor(
    private readonly at: Float64Array,
    private readonly count: Float64Array,
  ) {}

  /** Nanoseconds per mean: 1, 2 or 5 times a power of ten. */
  private step(view: View): number {
    const { at } = this;
    const length = view.end - view.start;
    const rows = Math.max(lowerBound(at, view.end) - lowerBound(at, view.start), 1);
    const rough = Math.max((length / this.columns) * COLUMNS_A_MEAN, (length / rows) * ACKS_A_MEAN);
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * (rough <= power * 2 ? 2 : rough <= power * 5 ? 5 : 10);
  }

  points(view: View, columns: number): Points {
    const points: Points = [];
    const { at } = this;
    this.columns = columns;
    if (at.length === 0) return points;
    const step = this.step(view);
    const last = at[at.length - 1];
    const end = Math.min(view.end, last);
    for (let n = Math.floor(Math.max(view.start, at[0]) / step); n * step < end; n++) {
      // The first and last mean cover only the available part of their period.
      const [from, to] = [Math.max(n * step, at[0]), Math.min((n + 1) * step, last)];
      const value = this.mean(from, to);
      points.push(from, value, to, value);
    }
    return points;
  }

  valueAt(ns: number, view: View): number {
    const { at } = this;
    if (at.length === 0 || ns < at[0] || ns > at[at.length - 1]) return NaN;
    const step = this.step(view);
    const from = Math.floor(ns / step) * step;
    return this.mean(Math.max(from, at[0]), Math.min(from + step, at[at.length - 1]));
  }

  extent(view: View): { low: number; high: number } {
    const box = { low: 0, high: -Infinity };
    const points = this.points(view, this.columns);
    for (let i = 1; i < points.length; i += 2) box.high = Math.max(box.high, points[i]);
    return box;
  }

  detail(view: View): string {
    const ms = this.step(view) / 1e6;
    return `, mean of ${ms >= 1000 ? `${ms / 1000} s` : ms >= 1 ? `${ms} ms` : `${ms * 1000} µs`}`;
  }

  private mean(from: number, to: number): number {
    const { at, count } = this;
    const valueAt = (ns: number): number => count[Math.max(lowerBound(at, ns + 0.5) - 1, 0)];
    return ((valueAt(to) - valueAt(from)) * 8e9) / (to - from);
  }
}
