import { describe, expect, it } from "vitest";
import { clamp, pan, type View, whole, zoom } from "../src/view.ts";
import { random } from "./random.ts";

const all = whole(100e9);
const length = (view: View): number => view.end - view.start;

describe("the view", () => {
  it("keeps what is under the pointer where it is", () => {
    for (const share of [0, 0.25, 0.5, 1]) {
      const view = { start: 40e9, end: 50e9 };
      const about = view.start + share * length(view);
      const closer = zoom(view, about, 0.5, all);
      expect(length(closer)).toBeCloseTo(5e9, 3);
      expect((about - closer.start) / length(closer)).toBeCloseTo(share, 9);
    }
  });

  it("never leaves the whole and never gets too small", () => {
    const next = random(7);
    let view = all;
    for (let n = 0; n < 5000; n++) {
      const about = view.start + next() * length(view);
      view = next() < 0.5 ? zoom(view, about, 10 ** (next() * 4 - 2), all) : pan(view, (next() - 0.5) * 4 * length(view), all);
      expect(view.start).toBeGreaterThanOrEqual(all.start);
      expect(view.end).toBeLessThanOrEqual(all.end + 1e-3);
      expect(length(view)).toBeGreaterThanOrEqual(999);
    }
  });

  it("goes to both ends", () => {
    const view = { start: 40e9, end: 50e9 };
    expect(pan(view, Infinity, all)).toEqual({ start: all.end - 10e9, end: all.end });
    expect(pan(view, -Infinity, all)).toEqual({ start: all.start, end: all.start + 10e9 });
  });

  it("of nothing is something", () => {
    expect(length(whole(0))).toBeGreaterThan(0);
    expect(length(clamp({ start: 5, end: 5 }, whole(1e9)))).toBe(1000);
  });
});
