import { make } from "../dom.ts";
import { quantity } from "../format.ts";
import { FONT } from "../surface.ts";
import { api, type HeatCell } from "./api.ts";
import { day } from "../axis.ts";
import { colours } from "../colours.ts";
import { percent } from "./loss.ts";
import type { View } from "./view.ts";

const DAY_S = 86_400;
/** At least six weeks, to show a weekly pattern; a year is as wide as a screen. */
const LEAST_DAYS = 42;
const MOST_DAYS = 371;
const ROW = 9;
const LEFT = 44;
const BOTTOM = 20;
const MEASURES: readonly [Measure, string][] = [
  ["p95_s", "95th percentile"],
  ["median_s", "Median"],
  ["max_s", "Maximum"],
  ["loss", "Loss"],
];
type Measure = "p95_s" | "median_s" | "max_s" | "loss";
/**
 * The Cividis color map in steps: uniform in lightness, and readable with color vision deficiency.
 */
const RAMP = ["#00204d", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#e4cf5b", "#ffea46"];

/** Heatmap with a cell per hour and day: shows at what times and on which days it is slow. */
export class Heat {
  readonly element = make("section", { class: "card heat", hidden: "" });
  private readonly canvas = make("canvas", { tabindex: "0", role: "application" });
  private readonly told = make("p", { class: "told", role: "status" });
  private readonly measure = make("select", { "aria-label": "Value shown by the color" });
  private readonly key = make("p", { class: "legend" });
  private readonly title = make("h2");
  private series: number | undefined;
  private cells = new Map<string, HeatCell>();
  private firstDay = 0;
  private days = 0;
  private loaded = "";
  private cell = { day: 0, hour: 0 };

  constructor(private readonly go: (from: number, to: number) => void) {
    this.measure.append(...MEASURES.map(([value, name]) => make("option", { value }, name)));
    this.measure.addEventListener("change", () => this.draw());
    const head = make("div", { class: "tools" }, this.title, make("span", { class: "gap" }), this.measure);
    this.element.append(head, make("div", { class: "scroll" }, this.canvas), this.told, this.key);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("click", (event) => {
      this.point(event);
      this.open();
    });
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  of(series: number | undefined, name: string): void {
    if (this.series !== series) this.loaded = "";
    this.series = series;
    this.element.hidden = series === undefined;
    this.title.textContent = "Hours of the day";
    this.canvas.setAttribute("aria-label", `${name}: each hour of each day. The arrow keys move between hours and announce their values, Enter shows the hour above.`);
  }

  /** Loads the weeks up to the end of the view. */
  around(view: View): void {
    if (this.series === undefined) return;
    const wanted = Math.min(Math.max(Math.ceil((view.to - view.from) / DAY_S), LEAST_DAYS), MOST_DAYS);
    const end = new Date(Math.min(view.to, Date.now() / 1e3) * 1e3);
    end.setHours(24, 0, 0, 0);
    const begin = new Date(end);
    begin.setDate(begin.getDate() - wanted);
    // The latest hour changes, so it is reloaded every ten minutes.
    const key = `${this.series} ${begin.getTime()} ${end.getTime()} ${Math.floor(Date.now() / 600_000)}`;
    if (key === this.loaded) return;
    this.loaded = key;
    if (this.days === 0) this.told.textContent = "Loading …";
    void this.load(begin.getTime() / 1e3, end.getTime() / 1e3, wanted);
  }

  private async load(from: number, to: number, days: number): Promise<void> {
    const series = this.series as number;
    try {
      const parts = await Promise.all(offsets(from, to).map(({ start, end, offset }) => api.heatmap(series, start, end, offset)));
      if (series !== this.series) return;
      this.cells = new Map(parts.flat().map((cell) => [`${cell.day} ${cell.hour}`, cell]));
    } catch {
      this.loaded = "";
      return;
    }
    this.days = days;
    this.firstDay = Math.floor((to - offsetAt(to - 1) - 1) / DAY_S) - days + 1;
    this.cell = { day: days - 1, hour: new Date().getHours() };
    this.told.textContent = this.cells.size > 0 ? "Point at an hour for its values; click to show it above." : "No data in these weeks.";
    this.draw();
  }

  private value(cell: HeatCell | undefined): number {
    if (!cell) return NaN;
    const measure = this.measure.value as Measure;
    return measure === "loss" ? cell.lost / cell.sent : (cell[measure] ?? NaN);
  }

  draw(): void {
    const width = this.element.clientWidth - 40;
    const context = this.canvas.getContext("2d");
    if (!context || width < 100 || this.days === 0) return;
    const step = Math.max((width - LEFT) / this.days, 2.2);
    const whole = LEFT + step * this.days;
    const height = ROW * 24 + BOTTOM;
    const density = Math.min(devicePixelRatio, 2);
    [this.canvas.width, this.canvas.height] = [Math.round(whole * density), Math.round(height * density)];
    [this.canvas.style.width, this.canvas.style.height] = [`${whole}px`, `${height}px`];
    context.setTransform(density, 0, 0, density, 0, 0);
    const values = [...this.cells.values()].map((cell) => this.value(cell)).filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
    const [low, high] = this.bounds(values);
    for (let d = 0; d < this.days; d++) {
      for (let hour = 0; hour < 24; hour++) {
        const cell = this.cells.get(`${this.firstDay + d} ${hour}`);
        const value = this.value(cell);
        context.fillStyle = cell && Number.isNaN(value) ? colours("loss4") : Number.isNaN(value) ? colours("hair") : ramp(place(value, low, high));
        const gap = step > 5 ? 1 : 0;
        context.fillRect(LEFT + d * step, hour * ROW, step - gap, ROW - (Number.isNaN(value) && !cell ? 8 : 1));
      }
    }
    this.labels(context, step);
    this.outline(context, step);
    this.explain(low, high);
  }

  private bounds(values: number[]): [number, number] {
    if (this.measure.value === "loss") return [0, Math.max(values.at(-1) ?? 0, 0.01)];
    const low = values[Math.floor(values.length * 0.02)] ?? 0.001;
    return [low, Math.max(values[Math.floor(values.length * 0.995)] ?? 0, low * 2)];
  }

  private labels(context: CanvasRenderingContext2D, step: number): void {
    context.font = `11px ${FONT}`;
    context.fillStyle = colours("dim");
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let hour = 0; hour < 24; hour += 6) context.fillText(`${String(hour).padStart(2, "0")}:00`, LEFT - 6, hour * ROW + 5);
    context.textAlign = "left";
    const every = Math.ceil(70 / step / 7) * 7;
    for (let d = 0; d < this.days; d++) {
      const at = (this.firstDay + d) * DAY_S;
      // Day 4 since 1970 was a Monday.
      if ((this.firstDay + d - 4) % every === 0 && d * step + 60 < this.days * step) {
        context.fillText(day(at + new Date(at * 1e3).getTimezoneOffset() * 60).slice(4), LEFT + d * step, ROW * 24 + 10);
      }
    }
  }

  private outline(context: CanvasRenderingContext2D, step: number): void {
    if (document.activeElement !== this.canvas) return;
    context.strokeStyle = colours("ink");
    context.lineWidth = 2;
    context.strokeRect(LEFT + this.cell.day * step - 1, this.cell.hour * ROW - 1, step + 1, ROW + 1);
  }

  private explain(low: number, high: number): void {
    const loss = this.measure.value === "loss";
    const text = (value: number): string => (loss ? percent(value) : quantity(value, "seconds"));
    const steps = RAMP.map((colour) => {
      const box = make("i", { class: "key" });
      box.style.background = colour;
      return box;
    });
    this.key.replaceChildren(`${text(low)} `, make("span", { class: "ramp" }, ...steps), ` ${text(high)}`, make("span", {}, make("i", { class: "key loss4" }), "all lost"));
  }

  private point(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const step = (box.width - LEFT) / this.days;
    const d = Math.floor((event.clientX - box.left - LEFT) / step);
    const hour = Math.floor((event.clientY - box.top) / ROW);
    if (d >= 0 && d < this.days && hour >= 0 && hour < 24) {
      this.cell = { day: d, hour };
      this.tell();
    }
  }

  /** Start of the hour under the cursor, in the reader's time zone. */
  private begin(): number {
    const date = new Date((this.firstDay + this.cell.day) * DAY_S * 1e3);
    return new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), this.cell.hour).getTime() / 1e3;
  }

  private tell(): void {
    const cell = this.cells.get(`${this.firstDay + this.cell.day} ${this.cell.hour}`);
    const hours = `${String(this.cell.hour).padStart(2, "0")}:00 to ${String(this.cell.hour + 1).padStart(2, "0")}:00`;
    const when = `${day(this.begin())}, ${hours}: `;
    const delay = (value: number | null): string => quantity(value ?? NaN, "seconds");
    this.told.textContent = cell
      ? `${when}median ${delay(cell.median_s)}, p95 ${delay(cell.p95_s)}, max ${delay(cell.max_s)}, ${percent(cell.lost / cell.sent)} lost`
      : `${when}no data`;
  }

  private open(): void {
    const from = this.begin();
    this.go(from - 600, from + 4_200);
    window.scrollTo({ top: 0 });
  }

  private press(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const move = moves[event.key];
    if (event.key === "Enter") this.open();
    if (!move) return;
    event.preventDefault();
    this.cell = { day: Math.min(Math.max(this.cell.day + move[0], 0), this.days - 1), hour: Math.min(Math.max(this.cell.hour + move[1], 0), 23) };
    this.tell();
    this.draw();
  }
}

function place(value: number, low: number, high: number): number {
  if (low <= 0) return Math.min(value / high, 1);
  return Math.min(Math.max(Math.log(value / low) / Math.log(high / low), 0), 1);
}

function ramp(share: number): string {
  return RAMP[Math.min(Math.floor(share * RAMP.length), RAMP.length - 1)];
}

/** Seconds that the reader's clock is behind UTC at a time. */
function offsetAt(at: number): number {
  return new Date(at * 1e3).getTimezoneOffset() * 60;
}

/** Splits a range at changes of the reader's UTC offset. */
export function offsets(from: number, to: number): { start: number; end: number; offset: number }[] {
  const parts: { start: number; end: number; offset: number }[] = [];
  let start = from;
  for (let at = from; at < to; at += 3_600) {
    const end = Math.min(at + 3_600, to);
    if (end < to && offsetAt(end) === offsetAt(start)) continue;
    parts.push({ start, end, offset: -offsetAt(start) });
    start = end;
  }
  return parts;
}
