import { describe, expect, it } from "vitest";
import { hopCells, hopNumber, levelOf } from "../src/watch/hops.ts";
import { type Columns, SHARES } from "../src/watch/wire.ts";

const COUNT = 20;

/** A hop with these medians; NaN for a column without replies, `undefined` for one without probes. */
function hop(medians: readonly (number | undefined)[]): Columns {
  const counts = (count: (median: number | undefined) => number): Uint32Array => Uint32Array.from(medians, count);
  const delays = Float32Array.from(medians, (median) => median ?? NaN);
  const zero = counts(() => 0);
  const sent = counts((median) => (median === undefined ? 0 : 1));
  const answered = counts((median) => (median === undefined || Number.isNaN(median) ? 0 : 1));
  return { unit: "seconds", from: 0, to: COUNT, held: 1, count: COUNT, min: delays, max: delays, sent, answered, late: zero, lost: zero, failed: zero, quantiles: SHARES.map(() => delays) };
}

const each = (of: (column: number) => number | undefined): (number | undefined)[] => Array.from({ length: COUNT }, (_, column) => of(column));

describe("hops", () => {
  it("wait in the queue that all later hops share, and in no other", () => {
    const busy = (column: number): number => (column >= 10 ? 0.1 : 0);
    const rows = hopCells([hop(each(() => 0.001)), hop(each((column) => 0.002 + (column % 3) * 0.05)), hop(each((column) => 0.004 + busy(column))), hop(each((column) => 0.005 + busy(column)))]);
    const added = rows.map((row) => row.map((cell) => (cell.kind === "delay" ? levelOf(cell.added + 1e-6) : -1)));
    expect(added[0]).toEqual(each(() => 0));
    expect(added[1].slice(0, 10), "a router that is slow to reply").toEqual(new Array(10).fill(0));
    expect(added[2]).toEqual(each((column) => (column >= 10 ? 5 : 0)));
    expect(added[3]).toEqual(added[2]);
  });
  it("without replies are no queue, and those probed rarely have no gaps", () => {
    const [rare, silent, none] = hopCells([hop(each((column) => (column % 4 === 0 ? 0.01 : undefined))), hop(each(() => NaN)), hop(each(() => undefined))]);
    expect(rare.every((cell) => cell.kind === "delay")).toBe(true);
    expect(silent.every((cell) => cell.kind === "lost")).toBe(true);
    expect(none.every((cell) => cell.kind === "none")).toBe(true);
  });
  it("are recognized by the names of their series", () => {
    expect(["hop 3", "hop 12", "icmp", "hop x", "ttl hop 3"].map(hopNumber)).toEqual([3, 12, undefined, undefined, undefined]);
  });
});
