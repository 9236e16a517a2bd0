import { button, make } from "../dom.ts";
import { listen } from "../gestures.ts";
import type { Unit } from "../format.ts";
import { api, range, type Series, smokePath, type WatchEvent } from "./api.ts";
import { clock, day, moment, spanText, timeTicks } from "../axis.ts";
import { badges } from "./badges.ts";
import { onTheme } from "../colours.ts";
import { Compare } from "./compare.ts";
import { EventList, Ribbon } from "./events.ts";
import { Heat } from "./heat.ts";
import { levelFor, WIDTHS } from "./levels.ts";
import type { Live } from "./live.ts";
import { LOSS_CLASSES } from "./loss.ts";
import { PathChart } from "./path.ts";
import { hashOf, type Place } from "./place.ts";
import { Plot, READING_HEADS, readingCells, readingText } from "./plot.ts";
import type { ScaleKind } from "./scale.ts";
import { Tiles } from "./tiles.ts";
import { clamp, isLive, lastSeconds, pan, type View, zoom } from "./view.ts";

const KEY_STEP = 0.12;
const KEY_ZOOM = 0.6;
const SPANS: readonly [string, number][] = [
  ["10 min", 600],
  ["1 h", 3_600],
  ["3 h", 10_800],
  ["1 day", 86_400],
  ["1 week", 604_800],
  ["1 month", 2_629_800],
  ["1 year", 31_557_600],
];
const HELP =
  "Delay over time. The left and right arrow keys move, up and down zoom. Shift with left or right moves the cursor and announces its values. " +
  "N goes to the present. The mouse wheel or a pinch zooms, dragging moves, dragging with Shift zooms to a selection.";
/** Maximum rows of the table; the CSV has all. */
const MOST_ROWS = 200;
const UNITS: Record<Series["unit"], Unit> = { seconds: "seconds", bits_per_second: "rate", bytes: "bytes" };
const nowSeconds = (): number => Date.now() / 1e3;

/** Plots of some targets over time. */
export class Detail {
  readonly element = make("section", { class: "detail" });
  private view: View = lastSeconds(3_600, nowSeconds());
  /** Whether the right end follows the clock. */
  private live = true;
  private shown: number[] = [];
  private all: Series[] = [];
  private plots: Plot[] = [];
  private events: WatchEvent[] = [];
  private eventsOf = "";
  private kind: ScaleKind = "fit";
  private cursor: number | undefined;
  private pinned = false;
  private selection: { left: number; right: number } | undefined;
  private raisedNames = "";
  private isDue = false;
  private timer = 0;
  private addressTimer = 0;
  private readonly tiles = new Tiles(api.smoke, () => this.due());
  private readonly title = make("h1");
  private readonly when = make("p", { class: "when" });
  private readonly spans = SPANS.map(([name, seconds]) => ({ seconds, element: button(name, `Show the last ${name}`, () => this.showLast(seconds)) }));
  private readonly now = button("Now", "Go to the present and follow it", () => this.goLive());
  private readonly scale = make("select", { "aria-label": "Delay scale" });
  private readonly adder = make("select", { "aria-label": "Add another series" });
  private readonly stage = make("div", { class: "stage", tabindex: "0", role: "application", "aria-label": HELP });
  private readonly box = make("div", { class: "selection", hidden: "" });
  private readonly raised = make("p", { class: "raised", "aria-live": "polite", "aria-label": "Raised alerts", hidden: "" });
  private readonly ribbon = new Ribbon((event) => this.lookAt(event));
  private readonly trouble = make("p", { class: "trouble", role: "alert", hidden: "" });
  private readonly said = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
  private readonly links = make("p", { class: "links" });
  private readonly table = make("details", { class: "card table" });
  private readonly eventList = new EventList((event) => this.lookAt(event));
  private readonly heat = new Heat((from, to) => this.show({ from, to }));
  private readonly path = new PathChart((series) => [...this.watch.targets.values()].find((target) => target.series === series)?.address ?? "");
  private readonly compare = new Compare();

  constructor(private readonly watch: Live) {
    this.build();
    this.listen();
  }

