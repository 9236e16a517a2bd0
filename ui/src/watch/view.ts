/** What of the time is shown, in seconds since 1970. */
export interface View {
  readonly from: number;
  readonly to: number;
}

/** Ten probes a second are the fastest: closer there is nothing to see. */
const LEAST_S = 10;
const MOST_S = 20 * 31_557_600;
/** Room after the newest sample, as a share of the view. */
const AHEAD = 0.01;

/** The last so many seconds, with a little room at the right. */
export function lastSeconds(seconds: number, now: number): View {
  const to = now + seconds * AHEAD;
  return { from: to - seconds, to };
}

/** As it is allowed to be: not beyond what will be, not shorter or longer than can be drawn. */
export function clamp(view: View, now: number): View {
  const length = Math.min(Math.max(view.to - view.from, LEAST_S), MOST_S);
  const middle = (view.from + view.to) / 2;
  const to = Math.min(middle + length / 2, now + length * AHEAD);
  return { from: Math.max(to - length, 0), to };
}

/** So many times as much time, with what is at `about` staying where it is. */
export function zoom(view: View, about: number, factor: number, now: number): View {
  const length = view.to - view.from;
  const wanted = Math.min(Math.max(length * factor, LEAST_S), MOST_S);
  const from = about - ((about - view.from) / length) * wanted;
  return clamp({ from, to: from + wanted }, now);
}

export function pan(view: View, by: number, now: number): View {
  return clamp({ from: view.from + by, to: view.to + by }, now);
}

/** Whether its right end is the present. */
export function isLive(view: View, now: number): boolean {
  return view.to >= now - (view.to - view.from) * 0.005;
}
