import { describe, expect, it } from "vitest";
import { Extremes, lowerBound } from "../src/extremes.ts";
import { Curve, Line, RateOf } from "../src/line.ts";
import { random, times } from "./random.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe("the pyramid", () => {
  it.each(SEEDS)("finds what a look at each row finds (seed %d)", (seed) => {
    const next = random(seed);
    const size = Math.floor(next() * 5000);
    const low = Float64Array.from({ length: size }, () => (next() < 0.05 ? NaN : Math.floor(next() * 1e6)));
    const high = low.map((value) => value + Math.floor(next() * 10));
    const tree = new Extremes(low, high);
    const box = { low: 0, high: 0 };
    for (let n = 0; n < 500; n++) {
      const from = Math.floor(next() * (size + 1));
      const to = from + Math.floor(next() * (size + 1 - from));
      tree.query(from, to, box);
      const [lows, highs] = [low, high].map((c) => [...c.subarray(from, to)].filter((v) => !Number.isNaN(v)));
      expect(box).toEqual({ low: Math.min(...lows), high: Math.max(...highs) });
    }
  });

  it.each(SEEDS)("finds the first row that is not before (seed %d)", (seed) => {
    const next = random(seed);
    const at = times(next, 300);
    for (let n = 0; n < 300; n++) {
      const value = Math.floor(next() * (at[299] + 10));
      const naive = at.findIndex((t) => t >= value);
      expect(lowerBound(at, value)).toBe(naive < 0 ? 300 : naive);
    }
  });
});

describe("a line", () => {
  it.each(SEEDS)("colors in each pixel column what all its samples would (seed %d)", (seed) => {
    const next = random(seed);
    const at = times(next, 20_000);
    const values = Float64Array.from(at, () => Math.floor(next() * 1000));
    const line = new Line(at, values);
    for (let n = 0; n < 10; n++) {
      const columns = 50 + Math.floor(next() * 500);
      const length = at[at.length - 1] * (0.2 + next() * 0.8);
      const start = next() * (at[at.length - 1] - length);
      const view = { start, end: start + length };
      const points = line.points(view, columns);
      expect(points.length / 2).toBeLessThanOrEqual(4 * (columns + 2));
      const width = length / columns;
      // What is drawn in each column, compared with a scan of all samples.
      const drawn = new Map<number, [number, number]>();
      for (let i = 0; i < points.length; i += 2) {
        const column = Math.floor(points[i] / width);
        const [low, high] = drawn.get(column) ?? [Infinity, -Infinity];
        drawn.set(column, [Math.min(low, points[i + 1]), Math.max(high, points[i + 1])]);
      }
      const all = new Map<number, [number, number]>();
      at.forEach((t, i) => {
        if (t < start || t >= start + length) return;
        const column = Math.floor(t / width);
        const [low, high] = all.get(column) ?? [Infinity, -Infinity];
        all.set(column, [Math.min(low, values[i]), Math.max(high, values[i])]);
      });
      const columnsInside = [...all].filter(([c]) => c * width >= start && (c + 1) * width <= start + length);
      for (const [column, extremes] of columnsInside) expect(drawn.get(column)).toEqual(extremes);
    }
  });

  it("shows each sample where there are few", () => {
    const line = new Line(Float64Array.of(0, 10, 20, 30), Float64Array.of(1, 5, 2, 4));
    expect(line.points({ start: 5, end: 25 }, 100)).toEqual([0, 1, 10, 5, 20, 2, 30, 4]);
    expect(line.valueAt(19)).toBe(5);
    expect(line.valueAt(20)).toBe(2);
    expect(line.valueAt(-1)).toBeNaN();
  });

  it("is empty without samples", () => {
    const none = new Line(new Float64Array(), new Float64Array());
    expect(none.points({ start: 0, end: 10 }, 100)).toEqual([]);
    const { low, high } = none.extent({ start: 0, end: 10 });
    expect(low > high).toBe(true);
  });
});

it("a curve between two points has the value of the line there", () => {
  const curve = new Curve(Float64Array.of(0, 10, 20, 30), Float64Array.of(1, 5, NaN, 4));
  expect([-1, 0, 4, 10, 15, 30, 40].map((ns) => curve.valueAt(ns))).toEqual([NaN, 1, 2.6, 5, NaN, 4, 4]);
});

describe("a rate", () => {
  it("is bits over time, whatever the view", () => {
    // 1000 bytes per millisecond: 8 Mbit/s.
    const at = Float64Array.from({ length: 10_001 }, (_, i) => i * 1e6);
    const rate = new RateOf(at, at.map((ns) => ns / 1e3));
    for (const view of [{ start: 0, end: 1e10 }, { start: 1e9, end: 3e9 }, { start: 5e9, end: 5.05e9 }]) {
      const points = rate.points(view, 500);
      expect(points.length).toBeGreaterThan(0);
      for (let i = 1; i < points.length; i += 2) expect(points[i]).toBeCloseTo(8e6, -5);
      expect(rate.valueAt((view.start + view.end) / 2, view)).toBeCloseTo(8e6, -5);
    }
  });

  it("does not show the spacing of single ACKs", () => {
    const at = Float64Array.from({ length: 1000 }, (_, i) => i * 1e6);
    const rate = new RateOf(at, at.map((ns) => ns / 1e3));
    const points = rate.points({ start: 500e6, end: 510e6 }, 1000);
    for (let i = 1; i < points.length; i += 2) expect(points[i]).toBeGreaterThan(6e6);
  });
});
