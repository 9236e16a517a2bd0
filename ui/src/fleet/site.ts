import { colours } from "../colours.ts";
import { make } from "../dom.ts";
import type { History, Test, TrendPoint } from "./api.ts";
import { queryOf } from "./api.ts";
import { type Cell, table } from "./table.ts";
import { trendChart } from "./trend.ts";
import { BLOATED_S, lag, size, speed, state, worst } from "./words.ts";

/** Rows of the table. */
const MOST = 200;

function row(test: Test): Cell[] {
  return [
    new Date(test.at_s * 1e3).toLocaleString(),
    { text: lag(test.lag_up_s), state: state(test.lag_up_s) },
    { text: lag(test.lag_down_s), state: state(test.lag_down_s) },
    lag(test.idle_p50_s),
    speed(test.goodput_up_bits_per_second),
    speed(test.goodput_down_bits_per_second),
    size(test.buffer_up_bytes),
    size(test.buffer_down_bytes),
  ];
}

function points(tests: readonly Test[]): TrendPoint[] {
  return tests.flatMap((test) => {
    const value = worst(test);
    return value === null ? [] : [{ at_s: test.at_s, sites: 1, lag_p50_s: value, lag_p90_s: value }];
  });
}

/** The tests and results of one site. */
export function showSite(history: History, span: { from: number; to: number }): HTMLElement[] {
  const { site, tests, results } = history;
  const median = worst(site);
  const verdict = median === null ? "No site was tested." : `${site.site} is ${median >= BLOATED_S ? "" : "not "}bloated.`;
  const labels = Object.entries(site.labels).map(([name, value]) => `${name} ${value}`);
  const parts: HTMLElement[] = [make("h1", {}, verdict), make("p", { class: "note" }, [...labels, ...(median === null ? [] : [`median lag ${lag(median)}`])].join(", "))];
  const lags = points(tests);
  if (lags.length > 1) {
    const chart = trendChart([{ name: "lag", colour: () => colours("ink"), points: lags }], "tests");
    parts.push(make("section", { class: "card" }, make("h2", {}, "Lag of each test"), chart.element));
  }
  if (tests.length > 0) {
    const heads = ["test", "lag up", "lag down", "idle", "up", "down", "buffer up", "buffer down"];
    const rows = [...tests].reverse().slice(0, MOST).map(row);
    parts.push(make("section", { class: "card" }, make("h2", {}, "Tests"), table(`Tests of ${site.site}`, heads, rows)));
  }
  if (results.length > 0) {
    const query = queryOf(span);
    const item = ({ name, verdict: text }: { name: string; verdict: string }): HTMLElement => {
      const href = `/results/${encodeURIComponent(site.site)}/${encodeURIComponent(name)}?${query}`;
      return make("li", {}, make("a", { href }, name), ` ${text}`);
    };
    parts.push(make("section", { class: "card" }, make("h2", {}, "Results"), make("ul", {}, ...[...results].reverse().map(item))));
  }
  return parts;
}
