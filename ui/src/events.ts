import { lowerBound } from "./extremes.ts";
import type { View } from "./view.ts";
import { kindOf, LANES, type Lane } from "./kind.ts";

/** A rare event. All are kept; none are thinned. */
export interface RareEvent {
  at: number;
  frame: number;
  code: number;
  start: number;
  bytes: number;
  /** The frame that repaired it; 0 if unknown. */
  repairFrame: number;
}

/** Events that overlap on the screen. */
export interface Cluster {
  /** Position in ns. */
  at: number;
  /** Index of its first event in the lane, and the number of events. */
  first: number;
  count: number;
}

/** Share of a cell's width within which two badges would overlap. */
const TOUCHING = 0.75;

/** All events of a lane in order of time. */
export class LaneEvents {
  readonly at: Float64Array;

  constructor(
    readonly lane: Lane,
    readonly events: RareEvent[],
  ) {
    this.at = Float64Array.from(events, (event) => event.at);
  }

  /**
   * Clusters events within cells of `gap` nanoseconds; the counts sum to the number of visible
   * events.
   */
  clusters(view: View, gap: number): Cluster[] {
    const clusters: Cluster[] = [];
    let wasJoined = false;
    const end = lowerBound(this.at, view.end);
    // Cells are aligned to multiples of the gap, so that clusters are stable while the view moves.
    for (let i = lowerBound(this.at, view.start); i < end; ) {
      const cell = Math.floor(this.at[i] / gap);
      const next = Math.max(lowerBound(this.at, (cell + 1) * gap, i, end), i + 1);
      const last = clusters[clusters.length - 1];
      const at = (this.at[i] + this.at[next - 1]) / 2;
      // Merges two clusters that only a cell border separates, but no more than two: otherwise a
      // dense stretch would become a single cluster.
      if (last && !wasJoined && at - last.at < gap * TOUCHING) {
        last.at = (this.at[last.first] + this.at[next - 1]) / 2;
        last.count += next - i;
        wasJoined = true;
      } else {
        clusters.push({ at, first: i, count: next - i });
        wasJoined = false;
      }
      i = next;
    }
    return clusters;
  }

  count(view: View): number {
    return lowerBound(this.at, view.end) - lowerBound(this.at, view.start);
  }
}

/** Rare events of a track: all in order of time, and by lane. */
export class Events {
  readonly all: RareEvent[];
  readonly lanes: LaneEvents[];
  private readonly at: Float64Array;

  constructor(events: RareEvent[]) {
    this.all = events.sort((a, b) => a.at - b.at || a.frame - b.frame);
    this.at = Float64Array.from(this.all, (event) => event.at);
    const byLane = new Map<Lane, RareEvent[]>(LANES.map((lane) => [lane, []]));
    for (const event of this.all) byLane.get(kindOf(event.code).lane)?.push(event);
    this.lanes = LANES.map((lane) => new LaneEvents(lane, byLane.get(lane) ?? [])).filter((l) => l.events.length > 0);
  }

  /** The first event after a time, or the last one before it. */
  beside(ns: number, direction: 1 | -1): RareEvent | undefined {
    return direction > 0 ? this.all[lowerBound(this.at, ns + 0.5)] : this.all[lowerBound(this.at, ns - 0.5) - 1];
  }

  /** At most `most` events on each side of a time. */
  around(ns: number, reach: number): RareEvent[] {
    const middle = lowerBound(this.at, ns);
    return this.all.slice(Math.max(middle - reach, 0), middle + reach);
  }

  /** The first `most` visible events. */
  within(view: View, most: number): { events: RareEvent[]; count: number } {
    const [from, to] = [lowerBound(this.at, view.start), lowerBound(this.at, view.end)];
    return { events: this.all.slice(from, Math.min(to, from + most)), count: to - from };
  }
}
