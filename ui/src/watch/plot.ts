import { make } from "../dom.ts";
import { quantity, thousands } from "../format.ts";
import type { Rect } from "../surface.ts";
import { moment, type Tick } from "../axis.ts";
import { colours } from "../colours.ts";
import { percent } from "./loss.ts";
import { eachColumn, paintFrame, paintLevel, paintSmoke, type Scene } from "./paint.ts";
import { heightOf, type ScaleKind, scaleOf } from "./scale.ts";
import type { Piece } from "./tiles.ts";
import type { View } from "./view.ts";
import { MEDIAN, SHARES } from "./wire.ts";
import type { Unit } from "../format.ts";

/** Space for value labels in pixels; less on a phone. */
export const GUTTER = 58;
const RIGHT = 10;
const TOP = 10;
const RUG = 14;
const AXIS = 22;
const MOST_DENSITY = 2;
/** Below this, values are the instrument's own noise. */
const LEAST_TOP: Record<Unit, number> = { seconds: 0.0002, rate: 1_000, bytes: 1_500, plain: 1 };

/** The values of one column, for display as text. */
export interface Reading {
  at: number;
  width: number;
  sent: number;
  lost: number;
  late: number;
  failed: number;
  min: number;
  median: number;
  p95: number;
  p99: number;
  max: number;
}

/** One series on the time axis: heading, plot, and the values under the cursor. */
export class Plot {
  readonly element: HTMLElement;
  readonly heading = make("div", { class: "plot-head" });
  private readonly told = make("span", { class: "told" });
  private readonly stage = make("div", { class: "plot-stage" });
  private readonly base = make("canvas", { role: "img" });
  private readonly above = make("canvas", { "aria-hidden": "true" });
  private pieces: Piece[] = [];
  private scene: Scene | undefined;
  private width = 0;
  private height = 0;
  isLast = false;

  constructor(
    readonly series: number,
    readonly name: string,
    readonly unit: Unit,
    extra: readonly Node[],
  ) {
    this.heading.append(make("b", {}, name), this.told, ...extra);
    this.describe(name);
    this.stage.append(this.base, this.above);
    this.element = make("section", { class: unit === "seconds" ? "plot" : "plot level", "aria-label": name }, this.heading, this.stage);
  }

  /** Reads its size from the page; false if it is not attached yet. */
  measure(): boolean {
    const { width, height } = this.stage.getBoundingClientRect();
    const density = Math.min(devicePixelRatio, MOST_DENSITY);
    [this.width, this.height] = [width, height];
    for (const canvas of [this.base, this.above]) {
      const [w, h] = [Math.round(width * density), Math.round(height * density)];
      if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
      canvas.getContext("2d")?.setTransform(density, 0, 0, density, 0, 0);
    }
    return width > 0;
  }

  /** Position of the time axis, in pixels from the stage's left. */
  get axis(): { left: number; width: number } {
    return { left: GUTTER, width: Math.max(this.width - GUTTER - RIGHT, 1) };
  }

  draw(pieces: Piece[], view: View, kind: ScaleKind, ticks: readonly Tick[], missing: string): void {
    const { from, to } = view;
    const context = this.base.getContext("2d");
    if (!context || this.width === 0) return;
    const rugHeight = this.unit === "seconds" ? RUG : 0;
    const height = Math.max(this.height - TOP - rugHeight - (rugHeight ? 4 : 0) - (this.isLast ? AXIS : 4), 20);
    const rect: Rect = { left: this.axis.left, top: TOP, width: this.axis.width, height };
    const rug: Rect = { ...rect, top: TOP + height + (rugHeight ? 4 : 0), height: rugHeight };
    const scale = scaleOf(pieces, this.unit === "seconds" ? kind : "whole", LEAST_TOP[this.unit]);
    const scene: Scene = { rect, rug, from, to, scale, unit: this.unit };
    [this.pieces, this.scene] = [pieces, scene];
    context.clearRect(0, 0, this.width, this.height);
    paintFrame(context, scene, ticks, this.isLast, colours);
    if (this.unit === "seconds") paintSmoke(context, pieces, scene, colours);
    else paintLevel(context, pieces, scene, colours("up"));
    if (!this.pieces.some(({ tile, first, last }) => tile.filled.some((i) => i >= first && i < last))) this.sayEmpty(context, rect, missing);
  }

