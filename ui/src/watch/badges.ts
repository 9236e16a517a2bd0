import { make } from "../dom.ts";

/** The alerts that are raised, each a word in a frame. */
export function badges(alerts: readonly string[]): HTMLElement[] {
  return alerts.map((alert) => make("em", { class: "badge", title: `Alert: ${alert}` }, alert));
}
