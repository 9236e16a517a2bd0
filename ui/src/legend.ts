import { make } from "./dom.ts";
import { type Model, type Panel, reading } from "./panels.ts";
import type { View } from "./view.ts";

/** A panel's heading, legend entries and plot area. */
export interface PanelView {
  panel: Panel | undefined;
  element: HTMLElement;
  plot: HTMLElement;
  /** Updates the values for a time. */
  tell(ns: number | undefined, view: View): void;
}

/** The panel of rare events; `changed` is called when an entry is toggled. */
export function laneView(height: number): PanelView {
  const plot = make("div", { class: "plot", style: `height:${height}px` });
  const keys = make("div", { class: "keys" }, make("b", {}, "Rare events"));
  const element = make("section", { class: "panel lanes", "aria-label": "Rare events" }, keys, plot);
  return { panel: undefined, element, plot, tell: () => undefined };
}

export function panelView(panel: Panel, model: Model, changed: () => void): PanelView {
  const plot = make("div", { class: panel.bars.length > 0 ? "plot sequence" : "plot" });
  const keys = make("div", { class: "keys" }, make("b", {}, panel.name));
  const told: ((ns: number | undefined, view: View) => void)[] = [];
  for (const { name, colour } of panel.bars) key(keys, panel, name, colour, changed);
  for (const layer of panel.layers) {
    const label = key(keys, panel, layer.name, layer.colour, changed);
    const value = make("span", { class: "value" });
    label.after(value);
    told.push((ns, view) => {
      value.textContent = ns === undefined ? "" : reading(panel, layer, ns, view);
      label.textContent = layer.name + (layer.drawn.detail?.(view) ?? "");
    });
  }
  const element = make("section", { class: "panel", "aria-label": `${panel.name}, ${model.track.name}` }, keys, plot);
  return { panel, element, plot, tell: (ns, view) => told.forEach((tell) => tell(ns, view)) };
}

/** A legend entry that toggles its layer. Returns the element with the name. */
function key(
  keys: HTMLElement,
  panel: Panel,
  name: string,
  colour: string,
  changed: () => void,
): HTMLElement {
  const label = make("span", {}, name);
  const swatch = make("i", { style: `background:var(--${colour})` });
  const entry = make("button", { type: "button", "aria-pressed": "true" }, swatch, label);
  entry.addEventListener("click", () => {
    const isShown = panel.hidden.delete(name);
    if (!isShown) panel.hidden.add(name);
    entry.setAttribute("aria-pressed", String(isShown));
    changed();
  });
  keys.append(entry);
  return label;
}
