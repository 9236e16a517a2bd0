import { colours } from "../colours.ts";
import type { Spark } from "./wire.ts";

/**
 * Draws a sparkline of the last hours: maximum as smoke, median as a line, loss as marks at the
 * bottom.
 */
export function paintSpark(canvas: HTMLCanvasElement, [width, height]: [number, number], spark: Spark | undefined): void {
  const density = Math.min(devicePixelRatio, 2);
  if (width === 0) return;
  const [w, h] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  // Drawn once, so that a graphics card would not help.
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  if (!spark) return;
  const high = top(spark);
  const step = width / spark.median.length;
  const y = (value: number): number => 2 + (height - 7) * (1 - Math.min(value / high, 1));
  // One color after the other, because changing it takes longer than filling a column.
  context.fillStyle = colours("smoke3");
  spark.median.forEach((median, i) => {
    if (Number.isNaN(median)) return;
    const peak = y(spark.max[i]);
    context.fillRect(i * step, peak, step + 0.3, Math.max(y(median) - peak, 0));
  });
  context.fillStyle = colours("loss0");
  spark.median.forEach((median, i) => {
    if (!Number.isNaN(median)) context.fillRect(i * step, y(median) - 0.8, step + 0.3, 1.6);
  });
  spark.lost.forEach((lost, i) => {
    if (!(lost > 0)) return;
    context.fillStyle = colours(lost === 1 ? "loss4" : "loss3");
    const bar = lost === 1 ? height : 3 + 6 * Math.sqrt(lost);
    context.globalAlpha = lost === 1 ? 0.45 : 1;
    context.fillRect(i * step, height - bar, Math.max(step, 1), bar);
    context.globalAlpha = 1;
  });
}

/**
 * Upper end of the scale: above most peaks, so that a single one does not flatten the rest; at
 * least 0.2 ms, this host's own noise.
 */
function top(spark: Spark): number {
  const peaks = [...spark.max].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const medians = [...spark.median].filter((value) => !Number.isNaN(value));
  const usual = peaks[Math.floor(0.95 * (peaks.length - 1))] ?? 0;
  return Math.max(2e-4, usual * 1.1, 1.5 * medians.reduce((most, value) => Math.max(most, value), 0));
}
