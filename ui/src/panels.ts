import type { Bars } from "./bars.ts";
import { SegmentBars } from "./bars.ts";
import { type Capture, concerns, type CurveData, type LevelData, type ProbeData, type TrackData, type Trips } from "./data.ts";
import { lowerBound } from "./extremes.ts";
import { MOST } from "./gl.ts";
import { quantity, type Unit } from "./format.ts";
import { LANE_COLOURS, LOSS } from "./kind.ts";
import { Curve, type Drawn, Line, RateOf } from "./line.ts";
import type { Colour } from "./surface.ts";
import { type View, whole } from "./view.ts";

export type Style = "line" | "steps" | "samples" | "dots" | "marks";

/** A layer of a panel, with an entry in its legend. */
export interface Layer {
  name: string;
  colour: Colour;
  style: Style;
  drawn: Drawn;
  /** Whether the scale includes it. */
  scales: boolean;
  faint?: boolean;
}

/** Bars in the sequence panel. */
export interface BarLayer {
  name: string;
  colour: Colour;
  bars(view: View, columns: number): { bars: Bars; keep: boolean; least: [number, number] };
}

export interface Panel {
  name: string;
  unit: Unit;
  /** Scale from the lowest to the highest visible value, not from 0. */
  floats: boolean;
  bars: BarLayer[];
  layers: Layer[];
  levels: LevelData[];
  /** Marks that can be selected individually, by the names of their layers. */
  marks: Map<string, ProbeData>;
  hidden: Set<string>;
  /** The value range that the user selected. */
  range?: { low: number; high: number } | undefined;
}

/** SACK blocks are hidden while more than this many per pixel column are visible: they would blur. */
const BLOCKS_A_COLUMN = 4;
const PROBE_COLOURS: readonly Colour[] = ["up", "idle", "down"];
const CURVE_COLOURS: readonly Colour[] = ["up", "both", "down", "idle", "latency", "drain"];

/** All panels of a track. */
export class Model {
  readonly bars: SegmentBars;
  readonly panels: Panel[];
  /** Whether its times and sequence numbers are within the range of the WebGL format. */
  readonly fits: boolean;

  constructor(
    readonly capture: Capture,
    readonly track: TrackData,
  ) {
    this.bars = new SegmentBars(track.segments);
    this.fits = capture.span < MOST && this.bars.extent(whole(capture.span)).high < MOST;
    this.panels = [this.sequence(), this.roundTrips(), this.outstanding(), this.queues(), this.rates()];
    for (const curve of capture.curves) {
      if (!concerns(curve.scope, track)) continue;
      let panel = this.panels.find((p) => p.name === curve.panel);
      if (!panel) this.panels.push((panel = empty(curve.panel, curve.unit)));
      panel.layers.push(layerOf(curve, CURVE_COLOURS[panel.layers.length % CURVE_COLOURS.length]));
    }
    for (const level of capture.levels) {
      const panel = this.panels.find((p) => p.name === level.panel);
      if (panel && concerns(level.scope, track)) panel.levels.push(level);
    }
    this.panels = this.panels.filter((panel) => panel.layers.length + panel.bars.length > 0);
  }

  /** Lowest and highest visible value of a panel. */
  extent(panel: Panel, view: View): { low: number; high: number } {
    if (panel.range) return panel.range;
    const all = panel.layers.filter((l) => l.scales && !panel.hidden.has(l.name)).map((l) => l.drawn.extent(view));
    if (panel.bars.some((layer) => !panel.hidden.has(layer.name))) all.push(this.bars.extent(view));
    let low = Math.min(...all.map((e) => e.low));
    let high = Math.max(...all.map((e) => e.high));
    if (!(low <= high)) [low, high] = [0, 1];
    if (!panel.floats) {
      low = Math.min(low, 0);
      // A level is shown unless it would flatten the measured values.
      const near = panel.levels.filter((level) => level.value <= high * 2).map((level) => level.value);
      high = Math.max(high, ...near);
    }
    const room = (high - low) * 0.06 || Math.abs(high) * 0.06 || 1;
    return { low: panel.floats ? low - room : low, high: high + room };
  }

  private sequence(): Panel {
    const { acks, segments } = this.track;
    const edge = new Float64Array(acks.at.length);
    for (let i = 0; i < edge.length; i++) edge[i] = acks.acknowledgement[i] + acks.window[i];
    const stride = segments.stride > 1 ? ` (up to ${segments.stride} per bar)` : "";
    return {
      ...empty("Time and sequence", "bytes"),
      floats: true,
      bars: [
        {
          name: `segments${stride}`,
          colour: "down",
          bars: (view, columns) => {
            const { bars, single } = this.bars.inView(view, columns);
            const close = bars.to - bars.from < columns / 4;
            return { bars, keep: single, least: close ? [3, 2] : [1, 1] };
          },
        },
        { name: "SACK", colour: "both", bars: blocks(this.track) },
        {
          name: "resent, reordered",
          colour: LANE_COLOURS.resent,
          bars: (view) => ({ bars: this.bars.rareInView(view), keep: true, least: [2, 3] }),
        },
        { name: "lost", colour: LANE_COLOURS.lost, bars: losses(this.track) },
      ],
      layers: [
        line("ACK", "idle", "steps", new Line(acks.at, acks.acknowledgement), true),
        line("window edge", "drain", "steps", new Line(acks.at, edge), false),
      ],
    };
  }