  private build(): void {
    const scales: [ScaleKind, string][] = [
      ["fit", "Linear, rare peaks clipped"],
      ["whole", "Linear, up to the maximum"],
      ["log", "Logarithmic"],
    ];
    this.scale.append(...scales.map(([value, name]) => make("option", { value }, name)));
    const tools = make("div", { class: "tools", role: "toolbar", "aria-label": "View" });
    tools.append(this.now, ...this.spans.map(({ element }) => element), make("span", { class: "gap" }));
    tools.append(button("−", "Zoom out", () => this.zoomBy(1 / KEY_ZOOM)), button("+", "Zoom in", () => this.zoomBy(KEY_ZOOM)), this.scale, this.adder);
    const head = make("div", { class: "detail-head" }, make("div", {}, this.title, this.when, this.raised));
    const card = make("div", { class: "card over-time" }, tools, this.trouble, this.stage, legend(), this.links, this.said);
    this.table.append(make("summary", {}, "View as a table"));
    this.element.append(head, card, this.table, this.path.element, this.eventList.element, this.heat.element, this.compare.element);
  }

  private listen(): void {
    listen(this.stage, {
      zoom: (x, factor) => this.show(zoom(this.view, this.timeAt(x), factor, nowSeconds())),
      pan: (pixels) => this.show(pan(this.view, pixels * this.secondsPerPixel, nowSeconds())),
      select: ({ left, right }) => {
        this.selection = undefined;
        this.show(clamp({ from: this.timeAt(left), to: this.timeAt(right) }, nowSeconds()));
      },
      selecting: (box) => {
        this.selection = box;
        this.due();
      },
      point: (x) => this.pinned || this.point(this.timeAt(x)),
      leave: () => this.pinned || this.point(undefined),
      press: (x) => this.press(this.timeAt(x)),
      all: () => this.show(zoom(this.view, (this.view.from + this.view.to) / 2, 3, nowSeconds())),
    });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.scale.addEventListener("change", () => {
      this.kind = this.scale.value as ScaleKind;
      this.due();
    });
    this.adder.addEventListener("change", () => this.choose([...this.shown, Number(this.adder.value)]));
    this.table.addEventListener("toggle", () => this.showTable());
    new ResizeObserver(() => this.layout()).observe(this.stage);
    onTheme(() => {
      this.due();
      this.path.draw();
      this.heat.draw();
      this.compare.draw();
    });
  }

  /** Shows the place given in the URL. */
  async enter(place: Extract<Place, { page: "targets" }>): Promise<void> {
    const same = this.shown.join() === place.series.join() && this.plots.length > 0;
    this.live = place.to === undefined;
    this.view = clamp(place.to === undefined ? lastSeconds(place.seconds, nowSeconds()) : { from: place.to - place.seconds, to: place.to }, nowSeconds());
    this.shown = place.series;
    clearInterval(this.timer);
    this.timer = window.setInterval(() => this.tick(), 1_000);
    if (!same) {
      // The names of watched targets are known before the server's list arrives.
      this.rebuild();
      this.all = await api.series().catch(() => this.all);
      this.rebuild();
    }
    this.due();
  }

  leave(): void {
    clearInterval(this.timer);
  }

  private nameOf(id: number): string {
    const known = this.all.find((series) => series.series === id);
    const now = [...this.watch.targets.values()].find((target) => target.series === id);
    if (known) return `${known.target} · ${known.probe}`;
    return now ? `${now.name} · ${now.probe}` : `series ${id}`;
  }

  private rebuild(): void {
    const wanted = [...this.shown, ...levelsOf(this.all, this.shown)];
    this.plots = wanted.map((id) => {
      const unit = UNITS[this.all.find((series) => series.series === id)?.unit ?? "seconds"];
      const closer = button("×", `Remove ${this.nameOf(id)}`, () => this.choose(this.shown.filter((other) => other !== id)));
      return new Plot(id, this.nameOf(id), unit, this.shown.length > 1 && this.shown.includes(id) ? [closer] : []);
    });
    const last = this.plots.at(-1);
    if (last) last.isLast = true;
    this.stage.classList.toggle("many", this.shown.length > 1);
    this.stage.replaceChildren(...this.plots.map((plot) => plot.element), this.ribbon.element, this.box);
    const names = this.shown.map((id) => this.nameOf(id));
    this.title.textContent = names.length > 2 ? `${names.length} series` : names.join(" and ");
    document.title = `${this.title.textContent} – Fathom watch`;
    this.showRaised();
    const others = this.all.filter((series) => !this.shown.includes(series.series));
    this.adder.replaceChildren(make("option", { value: "" }, "Add a series …"), ...others.map((series) => make("option", { value: String(series.series) }, `${series.target} · ${series.probe}`)));
    this.adder.hidden = others.length === 0;
    const first = this.all.find((series) => series.series === this.shown[0]);
    this.path.of(first?.target ?? "", this.all);
    this.heat.of(first?.unit === "seconds" ? first.series : undefined, names[0]);
    this.compare.of(first?.unit === "seconds" ? first.series : undefined, names[0]);
    this.layout();
  }

