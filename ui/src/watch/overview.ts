import { make } from "../dom.ts";
import { quantity, thousands } from "../format.ts";
import { api, type Target } from "./api.ts";
import { clock, moment } from "../axis.ts";
import { badges } from "./badges.ts";
import { Findings } from "./findings.ts";
import { keyOf, type Live } from "./live.ts";
import { percent } from "./loss.ts";
import { paintSpark } from "./spark.ts";
import { decodeSparks, type Spark } from "./wire.ts";

/** Period of the sparklines in seconds, and their number of columns. */
const SPARK_SPAN_S = 24 * 3_600;
const SPARK_COLUMNS = 144;
const SPARK_STEP_S = SPARK_SPAN_S / SPARK_COLUMNS;

/** Minimum height of a row, in CSS pixels. */
const ROW_PX = 48;
const STATES: Record<string, { rank: number; mark: string; name: string }> = {
  failing: { rank: 0, mark: "✕", name: "failing" },
  trouble: { rank: 1, mark: "!", name: "trouble" },
  unknown: { rank: 2, mark: "?", name: "unknown" },
  fine: { rank: 3, mark: "✓", name: "fine" },
};
/** Natural order: `target 9` comes before `target 10`. */
const COLLATOR = new Intl.Collator("en", { numeric: true });
const stateOf = (target: Target): { rank: number; mark: string; name: string } => STATES[target.state] ?? STATES["unknown"];

/**
 * Template of a row, without its texts. Cloning it takes a tenth of the time of creating the parts.
 */
const LINE = make(
  "li",
  {},
  make(
    "a",
    { class: "row" },
    make("span", { class: "mark", "aria-hidden": "true" }),
    make("span", { class: "name" }, make("b"), make("small")),
    make("canvas", { "aria-hidden": "true" }),
    ...["median", "p95", "lost"].map((label) => make("span", { class: "figure" }, make("small", {}, label), "–")),
    make("span", { class: "state" }, make("i")),
  ),
);

/** A row of the list, updated in place. */
class Row {
  readonly element = LINE.cloneNode(true) as HTMLElement;
  private readonly link = this.element.firstChild as HTMLAnchorElement;
  private readonly mark = this.link.children[0] as HTMLElement;
  private readonly name = this.link.children[1] as HTMLElement;
  readonly canvas = this.link.children[2] as HTMLCanvasElement;
  private readonly median = this.link.children[3] as HTMLElement;
  private readonly p95 = this.link.children[4] as HTMLElement;
  private readonly loss = this.link.children[5] as HTMLElement;
  private readonly state = this.link.children[6] as HTMLElement;
  private shown = "";
  target: Target;

  constructor(target: Target) {
    this.target = target;
    this.show(target);
  }

  show(target: Target): void {
    this.target = target;
    const text = JSON.stringify(target);
    if (text === this.shown) return;
    this.shown = text;
    const { mark, name } = stateOf(target);
    const where = target.host === target.name ? target.probe : `${target.probe} · ${target.host}`;
    this.link.href = `#/targets/${target.series}`;
    this.link.dataset["state"] = target.state;
    this.mark.textContent = mark;
    (this.name.firstChild as HTMLElement).textContent = target.name;
    (this.name.lastChild as HTMLElement).textContent = target.group ? `${target.group} · ${where}` : where;
    const lost = target.sent > 0 ? target.lost / target.sent : NaN;
    figure(this.median, target.median_s === null ? "–" : quantity(target.median_s, "seconds"));
    figure(this.p95, target.p95_s === null ? "–" : quantity(target.p95_s, "seconds"));
    figure(this.loss, percent(lost));
    this.loss.classList.toggle("bad", lost > 0);
    const more = [...this.reasons().map((reason) => make("span", {}, reason)), ...badges(target.alerts)];
    (this.state.firstChild as HTMLElement).textContent = name;
    if (more.length > 0 || this.state.childElementCount > 1) this.state.replaceChildren(this.state.firstChild as Node, ...more);
  }

