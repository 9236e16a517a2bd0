import { colours } from "../colours.ts";
import { make } from "../dom.ts";
import { quantity, thousands } from "../format.ts";
import type { Cell, Plot, Point } from "./api.ts";
import { Chart, groupColour, MOST_GROUPS } from "./chart.ts";
import { decades, type LogScale, logScale, share } from "./logscale.ts";
import { hashOf, type Place } from "./place.ts";
import { counted } from "./words.ts";

const MARGIN = { left: 64, right: 14, top: 12, bottom: 30 };
/** Delays of the diagonals, in seconds, and their names. */
const DELAYS: [number, string][] = [
  [0.001, "1 ms"],
  [0.01, "10 ms"],
  [0.1, "100 ms"],
  [1, "1 s"],
  [10, "10 s"],
  [100, "100 s"],
];
/** A cell of a density is 2^(1/8) wide. */
const CELL = 2 ** (1 / 8);
/** Distance at which a point is meant, in pixels. */
const NEAR = 12;
const POINT = 3;

/** A power of ten without decimals. */
function whole(text: string): string {
  return text.replace(/\.0+ /, " ");
}

/** The scales of both axes, and where a value is. */
class Area {
  constructor(
    private readonly rates: LogScale,
    private readonly buffers: LogScale,
    private readonly chart: Chart,
  ) {}

  get right(): number {
    return this.chart.width - MARGIN.right;
  }

  get bottom(): number {
    return this.chart.height - MARGIN.bottom;
  }

  x(rate: number): number {
    return MARGIN.left + share(this.rates, rate) * (this.right - MARGIN.left);
  }

  y(buffer: number): number {
    return this.bottom - share(this.buffers, buffer) * (this.bottom - MARGIN.top);
  }

  /** Axes, and lines of equal delay. */
  frame(context: CanvasRenderingContext2D): void {
    context.fillStyle = colours("dim");
    context.strokeStyle = colours("hair");
    context.lineWidth = 1;
    context.textAlign = "center";
    for (const rate of decades(this.rates)) {
      this.stroke(context, [this.x(rate), MARGIN.top], [this.x(rate), this.bottom]);
      context.fillText(whole(quantity(rate, "rate")), Math.min(this.x(rate), this.right - 24), this.bottom + 16);
    }
    context.textAlign = "right";
    for (const buffer of decades(this.buffers)) {
      this.stroke(context, [MARGIN.left, this.y(buffer)], [this.right, this.y(buffer)]);
      context.fillText(whole(quantity(buffer, "bytes")), MARGIN.left - 8, this.y(buffer));
    }
    for (const [delay, name] of DELAYS) this.diagonal(context, delay, name);
  }

  private stroke(context: CanvasRenderingContext2D, from: readonly [number, number], to: readonly [number, number]): void {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  }

  private diagonal(context: CanvasRenderingContext2D, delay: number, name: string): void {
    const { rates, buffers } = this;
    const bytes = (rate: number): number => (rate * delay) / 8;
    const first = Math.max(rates.low, (buffers.low * 8) / delay);
    const last = Math.min(rates.high, (buffers.high * 8) / delay);
    if (first >= last) return;
    context.save();
    context.strokeStyle = colours("dim");
    context.setLineDash([4, 4]);
    this.stroke(context, [this.x(first), this.y(bytes(first))], [this.x(last), this.y(bytes(last))]);
    context.restore();
    // Below its upper end, on the left of it near the edge.
    const [x, y] = [this.x(last), this.y(bytes(last))];
    const isNearEdge = x > this.right - 50;
    context.textAlign = isNearEdge ? "right" : "left";
    context.fillText(name, isNearEdge ? x - 6 : x + 6, y + (isNearEdge ? 16 : 9));
  }
}

