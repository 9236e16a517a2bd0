import type { Bars } from "./bars.ts";
import type { LaneEvents } from "./events.ts";
import { labels, quantity, scaleFor, ticks } from "./format.ts";
import { LANE_COLOURS } from "./kind.ts";
import type { Layer, Model, Panel } from "./panels.ts";
import type { Palette, Rect, Surface } from "./surface.ts";
import type { View } from "./view.ts";

/** Counts of what was drawn. */
export interface Work {
  points: number;
  bars: number;
}

/** Maps nanoseconds and values to pixels. */
export interface Mapping {
  x(ns: number): number;
  y(value: number): number;
}

export function mapping(rect: Rect, view: View, low: number, high: number): Mapping {
  const across = rect.width / (view.end - view.start);
  const down = rect.height / (high - low);
  return {
    x: (ns) => rect.left + (ns - view.start) * across,
    y: (value) => rect.top + rect.height - (value - low) * down,
  };
}

/** Height of an event lane in pixels. */
export const LANE_HEIGHT = 18;
/** Events closer than this share a badge with their number. */
const BADGE = 18;

export class Scene {
  readonly work: Work = { points: 0, bars: 0 };

  constructor(
    private readonly surface: Surface,
    private readonly palette: Palette,
    private readonly model: Model,
    private readonly view: View,
    /** Device pixels per CSS pixel: a line has as many columns as the screen. */
    private readonly density: number,
  ) {}

  /** Draws shaded loss episodes, and the frame. */
  background(rect: Rect): void {
    const { surface, palette, view } = this;
    const { x } = mapping(rect, view, 0, 1);
    for (const episode of this.model.track.episodes) {
      if (episode.end < view.start || episode.start > view.end) continue;
      const left = Math.max(x(episode.start), rect.left);
      const width = Math.max(Math.min(x(episode.end), rect.left + rect.width) - left, 1.5);
      // Faint where it fills the plot, so that it hides nothing; visible where it is a thin line.
      const shade = [left, rect.top, width, rect.height];
      surface.clipped(rect, () => surface.rects(shade, palette("bad"), width > 40 ? 0.06 : 0.16));
    }
  }

  /** Draws a line at each round value, with its label on the left. */
  values(panel: Panel, rect: Rect, low: number, high: number): void {
    const { surface, palette } = this;
    const { y } = mapping(rect, this.view, low, high);
    const values = ticks(low, high, rect.height / 38);
    const scale = scaleFor(panel.unit, Math.max(...values.map(Math.abs), 0));
    const texts = labels(values, scale.factor);
    values.forEach((value, i) => {
      const at = Math.round(y(value)) + 0.5;
      surface.line([rect.left, at, rect.left + rect.width, at], palette("hair"), 1);
      surface.text(rect.left - 6, at, texts[i], palette("dim"), "right");
      // The unit is on its own line: next to the number there is no space on a phone.
      if (i === values.length - 1) surface.text(rect.left - 6, at + 12, scale.name, palette("dim"), "right");
    });
  }

  /** Draws time labels below the last panel, and lines in this rectangle. */
  times(rect: Rect, labelled: boolean): void {
    const { surface, palette, view } = this;
    const values = ticks(view.start / 1e9, view.end / 1e9, rect.width / 90);
    const { x } = mapping(rect, view, 0, 1);
    const bottom = rect.top + rect.height;
    const texts = labels(values, 1);
    values.forEach((value, i) => {
      const at = Math.round(x(value * 1e9)) + 0.5;
      if (at < rect.left || at > rect.left + rect.width) return;
      surface.line([at, rect.top, at, bottom], palette("hair"), 1);
      const text = i === values.length - 1 ? `${texts[i]} s` : texts[i];
      if (labelled) surface.text(at, bottom + 11, text, palette("dim"), "center");
    });
  }

  /** Draws the lines and levels of a panel. */
  lines(panel: Panel, rect: Rect, low: number, high: number): void {
    const { surface, palette } = this;
    surface.clipped(rect, () => {
      for (const layer of panel.layers) {
        if (!panel.hidden.has(layer.name)) this.layer(layer, rect, low, high);
      }
    });
    const { y } = mapping(rect, this.view, low, high);
    for (const level of panel.levels) {
      if (level.value > high || level.value < low) continue;
      const at = y(level.value);
      surface.line([rect.left, at, rect.left + rect.width, at], palette("ink"), 1, [5, 4]);
      const above = at - 8 < rect.top ? at + 8 : at - 8;
      const label = `${level.name} ${quantity(level.value, panel.unit)}`;
      const width = label.length * 6.2;
      surface.rects([rect.left + rect.width - 7 - width, above - 7, width + 4, 14], palette("paper"), 0.75);
      surface.text(rect.left + rect.width - 5, above, label, palette("ink"), "right", true);
    }
  }

