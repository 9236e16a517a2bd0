import type { Box } from "./picture.ts";

/** What a gesture requests, in CSS pixels from the stage's left and top. */
export interface Wishes {
  /** Zooms by this factor around this position. */
  zoom(x: number, factor: number): void;
  pan(pixels: number): void;
  select(box: Box): void;
  /** The current selection; `undefined` if it was canceled. */
  selecting(box: Box | undefined): void;
  point(x: number, y: number): void;
  leave(): void;
  press(x: number, y: number): void;
  all(): void;
}

/** A wheel notch is 100 units in most browsers and zooms by about a quarter. */
const WHEEL_FACTOR = 1.0022;
/** Pixels per line for a wheel that counts lines (Firefox). */
const WHEEL_LINE = 33;
/** Movement up to this many pixels is a click. */
const CLICK_PIXELS = 4;

function boxOf(a: { x: number; y: number }, b: { x: number; y: number }): Box {
  return { left: Math.min(a.x, b.x), right: Math.max(a.x, b.x), from: Math.min(a.y, b.y), to: Math.max(a.y, b.y) };
}

/** Converts wheel, mouse, pen and touch input to requests. */
export function listen(stage: HTMLElement, wishes: Wishes): void {
  const pointers = new Map<number, { x: number; y: number }>();
  let begin: { x: number; y: number; selects: boolean } | undefined;
  let moved = false;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : WHEEL_LINE;
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) wishes.pan(sideways * unit);
      else wishes.zoom(place(event).x, WHEEL_FACTOR ** (event.deltaY * unit));
    },
    { passive: false },
  );

  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (event.target as Element).closest("button")) return;
    const at = place(event);
    pointers.set(event.pointerId, at);
    if (pointers.size === 1) {
      begin = { ...at, selects: event.shiftKey };
      moved = false;
    } else moved = true;
  });

  stage.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (!before || !begin) return wishes.point(at.x, at.y);
    if (pointers.size === 1 && Math.abs(at.x - begin.x) < CLICK_PIXELS && !moved) return;
    // Not a click any more: captures the pointer, so that movement outside the stage counts too.
    if (!moved) stage.setPointerCapture(event.pointerId);
    moved = true;
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, other]) => other);
    pointers.set(event.pointerId, at);
    if (others.length > 0) {
      const other = others[0];
      const [old, now] = [Math.abs(before.x - other.x), Math.abs(at.x - other.x)];
      const middle = (at.x + other.x) / 2;
      // Fingers above each other define no time.
      if (old > 8 && now > 8) wishes.zoom(middle, old / now);
      wishes.pan((before.x - at.x) / 2);
    } else if (begin.selects) wishes.selecting(boxOf(begin, at));
    else wishes.pan(before.x - at.x);
  });

  const release = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0 || !begin) return;
    const at = place(event);
    const from = begin;
    begin = undefined;
    if (event.type === "pointercancel") wishes.selecting(undefined);
    else if (!moved) wishes.press(at.x, at.y);
    else if (from.selects) wishes.select(boxOf(from, at));
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("pointerleave", () => pointers.size === 0 && wishes.leave());
  stage.addEventListener("dblclick", (event) => {
    if (!(event.target as Element).closest("button")) wishes.all();
  });
}
