import type { ProbeData, TrackData } from "./data.ts";
import type { RareEvent } from "./events.ts";
import { lowerBound } from "./extremes.ts";
import { quantity } from "./format.ts";
import { kindOf } from "./kind.ts";
import type { View } from "./view.ts";

/** The frame under the cursor. */
export interface Hit {
  frame: number;
  at: number;
  what: string;
}

/** Position of the cursor; `value` if its panel has selectable items. */
export interface Place {
  ns: number;
  value: number | undefined;
  nsPerPixel: number;
  valuePerPixel: number;
}

/** Rows compared on each side: beyond these, all are under the same pixel and equally near. */
const REACH = 2000;
/** Pixels by which rare events are preferred, because users aim at them. */
const RARE_BONUS = 4;

/** The nearest segment or ACK on the screen. */
export function nearest(track: TrackData, place: Place): Hit | undefined {
  let best: Hit | undefined;
  let least = Infinity;
  const offer = (at: number, from: number, to: number, bonus: number, hit: () => Hit): void => {
    const across = Math.abs(at - place.ns) / place.nsPerPixel;
    const off = place.value === undefined ? 0 : Math.max(from - place.value, place.value - to, 0) / place.valuePerPixel;
    const distance = Math.hypot(across, off) - bonus;
    if (distance < least) [least, best] = [distance, hit()];
  };
  const { segments, acks, events } = track;
  around(segments.at, place.ns, (i) => {
    if (segments.kind[i] !== 0) return;
    const [start, stop] = [segments.start[i], segments.stop[i]];
    offer(segments.at[i], start, stop, 0, () => segmentHit(track, i));
  });
  around(acks.at, place.ns, (i) => {
    const ack = acks.acknowledgement[i];
    offer(acks.at[i], ack, ack, 0, () => ({ frame: acks.frame[i], at: acks.at[i], what: `ACK of bytes before ${ack}` }));
  });
  for (const event of events.around(place.ns, REACH)) {
    offer(event.at, event.start, event.start + event.bytes, RARE_BONUS, () => eventHit(event));
  }
  return best;
}

/** Maximum distance of a selected mark, in pixels. */
const MARK_REACH = 10;

/** The mark under the cursor, which is at a value in the marks' unit. */
export function nearestMark(all: Iterable<ProbeData>, place: Place & { value: number }): Hit | undefined {
  let best: Hit | undefined;
  let least = MARK_REACH;
  for (const probes of all) {
    around(probes.at, place.ns, (i) => {
      const across = (probes.at[i] - place.ns) / place.nsPerPixel;
      const distance = Math.hypot(across, (probes.took[i] - place.value) / place.valuePerPixel);
      if (distance < least) [least, best] = [distance, markHit(probes, i)];
    });
  }
  return best;
}

function markHit(probes: ProbeData, i: number): Hit {
  const took = `reply after ${quantity(probes.took[i], "seconds")}`;
  const what = `${probes.name} ${probes.route[i]}, ${took} (request in frame ${probes.askedFrame[i]})`;
  return { frame: probes.frame[i], at: probes.at[i], what };
}

export function eventHit(event: RareEvent): Hit {
  const range = event.bytes > 0 ? `, bytes ${event.start} to ${event.start + event.bytes}` : "";
  const repair = event.repairFrame > 0 ? `, repaired in frame ${event.repairFrame}` : "";
  return { frame: event.frame, at: event.at, what: `${kindOf(event.code).name}${range}${repair}` };
}

function segmentHit(track: TrackData, i: number): Hit {
  const { at, frame, start, stop, stride } = track.segments;
  const name = stride > 1 ? `up to ${stride} segments` : "segment";
  return { frame: frame[i], at: at[i], what: `${name}, bytes ${start[i]} to ${stop[i]}` };
}

function around(column: Float64Array, ns: number, visit: (i: number) => void): void {
  const middle = lowerBound(column, ns);
  const end = Math.min(middle + REACH, column.length);
  for (let i = Math.max(middle - REACH, 0); i < end; i++) visit(i);
}

/** Finds a frame, or the next one shown: its time, and a range around it. */
export interface FramePlace {
  at: number;
  exact: boolean;
  what: string;
  view: View;
}

export function placeOf(track: TrackData, frame: number): FramePlace | undefined {
  const rows = [
    { ...track.segments, what: (i: number) => segmentHit(track, i).what },
    { ...track.acks, what: (i: number) => `ACK of bytes before ${track.acks.acknowledgement[i]}` },
  ];
  for (const exact of [true, false]) {
    for (const { frame: frames, at, what } of rows) {
      const i = Math.min(lowerBound(frames, frame), frames.length - 1);
      if (i < 0 || (exact && frames[i] !== frame)) continue;
      const start = at[Math.max(i - NEIGHBOURS, 0)];
      const end = at[Math.min(i + NEIGHBOURS, at.length - 1)];
      const half = Math.max(at[i] - start, end - at[i]);
      return { at: at[i], exact, what: what(i), view: { start: at[i] - half, end: at[i] + half } };
    }
  }
  return undefined;
}

/** Rows shown on each side of that frame. */
const NEIGHBOURS = 40;
