/** The visible time range, in seconds since 1970. */
export interface View {
  readonly from: number;
  readonly to: number;
}

/** Minimum span: ten probes per second are the maximum. */
const LEAST_S = 10;
const MOST_S = 20 * 31_557_600;
/** Margin after the newest sample, as a share of the view. */
const AHEAD = 0.01;

/** The last `seconds` seconds, with a small margin on the right. */
export function lastSeconds(seconds: number, now: number): View {
  const to = now + seconds * AHEAD;
  return { from: to - seconds, to };
}

/** Limits the view: not too far into the future, not too short or long to draw. */
export function clamp(view: View, now: number): View {
  const length = Math.min(Math.max(view.to - view.from, LEAST_S), MOST_S);
  const middle = (view.from + view.to) / 2;
  const to = Math.min(middle + length / 2, now + length * AHEAD);
  return { from: Math.max(to - length, 0), to };
}

/** Zooms by `factor`; the time `about` keeps its place. */
export function zoom(view: View, about: number, factor: number, now: number): View {
  const length = view.to - view.from;
  const wanted = Math.min(Math.max(length * factor, LEAST_S), MOST_S);
  const from = about - ((about - view.from) / length) * wanted;
  return clamp({ from, to: from + wanted }, now);
}

export function pan(view: View, by: number, now: number): View {
  return clamp({ from: view.from + by, to: view.to + by }, now);
}

/** Whether the view ends at the present. */
export function isLive(view: View, now: number): boolean {
  return view.to >= now - (view.to - view.from) * 0.005;
}
