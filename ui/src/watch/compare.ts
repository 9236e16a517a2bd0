import { button, make } from "../dom.ts";
import { quantity, thousands } from "../format.ts";
import { FONT } from "../surface.ts";
import { api, type Period } from "./api.ts";
import { moment, spanText } from "../axis.ts";
import { colours } from "../colours.ts";
import { writeLabel } from "./label.ts";
import { percent } from "./loss.ts";
import type { View } from "./view.ts";

const SHIFTS: readonly [string, number | undefined][] = [
  ["the period before", undefined],
  ["a day earlier", 86_400],
  ["a week earlier", 604_800],
  ["4 weeks earlier", 2_419_200],
];
const HEIGHT = 240;
const SHARES: readonly [number, string][] = [
  [0.5, "Median"],
  [0.9, "p90"],
  [0.95, "p95"],
  [0.99, "p99"],
  [0.999, "p99.9"],
];

/** Compares two periods of one series: the distribution of all delays, and a table. */
export class Compare {
  readonly element = make("section", { class: "card compare", hidden: "" });
  private readonly choice = make("select", { "aria-label": "Period to compare with" });
  private readonly canvas = make("canvas", { role: "img" });
  private readonly table = make("div", { class: "scroll" });
  private readonly words = make("p", { class: "told", role: "status" });
  private readonly pin = button("Pin this period", "Pin the period shown above to compare other periods with it", () => this.keep());
  private series: number | undefined;
  private view: View | undefined;
  private kept: View | undefined;
  private sides: [Period, Period] | undefined;
  private asked = "";
  private isOpen = false;

