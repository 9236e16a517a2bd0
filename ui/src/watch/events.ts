import { make } from "../dom.ts";
import type { WatchEvent } from "./api.ts";
import { moment, spanText } from "../axis.ts";
import { colours } from "../colours.ts";

/** Maximum rows of a list. */
const MOST_ROWS = 100;

interface Axis {
  left: number;
  width: number;
}

/** Events as marks below the time axis. */
export class Ribbon {
  readonly element = make("div", { class: "ribbon" });
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly label = make("span", { class: "cursor-time" });
  private width = 0;
  private axis: Axis = { left: 0, width: 1 };
  private view = { from: 0, to: 1 };
  private events: readonly WatchEvent[] = [];

  constructor(look: (event: WatchEvent) => void) {
    this.element.append(this.canvas, this.label);
    this.element.addEventListener("click", (click) => {
      const x = click.clientX - this.element.getBoundingClientRect().left;
      const near = this.events
        .map((event) => ({ event, off: Math.abs(this.place(event.at_s) - x) }))
        .filter(({ off }) => off < 12)
        .sort((a, b) => a.off - b.off)[0];
      if (!near) return;
      click.stopPropagation();
      look(near.event);
    });
  }

  measure(): void {
    const density = Math.min(devicePixelRatio, 2);
    this.width = this.element.clientWidth;
    this.canvas.width = Math.round(this.width * density);
    this.canvas.height = Math.round(this.element.clientHeight * density);
    this.canvas.getContext("2d")?.setTransform(density, 0, 0, density, 0, 0);
  }

  private place(at: number): number {
    return this.axis.left + ((at - this.view.from) / (this.view.to - this.view.from)) * this.axis.width;
  }

  draw(events: readonly WatchEvent[], from: number, to: number, axis: Axis | undefined): void {
    const context = this.canvas.getContext("2d");
    if (!context || !axis) return;
    this.axis = axis;
    this.view = { from, to };
    this.events = events.filter((event) => event.at_s <= to && (event.until_s ?? event.at_s) >= from);
    this.element.classList.toggle("has", this.events.length > 0);
    context.clearRect(0, 0, this.width, 30);
    const end = axis.left + axis.width;
    for (const event of this.events) {
      const left = Math.max(this.place(event.at_s), axis.left);
      const right = Math.min(this.place(event.until_s ?? event.at_s), end);
      context.fillStyle = colours(event.kind === "alert" ? "bad" : "both");
      context.globalAlpha = 0.3;
      if (right > left + 1) context.fillRect(left, 6, right - left, 8);
      context.globalAlpha = 1;
      if (this.place(event.at_s) < axis.left) continue;
      context.beginPath();
      context.moveTo(left, 3);
      context.lineTo(left + 4.5, 10);
      context.lineTo(left, 17);
      context.lineTo(left - 4.5, 10);
      context.fill();
    }
  }

  /** Shows the time under the cursor at its position. */
  cursor(at: number | undefined, text: string): void {
    this.label.hidden = at === undefined;
    if (at === undefined) return;
    this.label.textContent = text;
    const half = this.label.offsetWidth / 2;
    this.label.style.left = `${Math.min(Math.max(this.place(at), half), Math.max(this.width - half, half))}px`;
  }
}

/** The list of events. */
export class EventList {
  readonly element = make("section", { class: "card events", hidden: "" });
  private shown = "";

  constructor(private readonly look: (event: WatchEvent) => void) {}

  show(events: readonly WatchEvent[], newestFirst: boolean): void {
    const key = JSON.stringify([events, newestFirst]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = events.length === 0;
    const ordered = [...events].sort((a, b) => (newestFirst ? b.at_s - a.at_s : a.at_s - b.at_s));
    const rows = ordered.slice(0, MOST_ROWS).map((event) => {
      const go = make("button", { type: "button" }, moment(event.at_s, 1));
      go.addEventListener("click", () => this.look(event));
      const lasted = event.until_s === null ? "" : ` (${spanText(event.until_s - event.at_s)})`;
      const report = `/reports/${encodeURIComponent(event.report ?? "")}`;
      const page = event.report ? [" ", make("a", { href: report, target: "_blank" }, "report")] : [];
      const kind = make("b", event.kind === "alert" ? { class: "bad" } : {}, event.kind);
      return make("li", {}, go, kind, `${event.text}${lasted}`, ...page);
    });
    const more = events.length > MOST_ROWS ? [make("p", {}, `${events.length - MOST_ROWS} more: zoom in.`)] : [];
    this.element.replaceChildren(make("h2", {}, "Events"), make("ul", {}, ...rows), ...more);
  }
}