  private reasons(): string[] {
    const { failing_since_s: since, reason } = this.target;
    const told: string[] = [];
    if (since !== null) {
      const age = Date.now() / 1e3 - since;
      told.push(`since ${age < 86_400 ? clock(since, false) : moment(since, 60)}${reason ? `: ${reason}` : ""}`);
    } else if (reason) told.push(reason);
    return told;
  }
}

function figure(element: HTMLElement, value: string): void {
  (element.lastChild as Text).data = value;
}

/** All targets with their current state, the worst first. */
export class Overview {
  readonly element = make("section", { class: "overview", "aria-label": "All targets" });
  private readonly filter = make("input", { type: "search", placeholder: "Filter by name, group, host or state", "aria-label": "Filter targets", autocomplete: "off", spellcheck: "false" });
  private readonly summary = make("p", { class: "summary", role: "status" });
  private readonly list = make("ul", { class: "rows" });
  private readonly none = make("div", { class: "card none", hidden: "" });
  private readonly choose = make("button", { type: "button", hidden: "" }, "Show together");
  private readonly rows = new Map<string, Row>();
  private readonly findings = new Findings();
  private order = "";
  private sparks = new Map<number, Spark>();
  private readonly seen = new Set<Row>();
  private readonly watcher: IntersectionObserver;
  private timer = 0;
  private rest = 0;
  /** Whether all rows exist, not only those of the first screen. */
  private isWhole = false;

  /** `first` has the sparklines of the first rows, embedded in the page. */
  constructor(private readonly live: Live, first = "") {
    this.sparks = decodeSparks(first);
    const rowOf = new Map<Element, Row>();
    this.watcher = new IntersectionObserver((entries) => {
      const come: Row[] = [];
      for (const { target, isIntersecting } of entries) {
        const row = rowOf.get(target) ?? [...this.rows.values()].find((each) => each.element === target);
        if (!row) continue;
        rowOf.set(target, row);
        if (isIntersecting) this.seen.add(row);
        else this.seen.delete(row);
        if (isIntersecting) come.push(row);
      }
      this.paint(come);
    });
    this.filter.addEventListener("input", () => this.show());
    this.choose.addEventListener("click", () => (location.hash = `#/targets/${this.matching().slice(0, 12).map((t) => t.series).join(",")}`));
    const tools = make("div", { class: "tools" }, this.filter, this.choose, this.summary);
    const heads = make("div", { class: "row heads", "aria-hidden": "true" });
    heads.append(...["", "Target", "Last 24 hours", "Median", "p95", "Lost", "State"].map((head) => make("span", {}, head)));
    this.element.append(make("h1", {}, "All targets"), tools, heads, this.list, this.none, this.findings.element);
  }

  /** Starts requesting sparklines. */
  enter(): void {
    this.show();
    // The visible rows are known only after the first frame, but should have their sparklines in
    // it.
    if (this.seen.size === 0) this.paint([...this.rows.values()]);
    this.layout();
    requestAnimationFrame(() => setTimeout(() => void this.refresh(), 0));
    this.findings.enter();
    clearInterval(this.timer);
    this.timer = window.setInterval(() => void this.refresh(), 30_000);
    new ResizeObserver(() => this.layout()).observe(this.list);
  }

  leave(): void {
    this.findings.leave();
    clearInterval(this.timer);
  }

  private layout(): void {
    this.paint([...this.seen]);
  }

  /** Columns are aligned to whole steps, so that all pages request the same ones. */
  private async refresh(): Promise<void> {
    if (this.live.targets.size === 0 && this.sparks.size > 0) return;
    const to = Math.ceil(Date.now() / 1e3 / SPARK_STEP_S) * SPARK_STEP_S;
    try {
      this.sparks = await api.overview(to - SPARK_SPAN_S, to, SPARK_COLUMNS);
    } catch {
      // The rows are live without sparklines; the request is repeated.
      return;
    }
    this.layout();
  }

