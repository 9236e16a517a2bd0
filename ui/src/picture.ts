import { BarPainter } from "./gl.ts";
import { CanvasSurface } from "./canvas.ts";
import { make } from "./dom.ts";
import { LANE_HEIGHT, mapping, Scene, type Work } from "./scene.ts";
import type { Model, Panel } from "./panels.ts";
import type { PanelView } from "./legend.ts";
import { type Palette, paletteOf, type Rect, type Surface } from "./surface.ts";
import { SvgSurface } from "./svg.ts";
import type { View } from "./view.ts";

/** Maximum device pixels per CSS pixel: more would cost time without visible effect. */
const MOST_DENSITY = 2;

/** The current selection in pixels: left, right, top and bottom. */
export interface Box {
  left: number;
  right: number;
  from: number;
  to: number;
}

/** A selection less high than this selects time only. */
export const LEAST_BOX = 12;

/** A drawn panel, for the cursor. */
export interface Drawn {
  panel: Panel | undefined;
  rect: Rect;
  low: number;
  high: number;
}

/** The canvases of the stage: lines at the bottom, bars above them, the cursor on top. */
export class Picture {
  private readonly base = make("canvas", { role: "img" });
  private readonly bars = make("canvas", { "aria-hidden": "true" });
  private readonly above = make("canvas", { "aria-hidden": "true" });
  private readonly context: CanvasRenderingContext2D;
  private readonly overlay: CanvasRenderingContext2D;
  private painter: BarPainter | undefined;
  drawn: Drawn[] = [];
  width = 0;
  height = 0;
  calls = 0;

  constructor(private readonly stage: HTMLElement) {
    stage.append(this.base, this.bars, this.above);
    this.context = this.base.getContext("2d") as CanvasRenderingContext2D;
    this.overlay = this.above.getContext("2d") as CanvasRenderingContext2D;
    this.painter = BarPainter.on(this.bars);
    this.bars.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.painter = undefined;
    });
    this.bars.addEventListener("webglcontextrestored", () => (this.painter = BarPainter.on(this.bars)));
  }

  /** Sets the description for screen readers. */
  describe(text: string): void {
    this.base.setAttribute("aria-label", text);
  }

  forget(): void {
    this.painter?.forget();
  }

  private get density(): number {
    return Math.min(devicePixelRatio || 1, MOST_DENSITY);
  }

  /** Reads the positions of the plots from the page layout. */
  measure(views: PanelView[]): void {
    const box = this.stage.getBoundingClientRect();
    [this.width, this.height] = [box.width, box.height];
    this.drawn = views.map(({ panel, plot }) => {
      const { left, top, width, height } = plot.getBoundingClientRect();
      return { panel, rect: { left: left - box.left, top: top - box.top, width, height }, low: 0, high: 1 };
    });
    for (const canvas of [this.base, this.above]) fit(canvas, 0, 0, this.width, this.height, this.density);
    const sequence = this.drawn.find((d) => d.panel && d.panel.bars.length > 0);
    if (sequence) {
      const { left, top, width, height } = sequence.rect;
      fit(this.bars, left, top, width, height, this.density);
    }
  }

  draw(model: Model, view: View): Work {
    const { context, density } = this;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const palette = paletteOf(this.stage);
    const painter = model.fits ? this.painter : undefined;
    const scene = new Scene(new CanvasSurface(context), palette, model, view, density);
    this.paint(scene, model, view, (drawn) => {
      if (!painter || !drawn.panel) return false;
      this.paintBars(painter, drawn.panel, drawn, view, palette);
      scene.work.bars += painter.bars;
      return true;
    });
    this.bars.hidden = !painter;
    this.calls = painter?.calls ?? 0;
    return scene.work;
  }

  /** The same view as an SVG file. */
  svg(model: Model, view: View, title: string): string {
    const surface = new SvgSurface();
    const palette = paletteOf(this.stage);
    const scene = new Scene(surface, palette, model, view, 1);
    this.paint(scene, model, view, () => false);
    for (const { panel, rect } of this.drawn) legend(surface, palette, panel, rect, view);
    return surface.finish(this.width, this.height, title, palette("paper"));
  }

  private paint(scene: Scene, model: Model, view: View, bars: (drawn: Drawn) => boolean): void {
    this.drawn.forEach((drawn, n) => {
      const { panel, rect } = drawn;
      const labelled = n === this.drawn.length - 1 || (panel?.bars.length ?? 0) > 0;
      scene.background(rect);
      scene.times(rect, labelled);
      if (!panel) return lanes(scene, model, rect);
      Object.assign(drawn, model.extent(panel, view));
      scene.values(panel, rect, drawn.low, drawn.high);
      scene.lines(panel, rect, drawn.low, drawn.high);
      if (panel.bars.length > 0 && !bars(drawn)) scene.bars(panel, rect, drawn.low, drawn.high);
    });
  }

  private paintBars(painter: BarPainter, panel: Panel, drawn: Drawn, view: View, palette: Palette): void {
    const [width, height] = [this.bars.width, this.bars.height];
    painter.begin(width, height);
    const window = { ...view, low: drawn.low, high: drawn.high, width, height };
    for (const layer of panel.bars) {
      if (panel.hidden.has(layer.name)) continue;
      const { bars, keep, least } = layer.bars(view, width);
      const colours = new Float32Array(64);
      const colour = parseColour(palette(layer.colour));
      for (let i = 0; i < 16; i++) colours.set(colour, i * 4);
      const size = [least[0] * this.density, least[1] * this.density] as [number, number];
      painter.draw(bars, keep, window, colours, keep ? size : [1, size[1]]);
    }
  }

  /** Draws the cursor, and the current selection. */
  cursor(view: View, ns: number | undefined, pinned: boolean, box?: Box): void {
    const { overlay, density } = this;
    overlay.setTransform(density, 0, 0, density, 0, 0);
    overlay.clearRect(0, 0, this.width, this.height);
    const surface = new CanvasSurface(overlay);
    const palette = paletteOf(this.stage);
    for (const { rect } of this.drawn) {
      if (box) {
        const inBox = box.from >= rect.top && box.to <= rect.top + rect.height && box.to - box.from > LEAST_BOX;
        const [top, bottom] = inBox ? [box.from, box.to] : [rect.top, rect.top + rect.height];
        const shade = [box.left, top, box.right - box.left, bottom - top];
        surface.clipped(rect, () => surface.rects(shade, palette("down"), 0.2));
      }
      if (ns === undefined) continue;
      const x = mapping(rect, view, 0, 1).x(ns);
      if (x < rect.left || x > rect.left + rect.width) continue;
      surface.line([x, rect.top, x, rect.top + rect.height], palette("ink"), 1, pinned ? [] : [3, 3]);
    }
  }
}

