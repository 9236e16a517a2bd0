import { make } from "../dom.ts";
import { quantity, thousands } from "../format.ts";
import { api, type Target } from "./api.ts";
import { clock, moment } from "./axis.ts";
import { badges } from "./badges.ts";
import { Findings } from "./findings.ts";
import { keyOf, type Live } from "./live.ts";
import { percent } from "./loss.ts";
import { paintSpark } from "./spark.ts";
import type { Spark } from "./wire.ts";

/** What the small pictures show, in seconds, and in how many columns. */
const SPARK_SPAN_S = 24 * 3_600;
const SPARK_COLUMNS = 144;
const SPARK_STEP_S = SPARK_SPAN_S / SPARK_COLUMNS;

/** More than a screen shows. */
const FIRST_ROWS = 40;

const STATES: Record<string, { rank: number; mark: string; name: string }> = {
  failing: { rank: 0, mark: "✕", name: "failing" },
  trouble: { rank: 1, mark: "!", name: "trouble" },
  unknown: { rank: 2, mark: "?", name: "not known yet" },
  fine: { rank: 3, mark: "✓", name: "fine" },
};
/** `target 9` comes before `target 10`. */
const COLLATOR = new Intl.Collator("en", { numeric: true });
const stateOf = (target: Target): { rank: number; mark: string; name: string } => STATES[target.state] ?? STATES["unknown"];

/** A line of the list, which is changed in place. */
class Row {
  readonly element = make("li", {});
  readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly link = make("a", { class: "row" });
  private readonly mark = make("span", { class: "mark", "aria-hidden": "true" });
  private readonly name = make("span", { class: "name" });
  private readonly state = make("span", { class: "state" });
  private readonly median = make("span", { class: "figure" });
  private readonly p95 = make("span", { class: "figure" });
  private readonly loss = make("span", { class: "figure" });
  private shown = "";
  target: Target;

  constructor(target: Target) {
    this.target = target;
    this.link.append(this.mark, this.name, this.canvas, this.median, this.p95, this.loss, this.state);
    this.element.append(this.link);
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
    this.name.replaceChildren(make("b", {}, target.name), make("small", {}, target.group ? `${target.group} · ${where}` : where));
    const lost = target.sent > 0 ? target.lost / target.sent : NaN;
    this.figure(this.median, "median", target.median_s === null ? "–" : quantity(target.median_s, "seconds"));
    this.figure(this.p95, "p95", target.p95_s === null ? "–" : quantity(target.p95_s, "seconds"));
    this.figure(this.loss, "lost", percent(lost));
    this.loss.classList.toggle("bad", lost > 0);
    this.state.replaceChildren(make("i", {}, name), ...this.reasons().map((reason) => make("span", {}, reason)), ...badges(target.alerts));
  }

  private figure(element: HTMLElement, label: string, value: string): void {
    element.replaceChildren(make("small", {}, label), value);
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

/** All targets with their state now, the worst first. */
export class Overview {
  readonly element = make("section", { class: "overview", "aria-label": "All targets" });
  private readonly filter = make("input", { type: "search", placeholder: "Filter by name, group, host or state", "aria-label": "Filter the targets", autocomplete: "off", spellcheck: "false" });
  private readonly summary = make("p", { class: "summary", role: "status" });
  private readonly list = make("ul", { class: "rows" });
  private readonly none = make("div", { class: "card none", hidden: "" });
  private readonly choose = make("button", { type: "button", hidden: "" }, "Show these together");
  private readonly rows = new Map<string, Row>();
  private readonly findings = new Findings();
  private order = "";
  private sparks = new Map<number, Spark>();
  private readonly seen = new Set<Row>();
  private readonly watcher: IntersectionObserver;
  private timer = 0;

  constructor(private readonly live: Live) {
    const rowOf = new Map<Element, Row>();
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const row = rowOf.get(target) ?? [...this.rows.values()].find((each) => each.element === target);
        if (!row) continue;
        rowOf.set(target, row);
        if (isIntersecting) this.seen.add(row);
        else this.seen.delete(row);
        if (isIntersecting) this.paint(row);
      }
    });
    this.filter.addEventListener("input", () => this.show());
    this.choose.addEventListener("click", () => (location.hash = `#/targets/${this.matching().slice(0, 12).map((t) => t.series).join(",")}`));
    const tools = make("div", { class: "tools" }, this.filter, this.choose, this.summary);
    const heads = make("div", { class: "row heads", "aria-hidden": "true" });
    heads.append(...["", "Target", "Last 24 hours", "Median", "p95", "Lost", "State"].map((head) => make("span", {}, head)));
    this.element.append(make("h1", {}, "All targets"), tools, heads, this.list, this.none, this.findings.element);
  }

  /** Begins to ask for the small pictures. */
  enter(): void {
    this.show();
    this.layout();
    void this.refresh();
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
    this.seen.forEach((row) => this.paint(row));
  }

  /** Columns begin at whole steps, so that all pages ask for the same ones. */
  private async refresh(): Promise<void> {
    if (this.live.targets.size === 0 && this.sparks.size > 0) return;
    const to = Math.ceil(Date.now() / 1e3 / SPARK_STEP_S) * SPARK_STEP_S;
    try {
      this.sparks = await api.overview(to - SPARK_SPAN_S, to, SPARK_COLUMNS);
    } catch {
      // The rows are live without it; it is asked for again.
      return;
    }
    this.seen.forEach((row) => this.paint(row));
  }

  private matching(): Target[] {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const has = (target: Target): boolean => {
      const text = [target.name, target.group, target.host, target.address, target.probe, stateOf(target).name, target.reason, ...target.alerts].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return sorted([...this.live.targets.values()].filter(has));
  }

  /** Brings the list in step with what is known: first what fits a screen, the rest when that is drawn. */
  show(): void {
    const matching = this.matching();
    const isFirst = this.rows.size === 0 && matching.length > FIRST_ROWS;
    const targets = isFirst ? matching.slice(0, FIRST_ROWS) : matching;
    if (isFirst) requestAnimationFrame(() => setTimeout(() => this.show(), 0));
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
    if (this.summary.textContent !== said) this.summary.textContent = all.length > 0 ? said : "";
    this.choose.hidden = shown.length < 2 || shown.length > 12;
    this.none.hidden = shown.length > 0;
    if (shown.length > 0) return;
    this.none.replaceChildren(
      all.length > 0
        ? make("p", {}, "No target matches the filter.")
        : make("p", {}, this.live.connected ? "Nothing is watched yet. Name targets in the configuration of fathom watch; they appear here at once." : "Waiting for the server …"),
    );
  }

  private paint(row: Row): void {
    paintSpark(row.canvas, this.sparks.get(row.target.series));
  }
}

/** The worst first; those that are fine stay where they are, by group and name. */
export function sorted(targets: Target[]): Target[] {
  const trouble = (target: Target): number => (target.state === "fine" || target.sent === 0 ? 0 : target.lost / target.sent);
  const by = (target: Target): string => `${target.group} ${target.name} ${target.probe}`;
  return targets
    .map((target) => ({ target, rank: stateOf(target).rank, lost: Math.round(trouble(target) * 20), name: by(target) }))
    .sort((a, b) => a.rank - b.rank || b.lost - a.lost || COLLATOR.compare(a.name, b.name))
    .map(({ target }) => target);
}
