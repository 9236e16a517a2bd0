/** Loss classes, shown by color, by line width and by the height of the mark below. */
export interface LossClass {
  /** Upper limit, as a ratio. */
  upTo: number;
  name: string;
  /** Name of a color in watch.css. */
  colour: string;
  /** Line width of the median in pixels. */
  thickness: number;
}

/**
 * Few enough to distinguish by width alone. In a year a little loss is everywhere; the marks below
 * the plot show it.
 */
export const LOSS_CLASSES: readonly LossClass[] = [
  { upTo: 0.005, name: "less than 0.5 % lost", colour: "loss0", thickness: 1.6 },
  { upTo: 0.02, name: "2 %", colour: "loss1", thickness: 3 },
  { upTo: 0.1, name: "10 %", colour: "loss2", thickness: 4.5 },
  { upTo: 0.999_999, name: "more", colour: "loss3", thickness: 6 },
];

export function lossClass(ratio: number): number {
  const found = LOSS_CLASSES.findIndex((each) => ratio <= each.upTo);
  return found < 0 ? LOSS_CLASSES.length - 1 : found;
}

/** Formats a ratio as a percentage with suitable precision. */
export function percent(ratio: number): string {
  if (!Number.isFinite(ratio)) return "–";
  if (ratio === 0) return "0 %";
  const value = ratio * 100;
  return `${value >= 10 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : value.toFixed(2)} %`;
}
