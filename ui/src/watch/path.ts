import { make } from "../dom.ts";
import { quantity } from "../format.ts";
import { FONT } from "../surface.ts";
import { api, type Series, type WatchEvent } from "./api.ts";
import { moment, timeTicks } from "../axis.ts";
import { colours } from "../colours.ts";
import { BOUNDS_S, type HopCell, hopCells, hopNumber, levelOf } from "./hops.ts";
import type { View } from "./view.ts";

const ROW = 18;
/** Width of the names of the hops; on a phone, only their numbers have room. */
const NAMES = 172;
const NUMBERS = 24;
const NARROW = 480;
const TOP = 8;
const BOTTOM = 20;
const COLUMNS = 200;
/** Colors and opacities of the levels, as in the charts of a test. */
const LEVELS: readonly [string, number][] = [
  ["good", 0.18],
  ["good", 0.4],
  ["good", 0.65],
  ["good", 1],
  ["fair", 1],
  ["bad", 0.6],
  ["bad", 0.8],
  ["bad", 1],
];

interface Hop {
  series: number;
  name: string;
}

/** The hops of a path over time, each colored by its queueing delay. */
export class PathChart {
  readonly element = make("section", { class: "card path", hidden: "" });
  private readonly canvas = make("canvas", { tabindex: "0", role: "application" });
  private readonly told = make("p", { class: "told", role: "status" });
  private hops: Hop[] = [];
  private rows: HopCell[][] = [];
  private view: View | undefined;
  private loads: readonly WatchEvent[] = [];
  private asked = "";
  private loading = new AbortController();
  /** Where the cells begin. */
  private left = NAMES;
  /** The cell that the reader chose, if any. */
  private cell: { column: number; row: number } | undefined;

