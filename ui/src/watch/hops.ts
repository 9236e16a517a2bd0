import { MEDIAN, type Columns } from "./wire.ts";
import { shape } from "./tiles.ts";

/**
 * Upper bounds of the levels of queueing delay in seconds; the last level is above all. Keep in sync
 * with `BOUNDS_S` of core/present/report.
 */
export const BOUNDS_S: readonly number[] = [0.002, 0.005, 0.01, 0.02, 0.06, 0.2, 1];
/** A queue that is there 90 % of the time is still seen, and single fast replies change nothing. */
const UNQUEUED = 0.1;

/** What a column shows of a hop: nothing, that no probe was answered, or a queueing delay. */
export type HopCell = { kind: "none" } | { kind: "lost" } | { kind: "delay"; median: number; added: number };

const NONE: HopCell = { kind: "none" };
const LOST: HopCell = { kind: "lost" };

/** The number of a series `hop N`; `undefined` for other series. */
export function hopNumber(probe: string): number | undefined {
  const number = /^hop (\d+)$/.exec(probe)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The level of a queueing delay. */
export function levelOf(added: number): number {
  return BOUNDS_S.filter((bound) => added >= bound).length;
}

/**
 * The cells of all hops, nearest first, over the same columns of time. A hop has at most the delay
 * that later hops share: a router that is slow to reply delays no packets that it forwards.
 */
export function hopCells(hops: readonly Columns[]): HopCell[][] {
  const least: number[] = [];
  const rows = [...hops].reverse().map((columns) => {
    const base = unqueued(columns);
    return held(columns).map((median, column): HopCell => {
      if (median === undefined) return NONE;
      if (Number.isNaN(median)) return LOST;
      const added = Math.min(Math.max(median - base, 0), least[column] ?? Infinity);
      least[column] = added;
      return { kind: "delay", median, added };
    });
  });
  return rows.reverse();
}

function unqueued(columns: Columns): number {
  const all = columns.quantiles[MEDIAN].filter((median) => !Number.isNaN(median)).sort();
  return all[Math.floor(all.length * UNQUEUED)] ?? 0;
}

/**
 * The median of each column, also of those up to the usual distance after it, and one more: columns
 * are no multiples of the interval of the probes.
 */
function held(columns: Columns): (number | undefined)[] {
  const { filled, pace } = shape(columns);
  const medians: (number | undefined)[] = new Array<undefined>(columns.count).fill(undefined);
  filled.forEach((at, n) => {
    const end = Math.min(filled[n + 1] ?? columns.count, at + Math.ceil(pace) + 1, columns.count);
    medians.fill(columns.quantiles[MEDIAN][at], at, end);
  });
  return medians;
}