  private sayEmpty(context: CanvasRenderingContext2D, rect: Rect, missing: string): void {
    context.fillStyle = colours("dim");
    context.textAlign = "center";
    context.fillText(this.pieces.length > 0 ? "No data in this period." : missing, rect.left + rect.width / 2, rect.top + rect.height / 2);
  }

  /** The values at a time. */
  at(moment: number): Reading | undefined {
    const { scene } = this;
    if (!scene) return undefined;
    const x = scene.rect.left + ((moment - scene.from) / (scene.to - scene.from)) * scene.rect.width;
    let found: Reading | undefined;
    eachColumn(this.pieces, scene, (columns, i, left, width) => {
      if (x >= left && x < left + Math.max(width, 1)) found = readingOf(columns, i);
    });
    return found;
  }

  /** All visible columns. */
  readings(): Reading[] {
    const all: Reading[] = [];
    if (this.scene) eachColumn(this.pieces, this.scene, (columns, i) => all.push(readingOf(columns, i)));
    return all;
  }

  /** Draws the cursor and shows the values under it; without a cursor, those of the view. */
  cursor(moment: number | undefined): void {
    const context = this.above.getContext("2d");
    if (!context || !this.scene) return;
    context.clearRect(0, 0, this.width, this.height);
    if (moment === undefined) {
      this.told.textContent = "";
      return;
    }
    const { rect, rug, from, to, scale } = this.scene;
    const x = rect.left + ((moment - from) / (to - from)) * rect.width;
    if (x < rect.left || x > rect.left + rect.width) return;
    context.fillStyle = colours("ink");
    context.globalAlpha = 0.5;
    context.fillRect(Math.round(x), rect.top, 1, rug.top + rug.height - rect.top);
    context.globalAlpha = 1;
    const reading = this.at(moment);
    if (reading && !Number.isNaN(reading.median)) {
      context.beginPath();
      context.arc(Math.round(x) + 0.5, heightOf(scale, rect.top, rect.height)(reading.median), 3.5, 0, 7);
      context.fill();
    }
    this.told.textContent = reading ? readingText(reading, this.unit) : "no data";
  }

  /** Sets the description for screen readers. */
  describe(text: string): void {
    this.base.setAttribute("aria-label", text);
  }
}

type Columns = Piece["tile"]["columns"];

function readingOf(columns: Columns, i: number): Reading {
  const { sent, lost, late, failed, min, max, quantiles } = columns;
  const width = (columns.to - columns.from) / columns.count;
  const share = (q: number): number => quantiles[SHARES.indexOf(q)][i];
  const counts = { sent: sent[i], lost: lost[i], late: late[i], failed: failed[i] };
  const delays = { min: min[i], median: quantiles[MEDIAN][i], p95: share(0.95), p99: share(0.99), max: max[i] };
  return { at: columns.from + i * width, width, ...counts, ...delays };
}

/** A column in words. */
export function readingText(reading: Reading, unit: Unit): string {
  const { sent, lost, late, failed, median, p95, max } = reading;
  if (unit !== "seconds") return sent === 1 ? quantity(median, unit) : `median ${quantity(median, unit)}, max ${quantity(max, unit)}`;
  const parts: string[] = [];
  if (sent === 1 && !Number.isNaN(median)) parts.push(quantity(median, unit));
  else if (!Number.isNaN(median)) parts.push(`median ${quantity(median, unit)}, p95 ${quantity(p95, unit)}, max ${quantity(max, unit)}`);
  if (lost > 0) parts.push(lossText(lost, sent));
  else if (sent > 1) parts.push(`none of ${thousands(sent)} lost`);
  if (late > 0) parts.push(`${thousands(late)} late`);
  if (failed > 0) parts.push(`${thousands(failed)} not sent`);
  return parts.filter((part) => part !== "").join(", ");
}

function lossText(lost: number, sent: number): string {
  if (lost < sent) return `${thousands(lost)} of ${thousands(sent)} lost (${percent(lost / sent)})`;
  return sent === 1 ? "lost" : `all ${thousands(sent)} lost`;
}

/** Headings and cells of a table of readings. */
export const READING_HEADS: readonly string[] = ["Time", "Sent", "Lost", "Min", "Median", "p95", "p99", "Max"];

export function readingCells(reading: Reading, unit: Unit): string[] {
  const { at, width, sent, lost, min, median, p95, p99, max } = reading;
  const loss = sent > 0 ? `${thousands(lost)} (${percent(lost / sent)})` : "–";
  return [moment(at, width), thousands(sent), loss, ...[min, median, p95, p99, max].map((value) => quantity(value, unit))];
}