  constructor() {
    this.choice.append(...SHIFTS.map(([name], n) => make("option", { value: String(n) }, name)));
    this.choice.addEventListener("change", () => this.refresh());
    const body = make("details", {}, make("summary", {}, make("h2", {}, "Compare two periods")));
    const head = make("div", { class: "tools" }, make("label", {}, "Compare the period above with ", this.choice), this.pin);
    body.append(head, this.words, this.canvas, this.table);
    body.addEventListener("toggle", () => {
      this.isOpen = body.open;
      this.refresh();
    });
    this.element.append(body);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  of(series: number | undefined, name: string): void {
    this.series = series;
    this.element.hidden = series === undefined;
    this.canvas.setAttribute("aria-label", `${name}: distribution of the delays in both periods; see the table for values`);
  }

  around(view: View): void {
    this.view = view;
    this.refresh();
  }

  private keep(): void {
    this.kept = this.view;
    const old = this.choice.querySelector('option[value="kept"]');
    old?.remove();
    const { from, to } = this.kept as View;
    this.choice.append(make("option", { value: "kept" }, `the pinned period (${moment(from, 60)}, ${spanText(to - from)})`));
    this.choice.value = "kept";
    this.refresh();
  }

  private other(view: View): View {
    if (this.choice.value === "kept" && this.kept) return this.kept;
    const by = SHIFTS[Number(this.choice.value)]?.[1] ?? view.to - view.from;
    return { from: view.from - by, to: view.to - by };
  }

  private refresh(): void {
    const { series, view } = this;
    if (!this.isOpen || series === undefined || !view) return;
    const other = this.other(view);
    // A live view moves every second; updating every ten is enough here.
    const key = [series, ...[view.from, view.to, other.from, other.to].map((at) => Math.round(at / 10))].join(" ");
    if (key === this.asked) return;
    this.asked = key;
    void this.load(series, view, other);
  }

  private async load(series: number, view: View, other: View): Promise<void> {
    try {
      const { first, second } = await api.compare(series, [view.from, view.to], [Math.max(0, other.from), Math.max(1, other.to)]);
      this.sides = [first, second];
    } catch (error) {
      this.asked = "";
      this.words.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    this.tell();
    this.draw();
  }

  private tell(): void {
    const [now, before] = this.sides as [Period, Period];
    const of = (period: Period, share: number): number => period.quantiles_s.find(([q]) => q === share)?.[1] ?? NaN;
    const heads = ["", "Period above", "Other period", "Difference"];
    const change = (a: number, b: number): string => {
      if (!Number.isFinite(a) || !Number.isFinite(b)) return "–";
      return `${a >= b ? "+" : "−"}${quantity(Math.abs(a - b), "seconds")}`;
    };
    const rows: string[][] = [
      ["From", moment(now.from_s, 1), moment(before.from_s, 1), spanText(Math.abs(now.from_s - before.from_s))],
      ["Probes", thousands(now.tally.sent), thousands(before.tally.sent), ""],
      ["Lost", percent(now.loss_ratio ?? NaN), percent(before.loss_ratio ?? NaN), ""],
      ["Late", thousands(now.tally.late), thousands(before.tally.late), ""],
      ...SHARES.map(([share, name]) => [name, quantity(of(now, share), "seconds"), quantity(of(before, share), "seconds"), change(of(now, share), of(before, share))]),
      ["Max", quantity(now.max_s ?? NaN, "seconds"), quantity(before.max_s ?? NaN, "seconds"), change(now.max_s ?? NaN, before.max_s ?? NaN)],
    ];
    const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
    const body = rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))));
    this.table.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
    const [a, b] = [of(now, 0.95), of(before, 0.95)];
    if (!Number.isFinite(a) || !Number.isFinite(b)) this.words.textContent = "One of the two periods has no replies.";
    else if (Math.abs(Math.log(a / b)) < 0.05) this.words.textContent = `95 % of the replies took at most ${quantity(a, "seconds")} in both periods.`;
    else this.words.textContent = `95 % of the replies took at most ${quantity(a, "seconds")}; in the other period ${quantity(b, "seconds")}.`;
  }

  draw(): void {
    const context = this.canvas.getContext("2d");
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    if (!this.isOpen || !context || !this.sides || width < 100) return;
    const density = Math.min(devicePixelRatio, 2);
    [this.canvas.width, this.canvas.height] = [Math.round(width * density), Math.round(HEIGHT * density)];
    [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${HEIGHT}px`];
    context.setTransform(density, 0, 0, density, 0, 0);
    const steps = this.sides.map((side) => side.ecdf_s.filter(([value]) => value > 0));
    const all = steps.flat().map(([value]) => value);
    if (all.length === 0) return;
    const [low, high] = [Math.min(...all) * 0.9, Math.max(...all) * 1.1];
    const [left, right, top, bottom] = [52, width - 12, 10, HEIGHT - 26];
    const x = (value: number): number => left + ((right - left) * Math.log(value / low)) / Math.log(high / low);
    const y = (share: number): number => bottom - (bottom - top) * share;
    frame(context, { low, high, left, right, top, bottom }, x, y);
    steps.forEach((side, n) => {
      context.strokeStyle = colours(n === 0 ? "loss0" : "up");
      context.lineWidth = 2;
      context.setLineDash(n === 0 ? [] : [6, 4]);
      context.beginPath();
      context.moveTo(left, y(0));
      let before = 0;
      for (const [value, share] of side) {
        context.lineTo(x(value), y(before));
        context.lineTo(x(value), y(share));
        before = share;
      }
      context.lineTo(right, y(before));
      context.stroke();
    });
    context.setLineDash([]);
  }
}

interface Frame {
  low: number;
  high: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function frame(context: CanvasRenderingContext2D, at: Frame, x: (value: number) => number, y: (share: number) => number): void {
  context.font = `11px ${FONT}`;
  context.textBaseline = "middle";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    context.fillStyle = colours("hair");
    context.fillRect(at.left, Math.round(y(share)), at.right - at.left, 1);
    context.fillStyle = colours("dim");
    context.textAlign = "right";
    writeLabel(context, `${share * 100} %`, at.left - 6, y(share));
  }
  context.textAlign = "center";
  const decades = Math.log10(at.high / at.low);
  const parts = decades > 2.5 ? [1] : decades > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  for (let power = Math.floor(Math.log10(at.low)); power <= Math.log10(at.high); power++) {
    for (const part of parts) {
      const value = part * 10 ** power;
      if (value < at.low || value > at.high) continue;
      context.fillStyle = colours("hair");
      context.fillRect(Math.round(x(value)), at.top, 1, at.bottom - at.top);
      context.fillStyle = colours("dim");
      writeLabel(context, quantity(value, "seconds"), x(value), at.bottom + 13);
    }
  }
  const keys: [string, string][] = [
    ["loss0", "period above"],
    ["up", "other period (dashed)"],
  ];
  context.textAlign = "right";
  keys.forEach(([name, text], n) => {
    context.fillStyle = colours(name);
    context.fillText(text, at.right - 8, at.bottom - 28 + 15 * n);
  });
}