function lanes(scene: Scene, model: Model, rect: Rect): void {
  model.track.events.lanes.forEach((lane, n) => {
    scene.lane(lane, { ...rect, top: rect.top + n * LANE_HEIGHT, height: LANE_HEIGHT });
  });
}

function fit(canvas: HTMLCanvasElement, left: number, top: number, width: number, height: number, density: number): void {
  const [w, h] = [Math.max(Math.round(width * density), 1), Math.max(Math.round(height * density), 1)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
}

/** A panel's heading and legend, which the page shows next to the plot. */
function legend(surface: Surface, palette: Palette, panel: Panel | undefined, rect: Rect, view: View): void {
  const y = rect.top - 14;
  const heading = panel?.name ?? "Rare events";
  surface.text(rect.left, y, heading, palette("ink"), "left", true);
  let x = rect.left + 14 + heading.length * 6.6;
  const details = (panel?.layers ?? []).map((layer) => ({ ...layer, detail: layer.drawn.detail?.(view) ?? "" }));
  for (const { name, colour, detail } of [...(panel?.bars ?? []).map((b) => ({ ...b, detail: "" })), ...details]) {
    if (panel?.hidden.has(name)) continue;
    surface.rects([x, y - 4, 8, 8], palette(colour), 1);
    surface.text(x + 12, y, name + detail, palette("dim"), "left");
    x += 28 + (name + detail).length * 6;
  }
}

/** `#rrggbb` as three numbers from 0 to 1 and alpha 1. */
function parseColour(text: string): [number, number, number, number] {
  const value = Number.parseInt(text.replace("#", ""), 16) || 0;
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255, 1];
}