  private matching(): Target[] {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const has = (target: Target): boolean => {
      if (words.length === 0) return true;
      const text = [target.name, target.group, target.host, target.address, target.probe, stateOf(target).name, target.reason, ...target.alerts].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return sorted([...this.live.targets.values()].filter(has));
  }

  /** Updates the list: the rows of the first screen now, the others after they are drawn. */
  show(): void {
    const matching = this.matching();
    const screen = Math.ceil(innerHeight / ROW_PX);
    const targets = this.isWhole ? matching : matching.slice(0, screen);
    if (!this.isWhole && targets.length > 0) this.showRest();
    for (const target of targets) {
      const row = this.rows.get(keyOf(target));
      if (row) row.show(target);
      else this.add(target);
    }
    const order = targets.map(keyOf).join("\0");
    if (order !== this.order) {
      this.order = order;
      this.list.replaceChildren(...targets.map((target) => (this.rows.get(keyOf(target)) as Row).element));
    }
    for (const [key, row] of this.rows) {
      if (this.live.targets.has(key)) continue;
      this.rows.delete(key);
      this.seen.delete(row);
      this.watcher.unobserve(row.element);
    }
    this.tell(matching);
  }

  /** Creates the rows below the first screen after it is drawn. */
  private showRest(): void {
    clearTimeout(this.rest);
    requestAnimationFrame(() => {
      this.rest = window.setTimeout(() => {
        this.isWhole = true;
        this.show();
      }, 0);
    });
  }

  private add(target: Target): void {
    const row = new Row(target);
    this.rows.set(keyOf(target), row);
    this.watcher.observe(row.element);
  }

  private tell(shown: Target[]): void {
    const all = [...this.live.targets.values()];
    const count = (state: string): number => all.filter((target) => target.state === state).length;
    const parts = (["failing", "trouble", "unknown", "fine"] as const).map((state) => [count(state), STATES[state].name] as const);
    const words = parts.filter(([n]) => n > 0).map(([n, name]) => `${thousands(n)} ${name}`);
    const text = `${thousands(all.length)} target${all.length === 1 ? "" : "s"}: ${words.join(", ")}`;
    const said = shown.length < all.length ? `${text}. ${thousands(shown.length)} shown.` : `${text}.`;
    const known = this.live.isWhole && all.length > 0;
    if (this.summary.textContent !== said) this.summary.textContent = known ? said : "";
    this.choose.hidden = shown.length < 2 || shown.length > 12;
    this.none.hidden = shown.length > 0;
    if (shown.length > 0) return;
    this.none.replaceChildren(
      all.length > 0
        ? make("p", {}, "No target matches the filter.")
        : make("p", {}, this.live.connected ? "No targets yet. Add targets to the configuration of fathom watch; they appear here immediately." : "Waiting for the server …"),
    );
  }

  /** Measures all before drawing the first, because each drawing invalidates the layout. */
  private paint(rows: Row[]): void {
    const sizes = rows.map(({ canvas }): [number, number] => [canvas.clientWidth, canvas.clientHeight]);
    rows.forEach((row, n) => paintSpark(row.canvas, sizes[n], this.sparks.get(row.target.series)));
  }
}

/** The worst first; healthy targets keep their order by group and name. */
export function sorted(targets: Target[]): Target[] {
  const trouble = (target: Target): number => (target.state === "fine" || target.sent === 0 ? 0 : target.lost / target.sent);
  const by = (target: Target): string => `${target.group} ${target.name} ${target.probe}`;
  return targets
    .map((target) => ({ target, rank: stateOf(target).rank, lost: Math.round(trouble(target) * 20), name: by(target) }))
    .sort((a, b) => a.rank - b.rank || b.lost - a.lost || COLLATOR.compare(a.name, b.name))
    .map(({ target }) => target);
}
