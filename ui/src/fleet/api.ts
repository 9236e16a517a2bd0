/** The API of the page. Keep in sync with shell/fleet/web/src/api.rs. */

export interface Values {
  lag_up_s: number | null;
  lag_down_s: number | null;
  idle_p50_s: number | null;
  goodput_up_bits_per_second: number | null;
  goodput_down_bits_per_second: number | null;
  buffer_up_bytes: number | null;
  buffer_down_bytes: number | null;
}

export interface Site extends Values {
  site: string;
  labels: Record<string, string>;
  tests: number;
}

export interface Group {
  value: string;
  sites: number;
  lag_p50_s: number;
  lag_p90_s: number;
  bloated_ratio: number;
}

export interface Sites {
  sites: Site[];
  by: { label: string; groups: Group[] } | null;
  outliers: string[];
  tested: number;
  bloated: number;
  /** Number of sites that match the search. */
  found: number;
  /** The labels, each with its values. */
  values: Record<string, string[]>;
}

export interface Point {
  site: string;
  group: string;
  rate_bits_per_second: number;
  buffer_bytes: number;
}

export interface Cell {
  rate_bits_per_second: number;
  buffer_bytes: number;
  lines: number;
}

export interface Plot {
  points: Point[];
  cells: Cell[];
  /** Number of lines, and of those whose buffer is bloated. */
  lines: number;
  bloated: number;
}

export interface Change {
  site: string;
  before_s: number;
  after_s: number;
  tests_before: number;
  tests_after: number;
  change: "better" | "same" | "worse" | "unknown";
}

export interface Changes {
  /** Those that changed most, if there are many. */
  changes: Change[];
  better: number;
  worse: number;
  /** Number of sites with enough tests, and of all. */
  known: number;
  found: number;
}

export interface TrendPoint {
  at_s: number;
  sites: number;
  lag_p50_s: number;
  lag_p90_s: number;
}

export interface Trend {
  value: string;
  points: TrendPoint[];
}

export interface Trends {
  all: Trend | null;
  by: { label: string; trends: Trend[] } | null;
}

export interface Together {
  from_s: number;
  to_s: number;
  kind: string;
  value: string;
  sites: string[];
  unaffected: number;
}

export interface SlowTimes {
  together: Together[];
  slow: number;
  known: number;
}

export interface Test extends Values {
  at_s: number;
}

export interface History {
  site: Site;
  tests: Test[];
  results: { name: string; verdict: string }[];
}

/** The server refused a request or could not be reached. */
export class ApiError extends Error {}

/** A query of parameters; those without a value are left out. */
export function queryOf(parameters: Record<string, string | number | undefined>): string {
  const known = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return known.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
}

/** Labels with values as one parameter, itself a query string. */
export function onlyOf(only: readonly (readonly [string, string])[]): string {
  return only.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

export async function get<T>(path: string, parameters: Record<string, string | number | undefined>, signal: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}?${queryOf(parameters)}`, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError("The server cannot be reached.");
  }
  if (response.status === 401) location.assign("/login");
  if (!response.ok) {
    const body = (await response.json().catch(() => ({}))) as { error?: string };
    throw new ApiError(body.error ?? `The server responded with status ${response.status}.`);
  }
  return (await response.json()) as T;
}
