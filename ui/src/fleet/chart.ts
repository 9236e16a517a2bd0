import { colours } from "../colours.ts";
import { make } from "../dom.ts";

const MOST_DENSITY = 2;

/** A drawing that follows the width of the page and its theme. */
export class Chart {
  readonly canvas = make("canvas", { role: "img", tabindex: "0" });
  readonly note = make("p", { class: "note", "aria-live": "polite" });
  readonly element = make("div", { class: "chart" }, this.canvas, this.note);
  width = 0;
  height = 0;

  constructor(
    label: string,
    private readonly paint: (context: CanvasRenderingContext2D, chart: Chart) => void,
  ) {
    this.canvas.setAttribute("aria-label", label);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  draw(): void {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (width === 0) return;
    const density = Math.min(devicePixelRatio, MOST_DENSITY);
    [this.width, this.height] = [width, height];
    [this.canvas.width, this.canvas.height] = [Math.round(width * density), Math.round(height * density)];
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.font = `12px system-ui, sans-serif`;
    context.textBaseline = "middle";
    this.paint(context, this);
  }

  /** Calls back with the place of the pointer, and with nothing when it leaves. */
  follow(moved: (at: { x: number; y: number } | undefined) => void): void {
    const place = (event: PointerEvent): void => {
      const { left, top } = this.canvas.getBoundingClientRect();
      moved({ x: event.clientX - left, y: event.clientY - top });
    };
    this.canvas.addEventListener("pointermove", place);
    this.canvas.addEventListener("pointerdown", place);
    this.canvas.addEventListener("pointerleave", () => moved(undefined));
  }
}

/** Colors of groups, of which adjacent ones differ in the eyes of most people. */
const GROUPS = ["down", "up", "both", "idle", "latency"];

/** The color of a group by its number; further ones are gray. */
export function groupColour(number: number): string {
  return colours(GROUPS[number] ?? "drain");
}

export const MOST_GROUPS = GROUPS.length;
