import { make } from "../dom.ts";
import { api, type Finding } from "./api.ts";
import { moment } from "../axis.ts";
import { offsets } from "./heat.ts";
import { hashOf } from "./place.ts";

const DAY_S = 86_400;
/** Daily patterns need weeks of data; path changes need months. */
const SPAN_S = 90 * DAY_S;
/** The list of targets is loaded first, because this may take the server some seconds. */
const AFTER_MS = 1_500;
/** Findings use whole days. */
const AGAIN_MS = 3_600_000;

/** Findings over months, each with the times at which it is visible. */
export class Findings {
  readonly element = make("section", { class: "card findings", "aria-label": "Findings of the last 90 days", hidden: "" });
  private timer = 0;
  private asked = 0;

  enter(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.refresh(), AFTER_MS);
  }

  leave(): void {
    clearTimeout(this.timer);
  }

  private async refresh(): Promise<void> {
    this.timer = window.setTimeout(() => void this.refresh(), AGAIN_MS);
    if (Date.now() - this.asked < AGAIN_MS) return;
    this.asked = Date.now();
    const to = Math.floor(Date.now() / 1e3 / 3_600) * 3_600;
    try {
      const clock = offsets(to - SPAN_S, to);
      const since = clock.slice(1).map(({ start }) => start);
      this.show(await api.findings(to - SPAN_S, to, clock.map(({ offset }) => offset).join(), since.join()));
    } catch {
      // Reloaded when the user returns; what is shown stays.
      this.asked = 0;
    }
  }

  private show(all: Finding[]): void {
    this.element.hidden = all.length === 0;
    const list = make("ul", {}, ...all.map((finding) => this.one(finding)));
    this.element.replaceChildren(make("h2", {}, `Findings of the last ${SPAN_S / DAY_S} days`), list);
  }

  private one(finding: Finding): HTMLElement {
    const rows = finding.figures.map(({ name, value }) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
    const places = finding.stretches.map(({ from_s: from, to_s: to }) => {
      // The evidence, with as much time before and after it for comparison.
      const span = Math.max((to - from) * 3, 3_600);
      const end = Math.min((from + to) / 2 + span / 2, Date.now() / 1e3);
      return make("a", { href: hashOf([finding.series], { from: end - span, to: end }, false) }, moment(from, 60));
    });
    const seen = make("p", { class: "seen" }, "Visible at ", ...places.flatMap((place, n) => (n > 0 ? [", ", place] : [place])));
    const name = finding.probe === "icmp" ? finding.target : `${finding.target} · ${finding.probe}`;
    const more = make("details", {}, make("summary", {}, "Evidence"), make("table", {}, make("tbody", {}, ...rows)), make("p", {}, `Refuted by: ${finding.refuted_by}.`));
    return make("li", {}, make("p", {}, make("b", {}, name), " ", finding.text, " ", make("small", {}, `certainty: ${finding.certainty}`)), seen, more);
  }
}
