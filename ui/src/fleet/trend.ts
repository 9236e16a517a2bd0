import { timeTicks } from "../axis.ts";
import { colours } from "../colours.ts";
import { make } from "../dom.ts";
import { quantity, ticks } from "../format.ts";
import type { Trend, TrendPoint, Trends } from "./api.ts";
import { Chart, groupColour, MOST_GROUPS } from "./chart.ts";
import type { Place } from "./place.ts";
import { BLOATED_S, counted, lag } from "./words.ts";

const MARGIN = { left: 64, right: 14, top: 12, bottom: 28 };

export interface Line {
  name: string;
  colour: () => string;
  points: TrendPoint[];
}

/** How the median lag develops, of all sites and of the largest groups. */
export function showTrend(trends: Trends, place: Place): HTMLElement[] {
  const { all, by } = trends;
  const [first, last] = [all?.points[0], all?.points[all.points.length - 1]];
  if (!all || !first || !last) return [make("h1", {}, "No site was tested.")];
  const lines: Line[] = [{ name: "all sites", colour: () => colours("ink"), points: all.points }];
  const shown = by?.trends.slice(0, MOST_GROUPS) ?? [];
  shown.forEach((trend: Trend, number) => lines.push({ name: trend.value || "without", colour: () => groupColour(number), points: trend.points }));
  const verdict = `Median lag: ${lag(first.lag_p50_s)}, then ${lag(last.lag_p50_s)}.`;
  const chart = trendChart(lines, "steps");
  const key = (line: Line): HTMLElement => {
    const mark = make("span", { class: "key" });
    mark.style.background = line.colour();
    const end = line.points[line.points.length - 1];
    return make("span", {}, mark, `${line.name}: ${lag(end.lag_p50_s)}, ${counted(end.sites, "site", "sites")}`);
  };
  const heading = place.by ? `Median lag by ${place.by}` : "Median lag";
  return [make("h1", {}, verdict), make("section", { class: "card" }, make("h2", {}, heading), chart.element, make("p", { class: "legend" }, ...lines.map(key)))];
}

/** Values over time. Lines end where a step is missing; single tests have no steps. */
export function trendChart(lines: readonly Line[], of: "steps" | "tests"): Chart {
  const points = lines.flatMap((line) => line.points);
  const times = points.map((point) => point.at_s);
  const step = stepOf(lines[0].points);
  const [from, to] = [Math.min(...times) - step, Math.max(...times)];
  const most = Math.max(...points.map((point) => point.lag_p50_s), BLOATED_S * 1.1) * 1.05;
  const place = (chart: Chart): { x: (at: number) => number; y: (value: number) => number } => ({
    x: (at) => MARGIN.left + ((at - from) / (to - from)) * (chart.width - MARGIN.left - MARGIN.right),
    y: (value) => chart.height - MARGIN.bottom - (value / most) * (chart.height - MARGIN.top - MARGIN.bottom),
  });
  const chart: Chart = new Chart("Median lag over time", (context, self) => {
    const { x, y } = place(self);
    context.clearRect(0, 0, self.width, self.height);
    context.lineWidth = 1;
    context.strokeStyle = colours("hair");
    context.fillStyle = colours("dim");
    context.textAlign = "right";
    for (const value of ticks(0, most, 5)) {
      line(context, [MARGIN.left, y(value)], [self.width - MARGIN.right, y(value)]);
      context.fillText(quantity(value, "seconds").replace(/\.0+ /, " "), MARGIN.left - 8, y(value));
    }
    context.textAlign = "center";
    for (const tick of timeTicks(from, to, Math.floor(self.width / 70))) context.fillText(tick.label, x(tick.at), self.height - 12);
    context.save();
    context.strokeStyle = colours("bad");
    context.setLineDash([5, 4]);
    line(context, [MARGIN.left, y(BLOATED_S)], [self.width - MARGIN.right, y(BLOATED_S)]);
    context.restore();
    context.fillStyle = colours("bad");
    context.textAlign = "left";
    context.fillText("bloated", MARGIN.left + 6, y(BLOATED_S) - 9);
    for (const one of [...lines].reverse()) {
      context.strokeStyle = context.fillStyle = one.colour();
      context.lineWidth = one === lines[0] ? 2.5 : 1.5;
      context.beginPath();
      one.points.forEach((point, number) => {
        const gap = of === "steps" && number > 0 && point.at_s - one.points[number - 1].at_s > 1.5 * step;
        if (number === 0 || gap) context.moveTo(x(point.at_s), y(point.lag_p50_s));
        else context.lineTo(x(point.at_s), y(point.lag_p50_s));
      });
      context.stroke();
      for (const point of one.points) {
        context.beginPath();
        context.arc(x(point.at_s), y(point.lag_p50_s), 2.5, 0, 7);
        context.fill();
      }
    }
  });
  chart.follow((at) => {
    if (!at) {
      chart.note.textContent = "";
      return;
    }
    const { x } = place(chart);
    const distance = (point: TrendPoint): number => Math.abs(x(point.at_s) - at.x);
    const nearest = (all: readonly TrendPoint[]): TrendPoint => all.reduce((best, point) => (distance(point) < distance(best) ? point : best));
    const isHere = (point: TrendPoint): boolean => of === "tests" || distance(point) <= x(step / 2) - x(0);
    const near = (all: readonly TrendPoint[]): TrendPoint | undefined => [nearest(all)].find(isHere);
    const texts = lines.map((one) => ({ one, point: near(one.points) })).filter(({ point }) => point !== undefined);
    const until = texts[0]?.point ? `${of === "steps" ? "Until " : ""}${new Date(texts[0].point.at_s * 1e3).toLocaleString()}: ` : "";
    chart.note.textContent = until + texts.map(({ one, point }) => `${one.name} ${lag(point?.lag_p50_s ?? null)}${of === "steps" ? ` (p90 ${lag(point?.lag_p90_s ?? null)})` : ""}`).join(", ");
  });
  return chart;
}

/** The smallest distance between two points. */
function stepOf(points: readonly TrendPoint[]): number {
  const gaps = points.slice(1).map((point, number) => point.at_s - points[number].at_s);
  return gaps.length > 0 ? Math.min(...gaps) : 86_400;
}

function line(context: CanvasRenderingContext2D, from: readonly [number, number], to: readonly [number, number]): void {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
