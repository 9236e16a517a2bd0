import { button, make } from "../dom.ts";
import type { Place } from "./place.ts";

const PERIODS: [number, string][] = [
  [1, "1 day"],
  [7, "7 days"],
  [28, "28 days"],
  [90, "90 days"],
  [365, "1 year"],
];

/** The period, the group, the filters and the search, as far as a view has them. */
export class Controls {
  readonly element = make("div", { class: "tools", role: "search" });
  private values: Record<string, string[]> = {};

  constructor(private readonly go: (change: Partial<Place>) => void) {}

  /** The labels that the sites have. */
  learn(values: Record<string, string[]>): void {
    this.values = { ...this.values, ...values };
  }

  show(place: Place): void {
    const parts: HTMLElement[] = [this.period(place)];
    if (place.view !== "site") {
      if (["sites", "buffers", "trend"].includes(place.view)) parts.push(this.group(place));
      parts.push(this.filter(place), ...place.only.map((pair) => this.chip(pair, place)));
    }
    if (place.view === "buffers") parts.push(this.direction(place));
    if (place.view === "changes") parts.push(this.moment(place));
    if (place.view === "sites") parts.push(this.search(place));
    this.element.replaceChildren(...parts);
  }

  private period(place: Place): HTMLElement {
    const all = PERIODS.some(([days]) => days === place.days) ? PERIODS : [...PERIODS, [place.days, `${place.days} days`] as [number, string]];
    const choice = select("Period", all.map(([days, text]) => [String(days), text]), String(place.days));
    choice.addEventListener("change", () => this.go({ days: Number(choice.value) }));
    return choice;
  }

  private group(place: Place): HTMLElement {
    const names = [...new Set([...Object.keys(this.values), ...(place.by ? [place.by] : [])])].sort();
    const choice = select("Group by", [["", "not grouped"], ...names.map((name): [string, string] => [name, `by ${name}`])], place.by);
    choice.addEventListener("change", () => this.go({ by: choice.value }));
    return choice;
  }

  private filter(place: Place): HTMLElement {
    const pairs = Object.entries(this.values).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
    const options = pairs.map(([name, value], number): [string, string] => [String(number), `${name} ${value}`]);
    const choice = select("Filter", [["", "all sites"], ...options], "");
    choice.addEventListener("change", () => {
      const pair = pairs[Number(choice.value)];
      if (choice.value && pair) this.go({ only: [...place.only.filter(([name]) => name !== pair[0]), pair] });
    });
    return choice;
  }

  private chip(pair: [string, string], place: Place): HTMLElement {
    const [name, value] = pair;
    const others = place.only.filter((one) => one !== pair);
    return button(`${name} ${value} ×`, `Remove the filter ${name} ${value}`, () => this.go({ only: others }));
  }

  private direction(place: Place): HTMLElement {
    const choice = select("Direction", [["up", "upload"], ["down", "download"]], place.direction);
    choice.addEventListener("change", () => this.go({ direction: choice.value === "down" ? "down" : "up" }));
    return choice;
  }

  /** When something changed; in the time zone of the reader. */
  private moment(place: Place): HTMLElement {
    const input = make("input", { type: "datetime-local", "aria-label": "When it changed" });
    if (place.to !== undefined) input.value = localTime(place.to);
    input.addEventListener("change", () => {
      const at = new Date(input.value).getTime() / 1e3;
      this.go({ to: Number.isFinite(at) ? at : undefined });
    });
    return make("label", {}, "changed ", input);
  }

  private search(place: Place): HTMLElement {
    const input = make("input", { type: "search", placeholder: "Search a site", "aria-label": "Search a site" });
    input.value = place.search;
    input.addEventListener("change", () => this.go({ search: input.value.trim() }));
    return input;
  }
}

/** A time as an input of the browser has it. */
export function localTime(at: number): string {
  const date = new Date(at * 1e3);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function select(label: string, options: readonly (readonly [string, string])[], chosen: string): HTMLSelectElement {
  const element = make("select", { "aria-label": label }, ...options.map(([value, text]) => make("option", { value }, text)));
  element.value = chosen;
  return element;
}
