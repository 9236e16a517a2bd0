import { describe, expect, it } from "vitest";
import { Events, LaneEvents, type RareEvent } from "../src/events.ts";
import { random, times } from "./random.ts";

const at = (ns: number, code = 32, frame = 1): RareEvent => ({ at: ns, frame, code, start: 0, bytes: 0, repairFrame: 0 });

describe("rare events", () => {
  it.each([1, 2, 3, 4, 5])("are all counted in the badges, at any zoom (seed %d)", (seed) => {
    const next = random(seed);
    const events = [...times(next, 3000)].map((ns) => at(ns));
    const lane = new LaneEvents("lost", events);
    const span = events[events.length - 1].at;
    for (let n = 0; n < 100; n++) {
      const start = next() * span;
      const view = { start, end: start + next() ** 3 * span };
      const inView = events.filter((e) => e.at >= view.start && e.at < view.end).length;
      const clusters = lane.clusters(view, (view.end - view.start) / 40);
      expect(clusters.reduce((sum, c) => sum + c.count, 0)).toBe(inView);
      expect(lane.count(view)).toBe(inView);
      expect(clusters.length).toBeLessThanOrEqual(42);
    }
  });

  it("are found one after the other, both ways", () => {
    const events = new Events([at(30), at(10), at(20, 3), at(20, 33, 2)]);
    expect(events.beside(0, 1)?.at).toBe(10);
    expect(events.beside(10, 1)?.at).toBe(20);
    expect(events.beside(30, 1)).toBeUndefined();
    expect(events.beside(30, -1)?.at).toBe(20);
    expect(events.beside(10, -1)).toBeUndefined();
    expect(events.lanes.map((l) => [l.lane, l.events.length])).toEqual([
      ["lost", 2],
      ["resent", 1],
      ["window", 1],
    ]);
  });

  it("in view are listed, and how many more there are", () => {
    const events = new Events([at(10), at(20), at(30), at(40)]);
    const { events: some, count } = events.within({ start: 15, end: 50 }, 2);
    expect([some.map((e) => e.at), count]).toEqual([[20, 30], 3]);
  });
});
