import { KIND_MASK, MARKED } from "./kind.ts";
import { Events, type RareEvent } from "./events.ts";
import { Reader } from "./reader.ts";
import type { Unit } from "./format.ts";

/**
 * Segments in order of time. With a stride above 1, an ordinary row is the range of that many
 * consecutive segments.
 */
export interface Segments {
  at: Float64Array;
  frame: Float64Array;
  kind: Float64Array;
  start: Float64Array;
  stop: Float64Array;
  outstanding: Float64Array;
  stride: number;
}

export interface Acks {
  at: Float64Array;
  frame: Float64Array;
  acknowledgement: Float64Array;
  /** Bytes that arrived until then, including selectively acknowledged ones. */
  delivered: Float64Array;
  window: Float64Array;
  /** The newest SACK block, relative to the ACK; length 0 if there is none. */
  blockFrom: Float64Array;
  blockBytes: Float64Array;
  stride: number;
}

export interface Trips {
  at: Float64Array;
  /** Seconds. */
  low: Float64Array;
  high: Float64Array;
  stride: number;
}

export interface Episode {
  start: number;
  end: number;
  losses: number;
}

/** Data sent by one end of a flow, and the replies. */
export interface TrackData {
  name: string;
  flow: number;
  end: number;
  bytes: number;
  segments: Segments;
  acks: Acks;
  bySequence: Trips;
  byTimestamps: Trips;
  ambiguous: Trips;
  events: Events;
  episodes: Episode[];
}

/** The tracks with additional data. */
export interface Scope {
  kind: number;
  flow: number;
  end: number;
}

export interface Added {
  name: string;
  panel: string;
  unit: Unit;
  scope: Scope;
}

export interface CurveData extends Added {
  at: Float64Array;
  value: Float64Array;
}

export interface LevelData extends Added {
  value: number;
}

/**
 * Requests and replies other than TCP. With a stride above 1, the longest of that many consecutive
 * ones.
 */
export interface ProbeData {
  name: string;
  unanswered: number;
  stride: number;
  /** When the reply passed, and its delay in seconds. */
  at: Float64Array;
  took: Float64Array;
  /** Frame of the reply, and of the request. */
  frame: Float64Array;
  askedFrame: Float64Array;
  /** The two hosts. */
  route: string[];
}

/** The content of a page. Keep in sync with core/present/trace-page. */
export interface Capture {
  /** Start of the page, in ms since 1970. */
  began: number;
  span: number;
  stepsBack: number;
  tracks: TrackData[];
  curves: CurveData[];
  levels: LevelData[];
  probes: ProbeData[];
}

const UNITS: readonly Unit[] = ["seconds", "bytes", "rate", "plain"];

export function decode(bytes: Uint8Array): Capture {
  const from = new Reader(bytes);
  const began = from.signed() * 1000 + from.number() / 1e6;
  const span = from.number();
  const stepsBack = from.number();
  const tracks = repeat(from.number(), () => track(from));
  const curves = repeat(from.number(), () => curve(from));
  const levels = repeat(from.number(), () => ({ ...added(from), value: from.float() }));
  const routes = repeat(from.number(), () => from.text());
  const probes = repeat(from.number(), () => readProbes(from, routes));
  if (!from.atEnd()) throw new RangeError("there is extra data at the end");
  return { began, span, stepsBack, tracks, curves, levels, probes };
}

/** Whether this track has additional data. */
export function concerns(scope: Scope, track: TrackData): boolean {
  return scope.kind === 0 || (scope.flow === track.flow && (scope.kind === 1 || scope.end === track.end));
}

function repeat<T>(count: number, read: () => T): T[] {
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(read());
  return all;
}

function added(from: Reader): Added {
  const name = from.text();
  const panel = from.text();
  const unit = UNITS[from.number()] ?? "plain";
  return { name, panel, unit, scope: { kind: from.number(), flow: from.number(), end: from.number() } };
}

function curve(from: Reader): CurveData {
  const head = added(from);
  const count = from.number();
  return { ...head, at: from.differences(count), value: from.shortFloats(count) };
}

function readProbes(from: Reader, routes: string[]): ProbeData {
  const name = from.text();
  const unanswered = from.number();
  const stride = from.number();
  const count = from.number();
  const at = from.differences(count);
  const took = from.numbers(count).map((ns) => ns * 1e-9);
  const frame = from.differences(count);
  const askedFrame = from.differences(count);
  const route = Array.from(from.numbers(count), (n) => routes[n] ?? "");
  return { name, unanswered, stride, at, took, frame, askedFrame, route };
}

function track(from: Reader): TrackData {
  const name = from.text();
  const flow = from.number();
  const end = from.number();
  const bytes = from.number();
  const segments = readSegments(from);
  const acks = readAcks(from);
  const bySequence = readTrips(from);
  const byTimestamps = readTrips(from);
  const ambiguous = readTrips(from);
  const events = new Events([...readMishaps(from), ...rareSegments(segments)]);
  const episodes = repeat(from.number(), () => {
    const start = from.number();
    return { start, end: start + from.number(), losses: from.number() };
  });
  return { name, flow, end, bytes, segments, acks, bySequence, byTimestamps, ambiguous, events, episodes };
}

function readSegments(from: Reader): Segments {
  const count = from.number();
  const stride = from.number();
  const at = from.differences(count);
  const frame = from.differences(count);
  const kind = from.numbers(count);
  const start = new Float64Array(count);
  for (let i = 0; i < count; i++) start[i] = from.signed();
  const stop = from.differences(count);
  for (let i = 0, before = 0; i < count; i++) {
    start[i] += before;
    stop[i] += start[i];
    before = stop[i];
  }
  return { at, frame, kind, start, stop, outstanding: from.differences(count), stride };
}

function readAcks(from: Reader): Acks {
  const count = from.number();
  const stride = from.number();
  const at = from.differences(count);
  const frame = from.differences(count);
  const acknowledgement = from.differences(count);
  const delivered = from.differences(count);
  const window = from.differences(count);
  return { at, frame, acknowledgement, delivered, window, blockFrom: from.numbers(count), blockBytes: from.numbers(count), stride };
}

function readTrips(from: Reader): Trips {
  const count = from.number();
  const stride = from.number();
  const at = from.differences(count);
  const low = from.differences(count);
  const high = from.numbers(count);
  for (let i = 0; i < count; i++) {
    low[i] *= 1e-9;
    high[i] = low[i] + high[i] * 1e-9;
  }
  return { at, low, high, stride };
}

function readMishaps(from: Reader): RareEvent[] {
  const count = from.number();
  const at = from.differences(count);
  const frame = from.differences(count);
  const code = from.numbers(count);
  const start = from.differences(count);
  const bytes = from.numbers(count);
  const repairFrame = from.differences(count);
  return Array.from(at, (_, i) => ({
    at: at[i],
    frame: frame[i],
    code: code[i],
    start: start[i],
    bytes: bytes[i],
    repairFrame: repairFrame[i],
  }));
}

/** Segments that are rare events. One that is two (retransmitted and marked) is listed as both. */
function rareSegments(segments: Segments): RareEvent[] {
  const events: RareEvent[] = [];
  const { at, frame, kind, start, stop } = segments;
  for (let i = 0; i < at.length; i++) {
    if (kind[i] === 0) continue;
    const event = { at: at[i], frame: frame[i], start: start[i], bytes: stop[i] - start[i], repairFrame: 0 };
    const what = kind[i] & KIND_MASK;
    if (what !== 0) events.push({ ...event, code: what });
    if ((kind[i] & MARKED) !== 0) events.push({ ...event, code: MARKED });
  }
  return events;
}