  private layer(layer: Layer, rect: Rect, low: number, high: number): void {
    const { x, y } = mapping(rect, this.view, low, high);
    const points = layer.drawn.points(this.view, Math.max(Math.round(rect.width * this.density), 1));
    this.work.points += points.length / 2;
    const isSparse = points.length / 2 < rect.width / 5;
    const pixels: number[] = [];
    for (let i = 0; i < points.length; i += 2) {
      const at = x(points[i]);
      if (layer.style === "steps" && pixels.length > 1 && at > pixels[pixels.length - 2] + 0.5) {
        pixels.push(at, pixels[pixels.length - 1]);
      }
      pixels.push(at, y(points[i + 1]));
    }
    bringNear(pixels, rect.left - FAR, rect.left + rect.width + FAR);
    const colour = this.palette(layer.colour);
    if (layer.style === "marks") this.surface.rects(crosses(pixels, isSparse ? 4 : 2), colour, 1);
    else if (layer.style === "dots") this.surface.dots(pixels, colour, isSparse ? 4 : 2);
    else this.surface.line(pixels, colour, layer.style === "steps" ? 1.2 : 1.4);
    if (layer.style === "samples" && isSparse) this.surface.dots(pixels, colour, 4);
  }

  /** Draws the bars of the sequence panel without a graphics card. */
  bars(panel: Panel, rect: Rect, low: number, high: number): void {
    const columns = Math.max(Math.round(rect.width), 1);
    this.surface.clipped(rect, () => {
      for (const layer of panel.bars) {
        if (panel.hidden.has(layer.name)) continue;
        const { bars, least } = layer.bars(this.view, columns);
        this.surface.rects(this.boxes(bars, least, rect, low, high), this.palette(layer.colour), 1);
      }
    });
  }

  private boxes(bars: Bars, least: [number, number], rect: Rect, low: number, high: number): number[] {
    const { x, y } = mapping(rect, this.view, low, high);
    const boxes: number[] = [];
    for (let i = bars.from; i < bars.to; i++) {
      if (bars.at[i] < this.view.start || bars.at[i] > this.view.end) continue;
      const height = Math.max(y(bars.start[i]) - y(bars.stop[i]), least[1]);
      const middle = (y(bars.start[i]) + y(bars.stop[i])) / 2;
      boxes.push(x(bars.at[i]) - least[0] / 2, middle - height / 2, least[0], height);
      this.work.bars++;
    }
    return boxes;
  }

  /** Draws a lane of rare events: a mark each, or a badge with their number where they overlap. */
  lane(lane: LaneEvents, rect: Rect): void {
    const { surface, palette, view } = this;
    const { x } = mapping(rect, view, 0, 1);
    const middle = rect.top + rect.height / 2;
    surface.text(rect.left - 6, middle, lane.lane, palette("dim"), "right");
    const colour = palette(LANE_COLOURS[lane.lane]);
    for (const cluster of lane.clusters(view, clusterGap(view, rect))) {
      const at = x(cluster.at);
      if (cluster.count === 1) {
        surface.rects([at - 1.5, rect.top + 3, 3, rect.height - 6], colour, 1);
      } else {
        const text = cluster.count < 1000 ? String(cluster.count) : `${(cluster.count / 1000).toFixed(cluster.count < 9950 ? 1 : 0)}k`;
        const width = 5 + 6.4 * text.length;
        surface.rects([at - width / 2, rect.top + 2, width, rect.height - 4], colour, 1);
        surface.text(at, middle + 0.5, text, palette("paper"), "center", true);
      }
      this.work.bars++;
    }
  }
}

/** A cross around each point, easily distinguished from dots. */
function crosses(pixels: readonly number[], arm: number): number[] {
  const rects: number[] = [];
  for (let i = 0; i < pixels.length; i += 2) {
    const [x, y] = [pixels[i], pixels[i + 1]];
    rects.push(x - arm, y - 0.75, 2 * arm, 1.5, x - 0.75, y - arm, 1.5, 2 * arm);
  }
  return rects;
}

/** Some canvases draw incorrectly from 2^15 pixels on. */
const FAR = 4000;

/** Moves ends of a line that are far outside along it to `from` and `to`. */
export function bringNear(pixels: number[], from: number, to: number): void {
  const move = (i: number, other: number, x: number): void => {
    const share = (x - pixels[i]) / (pixels[other] - pixels[i]);
    pixels[i + 1] += share * (pixels[other + 1] - pixels[i + 1]);
    pixels[i] = x;
  };
  const last = pixels.length - 2;
  // Only the first and last point, and the step corners next to them, are outside the view.
  for (const i of [0, 2]) if (i < last && pixels[i] < from && pixels[i + 2] > from) move(i, i + 2, from);
  for (const i of [last - 2, last]) if (i > 0 && pixels[i] > to && pixels[i - 2] <= to) move(i, i - 2, to);
}

/** Nanoseconds within which events share a badge; a four-digit badge fits. */
export function clusterGap(view: View, rect: Rect): number {
  return ((view.end - view.start) / rect.width) * BADGE * 1.6;
}
