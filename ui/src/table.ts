import { make } from "./dom.ts";
import type { Events, RareEvent } from "./events.ts";
import { moment, thousands } from "./format.ts";
import { eventHit } from "./nearest.ts";
import type { View } from "./view.ts";

/** Maximum rows; the plot and the keys n and p lead to each event. */
const MOST_ROWS = 200;

/** The visible rare events as text, for screen readers and for copying. */
export class EventTable {
  readonly element: HTMLDetailsElement;
  private readonly summary = make("summary");
  private readonly body = make("tbody");
  private readonly more = make("p");

  constructor(private readonly go: (event: RareEvent) => void) {
    const head = make("tr", {}, make("th", { scope: "col" }, "time"), make("th", { scope: "col" }, "event"));
    head.append(make("th", { scope: "col" }, "frame"));
    const table = make("table", {}, make("thead", {}, head), this.body);
    this.element = make("details", {}, this.summary, table, this.more);
  }

  show(events: Events, view: View, nsPerPixel: number): void {
    const { events: some, count } = events.within(view, this.element.open ? MOST_ROWS : 0);
    const total = events.all.length;
    this.summary.textContent = `Rare events in view: ${thousands(count)} of ${thousands(total)}`;
    this.body.replaceChildren(...some.map((event) => this.row(event, nsPerPixel)));
    this.more.textContent = count > some.length && this.element.open ? `${thousands(count - some.length)} more: zoom in.` : "";
  }

  private row(event: RareEvent, nsPerPixel: number): HTMLElement {
    const go = make("button", { type: "button", class: "frame" }, `frame ${event.frame}`);
    go.addEventListener("click", () => this.go(event));
    const time = make("td", {}, moment(event.at, Math.min(nsPerPixel, 1e3)));
    return make("tr", {}, time, make("td", { class: "words" }, eventHit(event).what), make("td", {}, go));
  }
}
