import { labels, scaleFor, ticks, type Unit } from "../format.ts";
import { FONT, type Rect } from "../surface.ts";
import type { Tick } from "../axis.ts";
import { writeLabel } from "./label.ts";
import type { Colours } from "../colours.ts";
import { LOSS_CLASSES, lossClass } from "./loss.ts";
import { heightOf, type Scale, valueTicks } from "./scale.ts";
import type { Piece } from "./tiles.ts";
import { MEDIAN, SHARES } from "./wire.ts";

/** Parameters of a drawing. */
export interface Scene {
  rect: Rect;
  /** Rectangle below the plot for the loss marks. */
  rug: Rect;
  from: number;
  to: number;
  scale: Scale;
  unit: Unit;
}

/** Pairs of quantiles from the outside in, and the smoke color between them. */
const BANDS: readonly [number, number, string][] = [
  [0, 8, "smoke1"],
  [1, 7, "smoke2"],
  [2, 6, "smoke3"],
  [3, 5, "smoke4"],
];
/** A line continues to the next column if that is no further than this many usual steps. */
const HOLD = 1.6;

/** Position and width of a column in pixels. */
type Draw = (columns: Piece["tile"]["columns"], i: number, x: number, width: number) => void;

/** Iterates over the columns with probes. */
export function eachColumn(pieces: readonly Piece[], scene: Pick<Scene, "rect" | "from" | "to">, draw: Draw): void {
  const { rect, from, to } = scene;
  const perSecond = rect.width / (to - from);
  // At whole device pixels: otherwise seams between columns appear as stripes.
  const density = Math.min(devicePixelRatio, 2);
  const whole = (x: number): number => Math.round(x * density) / density;
  for (const { tile, first, last } of pieces) {
    const { columns, width, filled, pace } = tile;
    const reach = pace * HOLD;
    for (let n = lowerBound(filled, first); n < filled.length && filled[n] < last; n++) {
      const i = filled[n];
      const next = n + 1 < filled.length ? filled[n + 1] : Infinity;
      const steps = Math.max(1, Math.min(next - i, reach));
      const x = rect.left + (columns.from + i * width - from) * perSecond;
      const left = whole(x);
      draw(columns, i, left, Math.max(whole(x + steps * width * perSecond) - left, 1 / density));
    }
  }
}

function lowerBound(values: readonly number[], least: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Draws a series as smoke: bands, envelope, median, clipped peaks, loss. */
export function paintSmoke(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: Colours): void {
  const { rect, scale } = scene;
  const y = heightOf(scale, rect.top, rect.height);
  context.save();
  context.beginPath();
  context.rect(rect.left, rect.top - 6, rect.width, rect.height + 6 + 4 + scene.rug.height);
  context.clip();
  for (const [low, high, name] of BANDS) {
    context.fillStyle = colour(name);
    eachColumn(pieces, scene, ({ quantiles }, i, x, width) => {
      const top = y(quantiles[high][i]);
      context.fillRect(x, top, width, y(quantiles[low][i]) - top);
    });
  }
  paintEnvelope(context, pieces, scene, colour);
  paintMedian(context, pieces, scene, colour);
  paintLoss(context, pieces, scene, colour);
  context.restore();
}

/** The maximum of each column, so that a spike of one probe stays visible at every zoom. */
function paintEnvelope(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: Colours): void {
  const { rect, scale } = scene;
  const y = heightOf(scale, rect.top, rect.height);
  context.fillStyle = colour("envelope");
  const cut: number[] = [];
  eachColumn(pieces, scene, ({ max, quantiles }, i, x, width) => {
    if (Number.isNaN(max[i])) return;
    const top = y(max[i]);
    context.globalAlpha = 0.5;
    context.fillRect(x, top, width, y(quantiles[SHARES.length - 1][i]) - top);
    context.globalAlpha = 1;
    context.fillRect(x, top - 0.5, width, 1);
    if (max[i] > scale.high) cut.push(x + width / 2);
  });
  context.fillStyle = colour("cut");
  let last = -Infinity;
  for (const x of cut) {
    if (x - last < 5) continue;
    last = x;
    context.beginPath();
    context.moveTo(x, rect.top - 5);
    context.lineTo(x - 3.5, rect.top + 1);
    context.lineTo(x + 3.5, rect.top + 1);
    context.fill();
  }
}

function paintMedian(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: Colours): void {
  const y = heightOf(scene.scale, scene.rect.top, scene.rect.height);
  paintSteps(context, pieces, scene, colour("ink"));
  // Loss is drawn last, so that a column without loss does not cover one with loss.
  LOSS_CLASSES.forEach(({ colour: name, thickness }, wanted) => {
    context.fillStyle = colour(name);
    eachColumn(pieces, scene, (columns, i, x, width) => {
      const median = columns.quantiles[MEDIAN][i];
      if (Number.isNaN(median) || lossClass(lossOf(columns, i)) !== wanted) return;
      context.fillRect(x, y(median) - thickness / 2, Math.max(width, thickness), thickness);
    });
  });
}

/** Connects the medians of adjacent columns, so that the line is visible in the smoke. */
function paintSteps(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: string): void {
  const y = heightOf(scene.scale, scene.rect.top, scene.rect.height);
  context.fillStyle = colour;
  context.globalAlpha = 0.35;
  let [before, end] = [NaN, -Infinity];
  eachColumn(pieces, scene, ({ quantiles }, i, x, width) => {
    const at = y(quantiles[MEDIAN][i]);
    if (x - end < 1 && !Number.isNaN(at - before)) context.fillRect(x - 0.5, Math.min(before, at), 1, Math.abs(before - at));
    [before, end] = [at, x + width];
  });
  context.globalAlpha = 1;
}

function lossOf(columns: Piece["tile"]["columns"], i: number): number {
  return columns.sent[i] > 0 ? columns.lost[i] / columns.sent[i] : 0;
}

/**
 * Total loss is a hatched band over the full height; other loss is a bar below the plot, as high as
 * its share.
 */
function paintLoss(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: Colours): void {
  const { rect, rug } = scene;
  const hatching = hatch(context, colour("loss4"));
  eachColumn(pieces, scene, (columns, i, x, width) => {
    const ratio = lossOf(columns, i);
    if (ratio === 1) {
      context.fillStyle = hatching;
      context.fillRect(x, rect.top, Math.max(width, 1), rect.height);
    }
    if (ratio > 0) {
      context.fillStyle = colour(ratio === 1 ? "loss4" : LOSS_CLASSES[lossClass(ratio)].colour);
      const height = Math.max(3, rug.height * Math.min(1, Math.sqrt(ratio)));
      context.fillRect(x, rug.top + rug.height - height, Math.max(width, 1.5), height);
    } else if (columns.sent[i] === 0) {
      context.fillStyle = colour("unasked");
      context.fillRect(x, rug.top + rug.height - 2, Math.max(width, 1), 2);
    }
  });
}

let hatchOf: { colour: string; pattern: CanvasPattern | string } | undefined;

function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  if (hatchOf?.colour === colour) return hatchOf.pattern;
  const size = 8;
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const to = tile.getContext("2d") as CanvasRenderingContext2D;
  to.globalAlpha = 0.12;
  to.fillStyle = colour;
  to.fillRect(0, 0, size, size);
  to.globalAlpha = 0.75;
  to.strokeStyle = colour;
  to.lineWidth = 1.2;
  for (const shift of [-size, 0, size]) {
    to.beginPath();
    to.moveTo(shift, size);
    to.lineTo(shift + size, 0);
    to.stroke();
  }
  hatchOf = { colour, pattern: context.createPattern(tile, "repeat") ?? colour };
  return hatchOf.pattern;
}