  private roundTrips(): Panel {
    const { bySequence, byTimestamps, ambiguous } = this.track;
    const panel = empty("Round-trip time", "seconds");
    const add = (name: string, colour: Colour, style: Style, trips: Trips, faint = false): void => {
      if (trips.at.length === 0) return;
      const thinned = trips.stride > 1 ? ` (min and max of ${trips.stride})` : "";
      panel.layers.push({
        ...line(name + thinned, colour, style, new Line(trips.at, trips.low, trips.high), true),
        faint,
      });
    };
    add("ambiguous", "drain", "dots", ambiguous, true);
    add("by timestamps", "both", "samples", byTimestamps);
    add("by sequence", "latency", "samples", bySequence);
    this.capture.probes.forEach((probes, n) => {
      const name = `${probes.name}${probeNote(probes)}`;
      panel.marks.set(name, probes);
      const colour = PROBE_COLOURS[n % PROBE_COLOURS.length];
      // Below the flow's own round trips, which it would hide if there are many.
      panel.layers.unshift(line(name, colour, "marks", new Line(probes.at, probes.took), true));
    });
    return panel;
  }

  private outstanding(): Panel {
    const { segments, acks } = this.track;
    return {
      ...empty("Outstanding data", "bytes"),
      layers: [
        line("outstanding", "down", "steps", new Line(segments.at, segments.outstanding), true),
        line("window offered", "drain", "steps", new Line(acks.at, acks.window), false),
      ],
    };
  }

  private queues(): Panel {
    return empty("Queue delay", "seconds");
  }

  private rates(): Panel {
    const { acks } = this.track;
    const panel = empty("Rate", "rate");
    if (acks.at.length > 1) {
      panel.layers.push(line("payload delivered", "idle", "line", new RateOf(acks.at, acks.delivered), true));
    }
    return panel;
  }
}

function empty(name: string, unit: Unit): Panel {
  return { name, unit, floats: false, bars: [], layers: [], levels: [], marks: new Map(), hidden: new Set() };
}

/** Note about thinned or hidden marks. */
function probeNote({ unanswered, stride }: ProbeData): string {
  const notes = [];
  if (stride > 1) notes.push(`longest of ${stride}`);
  if (unanswered > 0) notes.push(`${unanswered} unanswered`);
  return notes.length > 0 ? ` (${notes.join(", ")})` : "";
}

function line(name: string, colour: Colour, style: Style, drawn: Drawn, scales: boolean): Layer {
  return { name, colour, style, drawn, scales };
}

function layerOf(curve: CurveData, colour: Colour): Layer {
  return line(curve.name, colour, "line", new Curve(curve.at, curve.value), true);
}

/** SACK blocks as bars, once they can be distinguished. */
function blocks(track: TrackData): BarLayer["bars"] {
  const { at, acknowledgement, blockFrom, blockBytes } = track.acks;
  const places: number[] = [];
  blockBytes.forEach((bytes, i) => bytes > 0 && places.push(i));
  const start = Float64Array.from(places, (i) => acknowledgement[i] + blockFrom[i]);
  const all = {
    at: Float64Array.from(places, (i) => at[i]),
    start,
    stop: Float64Array.from(places, (i, n) => start[n] + blockBytes[i]),
    kind: new Uint8Array(places.length),
  };
  return (view, columns) => {
    const from = lowerBound(all.at, view.start);
    const to = lowerBound(all.at, view.end);
    const shown = to - from <= columns * BLOCKS_A_COLUMN ? to : from;
    return { bars: { ...all, from, to: shown }, keep: true, least: [1, 1] };
  };
}

/** Segments that did not arrive, at their send times. */
function losses(track: TrackData): BarLayer["bars"] {
  const lost = track.events.all.filter((event) => event.code === LOSS);
  const all = {
    at: Float64Array.from(lost, (event) => event.at),
    start: Float64Array.from(lost, (event) => event.start),
    stop: Float64Array.from(lost, (event) => event.start + event.bytes),
    kind: new Uint8Array(lost.length),
  };
  return (view) => {
    const [from, to] = [lowerBound(all.at, view.start), lowerBound(all.at, view.end)];
    return { bars: { ...all, from, to }, keep: true, least: [3, 3] };
  };
}

/** The visible mark layers of a panel. */
export function shownMarks(panel: Panel): ProbeData[] {
  return [...panel.marks].filter(([name]) => !panel.hidden.has(name)).map(([, probes]) => probes);
}

/** The legend text of a layer at a time. */
export function reading(panel: Panel, layer: Layer, ns: number, view: View): string {
  const value = layer.drawn.valueAt(ns, view);
  // Sequence numbers are shown to the byte.
  if (panel.floats) return Number.isNaN(value) ? "–" : String(value);
  return quantity(value, panel.unit);
}