  private choose(series: number[]): void {
    location.hash = hashOf(series, this.view, this.live);
  }

  private layout(): void {
    this.plots.forEach((plot) => plot.measure());
    this.ribbon.measure();
    this.due();
  }

  /** The alerts of the shown targets, each name once. */
  private showRaised(): void {
    const shown = [...this.watch.targets.values()].filter((target) => this.shown.includes(target.series));
    const names = [...new Set(shown.flatMap((target) => target.alerts))];
    if (names.join() === this.raisedNames) return;
    this.raisedNames = names.join();
    this.raised.hidden = names.length === 0;
    this.raised.replaceChildren(...badges(names));
  }

  private tick(): void {
    if (document.hidden) return;
    this.showRaised();
    // A view of a year does not change within a second.
    if (this.live) this.view = lastSeconds(this.view.to - this.view.from, nowSeconds());
    this.due();
  }

  /** Draws in the next animation frame, however often it is called. */
  private due(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.isDue = false;
    const began = performance.now();
    const { from, to } = this.view;
    const perPixel = this.secondsPerPixel;
    this.tiles.want(this.plots.map((plot) => plot.series), from, to, perPixel);
    const width = this.plots[0]?.axis.width ?? 0;
    const ticks = timeTicks(from, to, Math.max(2, width / 84));
    let columns = 0;
    for (const plot of this.plots) {
      const pieces = this.tiles.pieces(plot.series, from, to, perPixel);
      columns += pieces.reduce((sum, piece) => sum + piece.last - piece.first, 0);
      plot.draw(pieces, this.view, this.kind, ticks, this.tiles.trouble === "" ? "Loading …" : "");
    }
    this.ribbon.draw(this.events, from, to, this.plots[0]?.axis);
    this.drawCursor();
    this.drawSelection();
    this.tell();
    Object.assign(this.stage.dataset, { ms: (performance.now() - began).toFixed(2), view: `${from} ${to}`, columns: String(columns), loading: String(this.tiles.isLoading) });
    this.settle();
  }

