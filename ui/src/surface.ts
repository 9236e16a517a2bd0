/** A rectangle in pixels from the left and top. */
export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

export type Align = "left" | "center" | "right";

/** A drawing target, the screen or an SVG, so that one drawing code serves both. */
export interface Surface {
  /** Clips everything that `draw` draws to the rectangle. */
  clipped(rect: Rect, draw: () => void): void;
  /** Draws a line through x, y, x, y; a NaN breaks it. */
  line(points: readonly number[], colour: string, width: number, dash?: readonly number[]): void;
  /** Draws squares of `size` pixels around x, y, x, y. */
  dots(points: readonly number[], colour: string, size: number): void;
  /** Fills rectangles given as left, top, width, height. */
  rects(rects: readonly number[], colour: string, opacity: number): void;
  text(x: number, y: number, text: string, colour: string, align: Align, bold?: boolean): void;
}

export const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif';
export const FONT_SIZE = 11;

/** Colors of the page's theme, by their names in the style sheet. */
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

/** The current theme colors. */
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
