// The picture of a simulation: latency, TCP's window, and throughput.
import { begin, LEFT, type Panel, type Point, panel, RIGHT, timeAxis } from "../plot.ts";
import { axisDuration, axisRate } from "../speed/numbers.ts";

/** What the page reads of a document: docs/schema/result.schema.json. */
export interface Document {
  verdict: { level?: string; headline: string; consequence?: string };
  summary: {
    phases: {
      phase: string;
      latency?: { p50_s?: number; p95_s?: number; max_s?: number };
      goodput_up_bits_per_second?: number;
      goodput_down_bits_per_second?: number;
    }[];
  };
  series: Series[];
}

interface Series {
  metric: string;
  direction?: string;
  flow?: number;
  scope?: string;
  at_ns: number[];
  values: number[];
  censored?: number[];
}

const GAP = 14;
const BOTTOM = 24;
/** Axes end at these values or above. */
const LEAST_LATENCY_S = 0.02;
const LEAST_WINDOW_BYTES = 10_000;
const LEAST_RATE = 1e6;

export const axisBytes = (value: number): string => {
  const [factor, unit] = value >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  return value === 0 ? "0" : `${(value / factor).toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}`;
};

/** Throughput is averaged over this time: data that waits for a repaired gap arrives at once. */
const MEAN_S = 0.5;

/** Means of consecutive points. */
const smooth = (points: Point[]): Point[] => {
  const means: { at: number; sum: number; count: number }[] = [];
  for (const { at, value } of points) {
    const slot = (Math.floor(at / MEAN_S) + 0.5) * MEAN_S;
    const last = means.at(-1);
    if (last?.at === slot) [last.sum, last.count] = [last.sum + value, last.count + 1];
    else means.push({ at: slot, sum: value, count: 1 });
  }
  return means.map(({ at, sum, count }) => ({ at, value: sum / count }));
};

/** Points of a series, without probes that had no answer. */
export const pointsOf = (document: Document, metric: string, direction?: string, flow?: number): Point[] => {
  const found = document.series.find((one) => one.metric === metric && one.direction === direction && one.flow === flow && !one.scope);
  const lost = new Set(found?.censored);
  return (found?.at_ns ?? []).flatMap((at, n) => (lost.has(n) ? [] : [{ at: at / 1e9, value: found?.values[n] ?? NaN }]));
};

/** Draws one or two documents; the first is as chosen. */
export const draw = (canvas: HTMLCanvasElement, documents: Document[], direction: "up" | "down"): void => {
  const drawing = begin(canvas);
  if (!drawing) return;
  const { width, height, colour } = drawing;
  const plot = (height - BOTTOM - 3 * GAP) / 3;
  const inks = ["", colour("--dim")];
  const lines = (metric: string, own: string, at?: string, flow?: number) =>
    documents.map((document, n) => ({ points: pointsOf(document, metric, at, flow), ink: inks[n] || colour(own) })).reverse();
  const latency = lines("udp_rtt_s", "--latency");
  const end = Math.max(1, ...latency.map(({ points }) => points.at(-1)?.at ?? 0));
  const x = (at: number) => LEFT + ((width - LEFT - RIGHT) * at) / end;
  const place = (n: number, name: string, least: number, format: (value: number) => string): Panel => ({
    name,
    top: GAP + n * (plot + GAP),
    height: plot,
    least,
    format,
  });
  panel(drawing, x, place(0, "Latency of small packets", LEAST_LATENCY_S, (value) => axisDuration("en", value)), latency);
  const window = lines("flow_cwnd_bytes", "--both", direction, 1);
  panel(drawing, x, place(1, "TCP's congestion window, first flow", LEAST_WINDOW_BYTES, axisBytes), window);
  const rate = lines("goodput_bits_per_second", direction === "up" ? "--up" : "--down", direction).map((line) => ({ ...line, points: smooth(line.points) }));
  panel(drawing, x, place(2, direction === "up" ? "Upload" : "Download", LEAST_RATE, (value) => axisRate("en", value)), rate);
  timeAxis(drawing, x, end);
};