  /** `addressOf` gives the address of the router of a series, if it is known. */
  constructor(private readonly addressOf: (series: number) => string) {
    const body = make("div", { class: "scroll" }, this.canvas);
    this.element.append(make("h2", {}, "Queueing delay by hop"), body, this.told, key());
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Shows the hops among the series of a target. */
  of(target: string, all: readonly Series[]): void {
    const hops = all.filter((series) => series.target === target && hopNumber(series.probe) !== undefined);
    hops.sort((a, b) => (hopNumber(a.probe) ?? 0) - (hopNumber(b.probe) ?? 0));
    this.hops = hops.map(({ series, probe }) => ({ series, name: probe }));
    this.element.hidden = hops.length === 0;
    this.canvas.setAttribute("aria-label", `${target}: queueing delay of each hop over time. The arrow keys move between hops and times and announce their values.`);
    this.asked = "";
    this.loading.abort();
    this.rows = [];
    this.cell = undefined;
  }

  /** Loads the period, and marks speed tests in it. */
  around(view: View, events: readonly WatchEvent[]): void {
    this.loads = events.filter((event) => event.report !== null && event.until_s !== null);
    if (this.hops.length === 0) return;
    // A live view moves every second; a column is enough here.
    const column = (view.to - view.from) / COLUMNS;
    const step = Math.max(column, 5);
    const rounded = { from: Math.floor(view.from / step) * step, to: Math.ceil(view.to / step) * step };
    const asked = `${this.hops.map((hop) => hop.series).join()} ${rounded.from} ${rounded.to}`;
    if (asked === this.asked) return this.draw();
    this.asked = asked;
    this.loading.abort();
    this.loading = new AbortController();
    void this.load(rounded, this.loading.signal);
  }

  private async load(view: View, signal: AbortSignal): Promise<void> {
    try {
      const columns = await Promise.all(this.hops.map((hop) => api.smoke(hop.series, view.from, view.to, COLUMNS, signal)));
      if (signal.aborted) return;
      this.rows = hopCells(columns);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      this.told.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    this.view = view;
    this.tell();
    this.draw();
  }

  draw(): void {
    const context = this.canvas.getContext("2d");
    const width = this.element.clientWidth - 36;
    this.left = width < NARROW ? NUMBERS : NAMES;
    if (!context || !this.view || this.rows.length === 0 || width < this.left + 50) return;
    const height = TOP + this.rows.length * ROW + BOTTOM;
    const density = Math.min(devicePixelRatio, 2);
    [this.canvas.width, this.canvas.height] = [Math.round(width * density), Math.round(height * density)];
    [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${height}px`];
    context.setTransform(density, 0, 0, density, 0, 0);
    const step = (width - this.left) / COLUMNS;
    // Whole pixels, so that no lines are between translucent cells.
    const left = (column: number): number => Math.round(this.left + column * step);
    this.rows.forEach((cells, row) => cells.forEach((cell, column) => paint(context, cell, left(column), TOP + row * ROW, left(column + 1) - left(column))));
    this.labels(context);
    this.times(context, this.view, width, height);
    if (document.activeElement !== this.canvas || !this.cell) return;
    context.strokeStyle = colours("ink");
    context.lineWidth = 2;
    context.strokeRect(this.left + this.cell.column * step - 1, TOP + this.cell.row * ROW, step + 2, ROW - 1);
  }

  private labels(context: CanvasRenderingContext2D): void {
    context.font = `12px ${FONT}`;
    context.fillStyle = colours("ink");
    context.textBaseline = "middle";
    context.textAlign = "left";
    const name = (hop: Hop): string => (this.left === NUMBERS ? number(hop) : this.label(hop));
    this.hops.forEach((hop, row) => context.fillText(name(hop), 0, TOP + row * ROW + ROW / 2, this.left - 8));
  }

  private label(hop: Hop): string {
    return `${number(hop)} ${this.addressOf(hop.series)}`.trim();
  }

  /** The time axis, and speed tests above the hops. */
  private times(context: CanvasRenderingContext2D, { from, to }: View, width: number, height: number): void {
    const x = (at: number): number => this.left + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (width - this.left);
    context.fillStyle = colours("both");
    for (const { at_s, until_s } of this.loads) {
      if (at_s < to && (until_s ?? at_s) > from) context.fillRect(x(at_s), 0, Math.max(x(until_s ?? at_s) - x(at_s), 3), TOP - 3);
    }
    context.font = `11px ${FONT}`;
    context.fillStyle = colours("dim");
    context.textAlign = "center";
    for (const tick of timeTicks(from, to, Math.max(2, (width - this.left) / 84))) {
      const at = x(tick.at);
      if (at > this.left + 20 && at < width - 20) context.fillText(tick.label, at, height - BOTTOM / 2);
    }
  }

  private point(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left - this.left) / (box.width - this.left)) * COLUMNS);
    const row = Math.floor((event.clientY - box.top - TOP) / ROW);
    if (column < 0 || column >= COLUMNS || row < 0 || row >= this.rows.length) return;
    this.cell = { column, row };
    this.tell();
  }

  private press(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const move = moves[event.key];
    if (!move || this.rows.length === 0) return;
    event.preventDefault();
    const within = (value: number, count: number): number => Math.min(Math.max(value, 0), count - 1);
    const { column, row } = this.cell ?? { column: 0, row: 0 };
    this.cell = { column: within(column + move[0], COLUMNS), row: within(row + move[1], this.rows.length) };
    this.tell();
    this.draw();
  }

  private tell(): void {
    const cell = this.cell && this.rows[this.cell.row]?.[this.cell.column];
    if (!this.view || !this.cell || !cell) {
      this.told.textContent = "Point at a hop for its values.";
      return;
    }
    const width = (this.view.to - this.view.from) / COLUMNS;
    const texts: Record<HopCell["kind"], string> = { none: "no data", lost: "no reply", delay: "" };
    const text = cell.kind === "delay" ? `median ${quantity(cell.median, "seconds")}, queueing delay ${quantity(cell.added, "seconds")}` : texts[cell.kind];
    this.told.textContent = `${moment(this.view.from + this.cell.column * width, width)}, hop ${this.label(this.hops[this.cell.row])}: ${text}`;
  }
}

function number(hop: Hop): string {
  return hop.name.replace("hop ", "");
}

function paint(context: CanvasRenderingContext2D, cell: HopCell, left: number, top: number, width: number): void {
  if (cell.kind === "none") return;
  const [colour, opacity] = cell.kind === "lost" ? ["hair", 1] as const : LEVELS[levelOf(cell.added)];
  context.fillStyle = colours(colour);
  context.globalAlpha = opacity;
  context.fillRect(left, top, width, ROW - 2);
  context.globalAlpha = 1;
}

function key(): HTMLElement {
  const names = [...BOUNDS_S.map((bound) => `< ${bound * 1e3}`), "more"];
  const parts = LEVELS.map(([colour, opacity], level) => {
    const box = make("i", { class: "key" });
    box.style.background = `color-mix(in srgb, var(--${colour}) ${opacity * 100}%, transparent)`;
    return make("span", {}, box, names[level]);
  });
  const line = (style: string): HTMLElement => {
    const box = make("i", { class: "key" });
    box.style.background = `var(--${style})`;
    return box;
  };
  return make("p", { class: "legend" }, make("b", {}, "Milliseconds:"), ...parts, make("span", {}, line("hair"), "no reply"), make("span", {}, line("both"), "speed test"));
}
