// What the server says of a test: members of docs/schema/result.schema.json. It judges, the page
// translates.
import { duration, lag, rate, waiting } from "./numbers.ts";
import { type Language, type Word, word } from "./words.ts";

export type Level = "good" | "fair" | "bad" | "at_least_bad" | "no_result";

interface Phase {
  phase: string;
  call_mos?: number;
  games?: string;
  page_load_s?: number;
  goodput_down_bits_per_second?: number;
}

interface Remedy {
  action: string;
  direction?: "up" | "down";
  min_bits_per_second?: number;
  max_bits_per_second?: number;
  adapted_after_s?: number;
}

export interface Result {
  verdict: { level?: Level; headline: string; consequence?: string; phase?: string; reason?: { kind: string } };
  summary: {
    lag_up_s?: number;
    lag_down_s?: number;
    lag_both_s?: number;
    idle_p50_s?: number;
    goodput_up_bits_per_second?: number;
    goodput_down_bits_per_second?: number;
    responsiveness_rpm?: number;
    grade?: string;
    phases: Phase[];
  };
  advice: Remedy[];
  started: string;
  is_partial: boolean;
  late_p50_s?: number;
  late_p99_s?: number;
}

/** Mean opinion scores of the R factors 80, 70 and 60 (ITU-T G.107, annex B). */
const CALLS: [mos: number, quality: Word][] = [
  [4.02, "calls-good"],
  [3.6, "calls-fair"],
  [3.1, "calls-poor"],
];
/** Rates that a stream needs, in bit/s: 4K, HD and low quality. */
const VIDEO: [bits: number, quality: Word][] = [
  [20e6, "video-good"],
  [5e6, "video-hd"],
  [1e6, "video-low"],
];
const GAMES: readonly string[] = ["all", "third_person", "from_above", "by_turns"];

export const levelOf = (result: Result): Level => result.verdict.level ?? "no_result";

/** The largest lag when busy, in seconds. */
export const worstLag = ({ summary, verdict }: Result): number | undefined => {
  const lags: Record<string, number | undefined> = { up: summary.lag_up_s, down: summary.lag_down_s, both: summary.lag_both_s };
  const known = Object.values(lags).filter((value): value is number => value !== undefined);
  return lags[verdict.phase ?? ""] ?? (known.length > 0 ? Math.max(...known) : undefined);
};

/** Whether this device, not the line, spoilt the measurement. */
const isOfDevice = (result: Result): boolean => /late|cpu|probes_left_out|receiver_limited/.test(result.verdict.reason?.kind ?? "");

/** Why there is no result: the device, the server, or something else. */
const obstacle = (result: Result): "late" | "server" | "unclear" =>
  isOfDevice(result) ? "late" : result.verdict.reason?.kind === "sender_idle" ? "server" : "unclear";

export const headline = (language: Language, result: Result): string => {
  const value = lag(language, worstLag(result) ?? 0);
  switch (levelOf(result)) {
    case "good":
      return word(language, "responsive", value);
    case "fair":
      return language === "en" ? result.verdict.headline : word(language, "fair-line", value);
    case "at_least_bad":
      return word(language, "growing", value);
    case "no_result":
      return word(language, obstacle(result));
    case "bad": {
      const phase = result.verdict.phase;
      return word(language, phase === "up" ? "bad-up" : phase === "down" ? "bad-down" : "bad-both", value);
    }
  }
};

const callQuality = (mos: number): Word => CALLS.find(([least]) => mos >= least)?.[1] ?? "calls-broken";
const videoQuality = (bits: number): Word => VIDEO.find(([least]) => bits >= least)?.[1] ?? "video-none";

/** What people do with the line: its name, and how that is when idle and when busy. */
export const uses = (language: Language, { summary, verdict }: Result): [string, string, string][] => {
  const of = (name: string | undefined) => summary.phases.find(({ phase }) => phase === name);
  const [idle, busy] = [of("idle"), of(verdict.phase)];
  if (!idle || !busy) return [];
  const say = (phase: Phase, pick: (phase: Phase) => string | undefined): string => pick(phase) ?? "–";
  const call = ({ call_mos }: Phase) => (call_mos === undefined ? undefined : word(language, callQuality(call_mos)));
  const game = ({ games }: Phase) =>
    games !== undefined && GAMES.includes(games) ? word(language, `games-${games}` as Word) : undefined;
  const page = ({ page_load_s }: Phase) =>
    page_load_s === undefined ? undefined : word(language, "pages-time", waiting(language, page_load_s));
  const video = (bits: number | undefined) => (bits === undefined ? "–" : word(language, videoQuality(bits)));
  const [alone, shared] = [summary.goodput_down_bits_per_second, of("both")?.goodput_down_bits_per_second];
  const row = (name: Word, pick: (phase: Phase) => string | undefined): [string, string, string] => [
    word(language, name),
    say(idle, pick),
    say(busy, pick),
  ];
  return [row("calls", call), row("games", game), row("pages", page), [word(language, "video"), video(alone), video(shared)]];
};

const range = (language: Language, low: number, high: number): string => `${rate(language, low)} – ${rate(language, high)}`;

/** What to try, in order. */
export const advice = (language: Language, result: Result): string[] => {
  const lines = result.advice.flatMap((remedy): string[] => {
    const { action, direction, min_bits_per_second: low, max_bits_per_second: high } = remedy;
    if (action === "shape" && direction && low && high) {
      const limit = word(language, `shape-${direction}`, range(language, low, high));
      const { adapted_after_s: after } = remedy;
      return [after === undefined ? limit : `${limit} ${word(language, `slow-${direction}`, duration(language, after))}`];
    }
    if (action === "shape") return [word(language, "shape")];
    if (action === "do_not_shape") return [word(language, "no-shape")];
    if (action === "load_longer") return [word(language, "longer")];
    if (action === "use_quiet_machine") return [word(language, "late-remedy")];
    return [];
  });
  const level = levelOf(result);
  if (level === "no_result" && lines.length === 0) lines.push(word(language, `${obstacle(result)}-remedy`));
  if (level === "bad" || level === "at_least_bad") lines.push(word(language, "cable"));
  return [...new Set(lines.length > 0 ? lines : [word(language, "nothing")])];
};

/** The three numbers of the enthusiast. */
export const numbers = (language: Language, { summary }: Result): { lag: string; throughput: string; responsiveness: string } => {
  const up = word(language, "by-upload");
  const down = word(language, "by-download");
  const pair = (values: [number | undefined, string][], format: (value: number) => string) =>
    values.flatMap(([value, name]) => (value === undefined ? [] : [`${format(value)} ${name}`])).join(", ") || "–";
  const idle = summary.idle_p50_s === undefined ? "" : ` (${word(language, "when-idle")} ${duration(language, summary.idle_p50_s)})`;
  const lags = pair([[summary.lag_up_s, up], [summary.lag_down_s, down]], (value) => lag(language, value));
  const rates: [number | undefined, string][] = [
    [summary.goodput_up_bits_per_second, up],
    [summary.goodput_down_bits_per_second, down],
  ];
  const rpm = summary.responsiveness_rpm;
  return {
    lag: lags + idle,
    throughput: pair(rates, (value) => rate(language, value)),
    responsiveness: rpm === undefined ? "–" : `${Math.round(rpm).toLocaleString(language)} RPM${summary.grade ? `, ${summary.grade}` : ""}`,
  };
};
