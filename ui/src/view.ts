/** The visible time range, in nanoseconds since the start of the page. */
export interface View {
  readonly start: number;
  readonly end: number;
}

/** Minimum span: capture timestamps have a resolution of microseconds or nanoseconds. */
const LEAST_NS = 1000;
/**
 * Margin on both sides, as a share of the whole, so that items at the ends do not touch the frame.
 */
const MARGIN = 0.01;

/** The view of all `span` nanoseconds. */
export function whole(span: number): View {
  const room = Math.max(span, LEAST_NS) * MARGIN;
  return { start: -room, end: Math.max(span, LEAST_NS) + room };
}

/** Limits the view to the whole range and the minimum span. */
export function clamp(view: View, all: View): View {
  const most = all.end - all.start;
  const length = Math.min(Math.max(view.end - view.start, LEAST_NS), most);
  const middle = (view.start + view.end) / 2;
  const start = Math.min(Math.max(middle - length / 2, all.start), all.end - length);
  return { start, end: start + length };
}

/** Zooms by `factor`; the time `about` keeps its place. */
export function zoom(view: View, about: number, factor: number, all: View): View {
  const most = all.end - all.start;
  const length = view.end - view.start;
  const wanted = Math.min(Math.max(length * factor, LEAST_NS), most);
  const share = (about - view.start) / length;
  const start = about - share * wanted;
  return clamp({ start, end: start + wanted }, all);
}

/** Moves the view by nanoseconds. */
export function pan(view: View, by: number, all: View): View {
  const length = view.end - view.start;
  const start = Math.min(Math.max(view.start + by, all.start), all.end - length);
  return { start, end: start + length };
}