/** The scatter plot of capacity and buffer: each line as a point, or their density. */
export function showBuffers(plot: Plot, place: Place): HTMLElement[] {
  const all: { rate_bits_per_second: number; buffer_bytes: number }[] = plot.points.length > 0 ? plot.points : plot.cells;
  const rates = logScale(all.map((one) => one.rate_bits_per_second));
  const buffers = logScale(all.map((one) => one.buffer_bytes));
  if (!rates || !buffers) return [make("h1", {}, "No site was tested.")];
  const { lines, bloated } = plot;
  const drain = (one: Point): number => (8 * one.buffer_bytes) / one.rate_bits_per_second;
  const groups = groupsOf(plot.points);
  let area: Area | undefined;
  const chart = new Chart(`Capacity against buffer of ${counted(lines, "line", "lines")}`, (context, self) => {
    area = new Area(rates, buffers, self);
    context.clearRect(0, 0, self.width, self.height);
    area.frame(context);
    paintCells(context, area, plot.cells);
    paintPoints(context, area, plot.points, groups);
  });
  const near = (at: { x: number; y: number }): Point | undefined => {
    const { found } = plot.points.reduce<{ found: Point | undefined; least: number }>(
      (best, point) => {
        const distance = area ? Math.hypot(area.x(point.rate_bits_per_second) - at.x, area.y(point.buffer_bytes) - at.y) : Infinity;
        return distance < best.least ? { found: point, least: distance } : best;
      },
      { found: undefined, least: NEAR },
    );
    return found;
  };
  let under: Point | undefined;
  chart.follow((at) => {
    under = at && near(at);
    chart.canvas.style.cursor = under ? "pointer" : "";
    const text = (point: Point): string =>
      `${point.site}${point.group ? `, ${point.group}` : ""}: ${quantity(point.rate_bits_per_second, "rate")}, ${quantity(point.buffer_bytes, "bytes")}, ${quantity(drain(point), "seconds")} when full`;
    chart.note.textContent = under ? text(under) : hint(plot);
  });
  chart.canvas.addEventListener("click", () => {
    if (under) location.hash = hashOf({ ...place, view: "site", site: under.site });
  });
  chart.note.textContent = hint(plot);
  const verdict = `${thousands(bloated)} of ${counted(lines, "buffer", "buffers")} ${bloated === 1 ? "is" : "are"} bloated.`;
  return [make("h1", {}, verdict), make("section", { class: "card" }, make("h2", {}, `Buffer by rate, ${place.direction}load; lines: delay when full`), chart.element, legend(groups, place.by))];
}

function hint(plot: Plot): string {
  return plot.points.length > 0 ? "Point at a line for its values; click for its tests." : "Darker cells have more lines.";
}

/** The groups with the most lines, each with its number. */
function groupsOf(points: readonly Point[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { group } of points) counts.set(group, (counts.get(group) ?? 0) + 1);
  const largest = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return new Map(largest.slice(0, MOST_GROUPS).map(([name], number) => [name, number]));
}

function paintPoints(context: CanvasRenderingContext2D, area: Area, points: readonly Point[], groups: ReadonlyMap<string, number>): void {
  context.globalAlpha = points.length > 2_000 ? 0.35 : 0.7;
  for (const point of points) {
    context.fillStyle = groupColour(groups.get(point.group) ?? MOST_GROUPS);
    context.beginPath();
    context.arc(area.x(point.rate_bits_per_second), area.y(point.buffer_bytes), points.length > 2_000 ? POINT - 1 : POINT, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

function paintCells(context: CanvasRenderingContext2D, area: Area, cells: readonly Cell[]): void {
  const most = Math.log(1 + cells.reduce((most, cell) => Math.max(most, cell.lines), 0));
  context.fillStyle = colours("down");
  for (const { rate_bits_per_second: rate, buffer_bytes: buffer, lines } of cells) {
    const [x, y] = [area.x(rate), area.y(buffer)];
    context.globalAlpha = 0.12 + (0.88 * Math.log(1 + lines)) / most;
    context.fillRect(x, area.y(buffer * CELL), Math.max(area.x(rate * CELL) - x, 1), Math.max(y - area.y(buffer * CELL), 1));
  }
  context.globalAlpha = 1;
}

function legend(groups: ReadonlyMap<string, number>, by: string): HTMLElement {
  if (!by) return make("p", { class: "legend", hidden: "" });
  const key = ([name, number]: [string, number]): HTMLElement => {
    const mark = make("span", { class: "key" });
    mark.style.background = groupColour(number);
    return make("span", {}, mark, name || "without");
  };
  return make("p", { class: "legend" }, ...[...groups].map(key), ...(groups.size === MOST_GROUPS ? [make("span", {}, "others gray")] : []));
}