/** Draws a level (bits per second, bytes): the typical value as an area, the maximum as a line. */
export function paintLevel(context: CanvasRenderingContext2D, pieces: readonly Piece[], scene: Scene, colour: string): void {
  const { rect, scale } = scene;
  const y = heightOf(scale, rect.top, rect.height);
  const bottom = rect.top + rect.height;
  context.save();
  context.beginPath();
  context.rect(rect.left, rect.top - 1, rect.width, rect.height + 1);
  context.clip();
  context.fillStyle = colour;
  eachColumn(pieces, scene, ({ quantiles, max }, i, x, width) => {
    const usual = y(quantiles[MEDIAN][i]);
    context.globalAlpha = 0.35;
    context.fillRect(x, usual, width, bottom - usual);
    context.globalAlpha = 1;
    context.fillRect(x, y(max[i]) - 0.75, Math.max(width, 1), 1.5);
  });
  context.restore();
}

/** Grid lines and labels of both axes. */
export function paintFrame(context: CanvasRenderingContext2D, scene: Scene, times: readonly Tick[], isLast: boolean, colour: Colours): void {
  const { rect, scale, from, to } = scene;
  context.font = `11px ${FONT}`;
  context.textBaseline = "middle";
  const y = heightOf(scale, rect.top, rect.height);
  const values = scale.kind === "log" ? valueTicks(scale, rect.height / 26) : ticks(0, scale.high, Math.max(2, rect.height / 34));
  const { factor, name } = scaleFor(scene.unit, scene.unit === "seconds" && scale.high < 10 && scale.high >= 1e-3 ? 1e-3 : scale.high);
  const texts = scale.kind === "log" ? values.map((value) => String(Number((value / factor).toPrecision(3)))) : labels(values, factor);
  values.forEach((value, n) => {
    const at = Math.round(y(value)) + 0.5;
    context.fillStyle = colour("hair");
    context.fillRect(rect.left, at - 0.5, rect.width, 1);
    context.fillStyle = colour("dim");
    context.textAlign = "right";
    writeLabel(context, n === values.length - 1 ? `${texts[n]} ${name}` : (texts[n] ?? ""), rect.left - 6, at);
  });
  const bottom = scene.rug.top + scene.rug.height;
  context.textAlign = "center";
  for (const tick of times) {
    const x = rect.left + ((tick.at - from) / (to - from)) * rect.width;
    context.fillStyle = colour(tick.major ? "grid" : "hair");
    context.fillRect(Math.round(x), rect.top, 1, bottom - rect.top);
    if (!isLast) continue;
    context.fillStyle = colour(tick.major ? "ink" : "dim");
    const half = context.measureText(tick.label).width / 2;
    if (x - half > rect.left - 30 && x + half < rect.left + rect.width + 12) writeLabel(context, tick.label, x, bottom + 12);
  }
  context.fillStyle = colour("grid");
  context.fillRect(rect.left, rect.top + rect.height, rect.width, 1);
}
