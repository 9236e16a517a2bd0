import type { Colour } from "./surface.ts";

/** What a rare event is. The numbers are those of core/present/trace-page's `row.rs`. */
export interface Kind {
  name: string;
  lane: Lane;
}

/** A row of the panel of events. */
export type Lane = "lost" | "resent" | "order" | "window" | "marks" | "reset";

export const LANES: readonly Lane[] = [
  "lost",
  "resent",
  "order",
  "window",
  "marks",
  "reset",
];

/** The colour of a lane, which what it tells of has in the other panels too. */
export const LANE_COLOURS: Readonly<Record<Lane, Colour>> = {
  lost: "bad",
  resent: "up",
  order: "both",
  window: "drain",
  marks: "latency",
  reset: "ink",
};

/** Congestion Experienced, a bit beside the kind. */
export const MARKED = 0x10;
export const KIND_MASK = 0x0f;
export const LOSS = 32;

const KINDS: Readonly<Record<number, Kind>> = {
  1: { name: "fast retransmission", lane: "resent" },
  2: { name: "loss probe", lane: "resent" },
  3: { name: "retransmission timeout", lane: "resent" },
  4: { name: "spurious retransmission", lane: "resent" },
  5: { name: "retransmission", lane: "resent" },
  6: { name: "reordered", lane: "order" },
  7: { name: "duplicate", lane: "order" },
  8: { name: "keep-alive", lane: "window" },
  9: { name: "window probe", lane: "window" },
  [MARKED]: { name: "congestion experienced (CE)", lane: "marks" },
  [LOSS]: { name: "lost", lane: "lost" },
  33: { name: "zero window", lane: "window" },
  34: { name: "congestion echo begins (ECE)", lane: "marks" },
  35: { name: "reset", lane: "reset" },
  36: { name: "SACK reneging", lane: "reset" },
};

export function kindOf(code: number): Kind {
  return KINDS[code] ?? { name: `event ${code}`, lane: "reset" };
}
