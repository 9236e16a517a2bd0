/** Current theme colors, by their names in the style of the page and in the reports' palette. */
export type Colours = (name: string) => string;

let known = new Map<string, string>();

export const colours: Colours = (name) => {
  let value = known.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888888";
    known.set(name, value);
  }
  return value;
};

/** Calls back when the theme changes. */
export function onTheme(changed: () => void): void {
  const forget = (): void => {
    known = new Map();
    changed();
  };
  new MutationObserver(forget).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forget);
}
