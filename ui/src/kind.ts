import type { Colour } from "./surface.ts";

/** Kinds of rare events. The numbers are those of `row.rs` in core/present/trace-page. */
export interface Kind {
  name: string;
  lane: Lane;
}

/** A row of the event panel. */
export type Lane = "lost" | "resent" | "order" | "window" | "marks" | "reset";

export const LANES: readonly Lane[] = [
  "lost",
  "resent",
  "order",
  "window",
  "marks",
  "reset",
];

/** Color of a lane, the same as for its events in other panels. */
export const LANE_COLOURS: Readonly<Record<Lane, Colour>> = {
  lost: "bad",
  resent: "up",
  order: "both",
  window: "drain",
  marks: "latency",
  reset: "ink",
};

/** Congestion Experienced, a separate bit next to the kind. */
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
  34: { name: "ECN echo starts (ECE)", lane: "marks" },
  35: { name: "reset", lane: "reset" },
  36: { name: "SACK reneging", lane: "reset" },
};

export function kindOf(code: number): Kind {
  return KINDS[code] ?? { name: `event ${code}`, lane: "reset" };
}
