import { type Columns, decodeColumns, decodeOverview, type Spark } from "./wire.ts";

/** The current state of a target. Keep in sync with the server's `Row`. */
export interface Target {
  series: number;
  name: string;
  group: string;
  host: string;
  address: string;
  probe: string;
  /** "failing", "trouble", "fine" or "unknown". */
  state: string;
  sent: number;
  lost: number;
  late: number;
  failed: number;
  median_s: number | null;
  p95_s: number | null;
  failing_since_s: number | null;
  reason: string;
  alerts: string[];
}

/** A series of the store. */
export interface Series {
  series: number;
  target: string;
  probe: string;
  unit: "seconds" | "bits_per_second" | "bytes";
}

export interface WatchEvent {
  at_s: number;
  until_s: number | null;
  series: number | null;
  kind: string;
  text: string;
  value: number | null;
  /** For a speed test: the name of its report. */
  report: string | null;
}

export interface Tally {
  sent: number;
  answered: number;
  late: number;
  lost: number;
  failed: number;
  duplicates: number;
  reordered: number;
}

/** One side of a comparison. */
export interface Period {
  from_s: number;
  to_s: number;
  tally: Tally;
  loss_ratio: number | null;
  min_s: number | null;
  max_s: number | null;
  mean_s: number | null;
  quantiles_s: [number, number][];
  /** Value, and the share of replies up to it. */
  ecdf_s: [number, number][];
}

export interface HeatCell {
  day: number;
  hour: number;
  sent: number;
  lost: number;
  median_s: number | null;
  p95_s: number | null;
  max_s: number | null;
}

/** A finding over months. */
export interface Finding {
  kind: string;
  series: number;
  target: string;
  probe: string;
  text: string;
  certainty: string;
  figures: { name: string; value: string }[];
  stretches: { from_s: number; to_s: number }[];
  refuted_by: string;
}

/** The server refused a request or could not be reached. */
export class ApiError extends Error {}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, signal ? { signal } : {});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The server cannot be reached.");
  }
  if (response.status === 401) location.assign("/login");
  if (!response.ok) {
    const told = (await response.json().catch(() => ({}))) as { error?: string };
    throw new ApiError(told.error ?? `The server responded with status ${response.status}.`);
  }
  return response;
}

async function json<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await get(path, signal)).json()) as T;
}

/** Seconds in the server's format: without an exponent, to the microsecond. */
export function seconds(value: number): string {
  return String(Math.max(0, Math.round(value * 1e6) / 1e6));
}

export function range(from: number, to: number): string {
  return `from=${seconds(from)}&to=${seconds(to)}`;
}

export const api = {
  targets: () => json<{ targets: Target[]; now_s: number }>("/api/v1/targets"),
  series: () => json<{ series: Series[] }>("/api/v1/series").then((answer) => answer.series),
  events: (from: number, to: number) =>
    json<{ events: WatchEvent[] }>(`/api/v1/events?${range(from, to)}`).then((answer) => answer.events),
  findings: (from: number, to: number, offset: string, since: string) =>
    json<{ findings: Finding[] }>(`/api/v1/findings?${range(from, to)}&utc_offset_s=${offset}&utc_offset_from=${since}`).then((a) => a.findings),
  heatmap: (series: number, from: number, to: number, offset: number) =>
    json<{ cells: HeatCell[] }>(`/api/v1/heatmap?series=${series}&${range(from, to)}&utc_offset_s=${offset}`).then((a) => a.cells),
  compare: (series: number, a: [number, number], b: [number, number]) =>
    json<{ first: Period; second: Period }>(
      `/api/v1/compare?series=${series}&${range(...a)}&from2=${seconds(b[0])}&to2=${seconds(b[1])}`,
    ),
  overview: async (from: number, to: number, columns: number): Promise<Map<number, Spark>> =>
    decodeOverview(await (await get(`/api/v1/overview?${range(from, to)}&cols=${columns}&format=binary`)).arrayBuffer()),
  smoke: async (series: number, from: number, to: number, columns: number, signal: AbortSignal): Promise<Columns> =>
    decodeColumns(await (await get(`${smokePath(series, from, to, columns)}&format=binary`, signal)).arrayBuffer()),
};

/** URLs of the same data for people and programs. */
export function smokePath(series: number, from: number, to: number, columns: number): string {
  return `/api/v1/smoke?series=${series}&${range(from, to)}&cols=${columns}`;
}
