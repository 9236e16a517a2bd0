/** Pixels, from the left and the top. */
export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

export type Align = "left" | "center" | "right";

/** What a picture is drawn on: the screen or an SVG. One drawing code, two of these. */
export interface Surface {
  /** What `draw` draws is seen inside the rectangle only. */
  clipped(rect: Rect, draw: () => void): void;
  /** A line through x, y, x, y; a NaN breaks it. */
  line(points: readonly number[], colour: string, width: number, dash?: readonly number[]): void;
  /** Squares of so many pixels around x, y, x, y. */
  dots(points: readonly number[], colour: string, size: number): void;
  /** Rectangles: left, top, width, height, one after the other. */
  rects(rects: readonly number[], colour: string, opacity: number): void;
  text(x: number, y: number, text: string, colour: string, align: Align, bold?: boolean): void;
}

export const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif';
export const FONT_SIZE = 11;

/** The colours of the page's theme, by the names that its style gives them. */
export type Colour =
  | "paper"
  | "ink"
  | "dim"
  | "hair"
  | "down"
  | "up"
  | "latency"
  | "both"
  | "idle"
  | "drain"
  | "good"
  | "bad";

export type Palette = (colour: Colour) => string;

/** The theme's colours as they are now. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const known = new Map<Colour, string>();
  return (colour) => {
    let value = known.get(colour);
    if (value === undefined) {
      value = style.getPropertyValue(`--${colour}`).trim() || "#888888";
      known.set(colour, value);
    }
    return value;
  };
}
