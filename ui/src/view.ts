/** What of the time is shown, in nanoseconds since the page's begin. */
export interface View {
  readonly start: number;
  readonly end: number;
}

/** Closer than this there is nothing to see: captures count in microseconds or nanoseconds. */
const LEAST_NS = 1000;
/** Room at both sides of the whole, of its length: what lies at an end is not on the frame. */
const MARGIN = 0.01;

/** All of `span` nanoseconds. */
export function whole(span: number): View {
  const room = Math.max(span, LEAST_NS) * MARGIN;
  return { start: -room, end: Math.max(span, LEAST_NS) + room };
}

/** The view as it is allowed to be: inside the whole, and not below the least. */
export function clamp(view: View, all: View): View {
  const most = all.end - all.start;
  const length = Math.min(Math.max(view.end - view.start, LEAST_NS), most);
  const middle = (view.start + view.end) / 2;
  const start = Math.min(Math.max(middle - length / 2, all.start), all.end - length);
  return { start, end: start + length };
}

/** So many times as much time, with what is at `about` staying where it is. */
export function zoom(view: View, about: number, factor: number, all: View): View {
  const most = all.end - all.start;
  const length = view.end - view.start;
  const wanted = Math.min(Math.max(length * factor, LEAST_NS), most);
  const share = (about - view.start) / length;
  const start = about - share * wanted;
  return clamp({ start, end: start + wanted }, all);
}

/** Moved by nanoseconds. */
export function pan(view: View, by: number, all: View): View {
  const length = view.end - view.start;
  const start = Math.min(Math.max(view.start + by, all.start), all.end - length);
  return { start, end: start + length };
}