  /** Slow work and requests wait until the view stops moving. */
  private settle(): void {
    clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => {
      history.replaceState(null, "", hashOf(this.shown, this.view, this.live));
      this.showTable();
      this.describe();
      void this.loadEvents();
      this.path.around(this.view, this.events);
      this.heat.around(this.view);
      this.compare.around(this.view);
    }, 250);
  }

  private async loadEvents(): Promise<void> {
    const length = this.view.to - this.view.from;
    // Rounded to steps of the view, so that small movements cause no requests; and refreshed every
    // minute for new events.
    const step = Math.max(60, length / 4);
    const [from, to] = [Math.floor(this.view.from / step) * step - step, Math.ceil(this.view.to / step) * step + step];
    const key = `${this.shown.join()} ${from} ${to} ${Math.floor(nowSeconds() / 60)}`;
    if (key === this.eventsOf) return;
    this.eventsOf = key;
    try {
      const all = await api.events(Math.max(0, from), to);
      this.events = all.filter(({ series }) => series === null || this.shown.includes(series));
    } catch {
      this.eventsOf = "";
      return;
    }
    this.due();
  }

  private tell(): void {
    const { from, to } = this.view;
    const width = WIDTHS[levelFor(this.secondsPerPixel)];
    const length = to - from;
    const fine = length < 3_600;
    const end = this.live ? "until now" : `to ${day(from) === day(to) && length < 86_400 ? clock(to, fine) : moment(to, Math.min(width, 3_600))}`;
    const begin = length < 86_400 && (this.live || day(from) === day(to)) ? `${day(from)}, ${clock(from, fine)}` : moment(from, Math.min(width, 3_600));
    const said = `${begin} ${end} (${spanText(length)})`;
    if (this.when.textContent !== said) this.when.textContent = said;
    this.now.setAttribute("aria-pressed", String(this.live));
    for (const { seconds, element } of this.spans) element.setAttribute("aria-pressed", String(Math.abs(length / seconds - 1) < 0.01));
    this.trouble.hidden = this.tiles.trouble === "";
    if (this.trouble.textContent !== this.tiles.trouble) this.trouble.textContent = this.tiles.trouble;
    this.link();
    const inView = this.events.filter((event) => event.at_s <= to && (event.until_s ?? event.at_s) >= from);
    this.eventList.show(inView, this.live);
  }

  /** Links to the data of this time range. */
  private link(): void {
    const [id] = this.shown;
    const { from, to } = this.view;
    const key = `${id} ${Math.round(from)} ${Math.round(to)}`;
    if (this.links.dataset["of"] === key) return;
    this.links.dataset["of"] = key;
    const path = smokePath(id, from, to, 1_200);
    const samples = `/api/v1/samples?series=${id}&${range(from, to)}`;
    const anchor = (href: string, text: string): HTMLElement => make("a", { href }, text);
    this.links.replaceChildren("This period as ", anchor(`${path}&format=csv`, "CSV"), " or ", anchor(path, "JSON"), "; every probe as ", anchor(`${samples}&format=csv`, "CSV"), " or ", anchor(samples, "JSON"), ".");
  }

  private drawCursor(): void {
    const inView = this.cursor !== undefined && this.cursor >= this.view.from && this.cursor <= this.view.to;
    this.plots.forEach((plot) => plot.cursor(inView ? this.cursor : undefined));
    const text = inView && this.cursor !== undefined ? moment(this.cursor, WIDTHS[levelFor(this.secondsPerPixel)]) : "";
    this.stage.dataset["cursor"] = text;
    this.ribbon.cursor(inView ? this.cursor : undefined, text);
  }

  private drawSelection(): void {
    this.box.hidden = this.selection === undefined;
    if (!this.selection) return;
    this.box.style.left = `${this.selection.left}px`;
    this.box.style.width = `${this.selection.right - this.selection.left}px`;
  }

  private describe(): void {
    for (const plot of this.plots) {
      const readings = plot.readings().filter((reading) => reading.sent > 0);
      const sent = readings.reduce((sum, reading) => sum + reading.sent, 0);
      const lost = readings.reduce((sum, reading) => sum + reading.lost, 0);
      const worst = readings.filter((reading) => !Number.isNaN(reading.max)).sort((a, b) => b.max - a.max)[0];
      const text = worst ? `Slowest at ${moment(worst.at, worst.width)}: ${readingText(worst, plot.unit)}.` : "";
      plot.describe(`${plot.name}, ${this.when.textContent ?? ""}: ${sent} probes, ${lost} lost. ${text}`);
    }
  }

  private showTable(): void {
    if (!this.table.open) return;
    const plot = this.plots[0];
    const readings = plot?.readings() ?? [];
    const stride = Math.ceil(readings.length / MOST_ROWS);
    const rows = readings.filter((_, n) => n % stride === 0).map((reading) => make("tr", {}, ...readingCells(reading, plot.unit).map((cell) => make("td", {}, cell))));
    const head = make("thead", {}, make("tr", {}, ...READING_HEADS.map((name) => make("th", { scope: "col" }, name))));
    const body = make("div", { class: "scroll" }, make("table", {}, make("caption", {}, `${plot?.name ?? ""}${stride > 1 ? `: 1 of ${stride} columns; the CSV has all` : ""}`), head, make("tbody", {}, ...rows)));
    this.table.replaceChildren(make("summary", {}, "View as a table"), body);
  }

  private show(view: View): void {
    const now = nowSeconds();
    this.view = clamp(view, now);
    this.live = isLive(this.view, now);
    this.due();
  }

  private showLast(seconds: number): void {
    // Around the cursor or the middle, unless the present is in view.
    if (this.live) this.show(lastSeconds(seconds, nowSeconds()));
    else {
      const middle = this.pinned && this.cursor !== undefined ? this.cursor : (this.view.from + this.view.to) / 2;
      this.show({ from: middle - seconds / 2, to: middle + seconds / 2 });
    }
  }

  private goLive(): void {
    this.show(lastSeconds(this.view.to - this.view.from, nowSeconds()));
  }

  private lookAt(event: WatchEvent): void {
    const until = event.until_s ?? event.at_s;
    const room = Math.max((until - event.at_s) * 0.5, (this.view.to - this.view.from) / 4);
    this.pinned = true;
    this.cursor = event.at_s;
    this.show({ from: event.at_s - room, to: until + room });
    this.said.textContent = `${moment(event.at_s, 1)}: ${event.text}`;
    this.stage.scrollIntoView({ block: "nearest" });
  }

  private zoomBy(factor: number): void {
    const { from, to } = this.view;
    const about = this.cursor !== undefined && this.cursor > from && this.cursor < to ? this.cursor : this.live ? to : (from + to) / 2;
    this.show(zoom(this.view, about, factor, nowSeconds()));
  }

  private get secondsPerPixel(): number {
    return (this.view.to - this.view.from) / (this.plots[0]?.axis.width ?? 1);
  }

  private timeAt(x: number): number {
    return this.view.from + (x - (this.plots[0]?.axis.left ?? 0)) * this.secondsPerPixel;
  }

  private point(at: number | undefined): void {
    this.cursor = at;
    if (!this.isDue) this.drawCursor();
  }

  private press(at: number): void {
    this.pinned = !this.pinned;
    this.point(at);
  }

  /** Moves the cursor to the next measured column and announces it. */
  private step(direction: 1 | -1): void {
    const times = (this.plots[0]?.readings() ?? []).map((reading) => reading.at + reading.width / 2);
    const from = this.cursor ?? (direction > 0 ? this.view.from : this.view.to);
    const next = direction > 0 ? times.find((at) => at > from + 1e-6) : times.reverse().find((at) => at < from - 1e-6);
    if (next === undefined) return;
    this.pinned = true;
    this.point(next);
    const told = this.plots.map((plot) => {
      const reading = plot.at(next);
      const name = this.plots.length > 1 ? `${plot.name}: ` : "";
      return name + (reading ? readingText(reading, plot.unit) : "no data");
    });
    this.said.textContent = `${moment(next, WIDTHS[levelFor(this.secondsPerPixel)])}. ${told.join(". ")}`;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const length = this.view.to - this.view.from;
    const move = (share: number): void => this.show(pan(this.view, share * length, nowSeconds()));
    const does: Record<string, () => void> = {
      ArrowLeft: () => (event.shiftKey ? this.step(-1) : move(-KEY_STEP)),
      ArrowRight: () => (event.shiftKey ? this.step(1) : move(KEY_STEP)),
      ArrowUp: () => this.zoomBy(KEY_ZOOM),
      ArrowDown: () => this.zoomBy(1 / KEY_ZOOM),
      PageUp: () => move(-1),
      PageDown: () => move(1),
      "+": () => this.zoomBy(KEY_ZOOM),
      "=": () => this.zoomBy(KEY_ZOOM),
      "-": () => this.zoomBy(1 / KEY_ZOOM),
      n: () => this.goLive(),
      End: () => this.goLive(),
      Escape: () => {
        this.pinned = false;
        this.point(undefined);
      },
    };
    const act = does[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

/** The target name of this host's own series, as in `shell/watch/engine`. */
const THIS_HOST = "this host";
/** A host with many interfaces would push the plot off the screen. */
const MOST_LEVELS = 6;

/**
 * This host's traffic and backlog are shown below every target, because "slow while the uplink is
 * full" differs from "slow".
 */
function levelsOf(all: readonly Series[], shown: readonly number[]): number[] {
  const levels = all.filter((series) => series.unit !== "seconds" && series.target === THIS_HOST && !shown.includes(series.series));
  return levels.slice(0, MOST_LEVELS).map((series) => series.series);
}

function legend(): HTMLElement {
  const key = (name: string, text: string): HTMLElement => make("span", {}, make("i", { class: `key ${name}` }), text);
  const losses = LOSS_CLASSES.map(({ colour, name }) => key(colour, name));
  const parts = [make("b", {}, "Median:"), ...losses, key("loss4", "all lost"), make("b", {}, "Other delays:"), key("smoke", "1st to 99th percentile (darker: 25th to 75th)"), key("envelope", "maximum"), key("cut", "above the scale")];
  return make("p", { class: "legend" }, ...parts);
}
