import { make } from "../dom.ts";

/** Badges of the raised alerts. */
export function badges(alerts: readonly string[]): HTMLElement[] {
  return alerts.map((alert) => make("em", { class: "badge", title: `Alert: ${alert}` }, alert));
}
