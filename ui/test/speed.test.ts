import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { Answers, type Channel } from "../src/speed/answers.ts";
import { niceTop } from "../src/plot.ts";
import { readProbe, writeEcho } from "../src/speed/messages.ts";
import { bytes, duration, lag, rate } from "../src/speed/numbers.ts";
import { advice, headline, levelOf, numbers, type Result, uses, worstLag } from "../src/speed/result.ts";
import { isWord, KEYS, type Language, LANGUAGES, preferred, word } from "../src/speed/words.ts";

const ALL = Object.keys(LANGUAGES) as Language[];

describe("words", () => {
  it("have as many values in each language", () => {
    for (const key of KEYS) {
      const holes = ALL.map((language) => word(language, key, "{}", "{}", "{}").split("{}").length);
      expect(new Set(holes).size, key).toBe(1);
    }
  });
  it("are all there for the page", () => {
    const page = readFileSync(new URL("../src/speed/index.html", import.meta.url), "utf8");
    const used = [...page.matchAll(/data-word="([^"]*)"/g)].map(([, key]) => key ?? "");
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((key) => !isWord(key))).toEqual([]);
  });
  it("follow the reader", () => {
    expect(preferred(["pt-BR", "fr-CA", "en"])).toBe("fr");
    expect(preferred(["ja"])).toBe("en");
    expect(preferred([])).toBe("en");
  });
});

describe("numbers", () => {
  it("have three digits and the decimal sign of the language", () => {
    expect([0.0004, 0.021, 0.4061, 9.94, 12.34].map((value) => duration("en", value))).toEqual([
      "0.4 ms", "21 ms", "406 ms", "9,940 ms", "12.3 s",
    ]);
    expect(lag("de", 1.2)).toBe("+1.200 ms");
    expect(lag("en", -0.001)).toBe("+0 ms");
    expect([4.754e6, 19.08e6, 940e6, 1.2e9, 300e3].map((value) => rate("en", value))).toEqual([
      "4.75 Mbit/s", "19.1 Mbit/s", "940 Mbit/s", "1.20 Gbit/s", "300 kbit/s",
    ]);
    expect(rate("fr", 4.754e6)).toBe("4,75 Mbit/s");
    expect([50e6, 1e9, 1.5e9].map((value) => bytes("en", value))).toEqual(["50 MB", "1 GB", "1.5 GB"]);
  });
  it("give axes round tops", () => {
    expect([0.02, 0.021, 0.43, 19e6, 51e6].map(niceTop)).toEqual([0.02, 0.05, 0.5, 20e6, 100e6]);
  });
});

describe("messages", () => {
  it("are those of core/measure/browser", () => {
    const bytes = Uint8Array.from([1, 3, 0, 2, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10]);
    expect(readProbe(bytes.buffer)).toEqual({
      stage: "up", phase: 2, sequence: 0x01020304, elapsedMs: 5, answeredMs: 6, delayUs: 7, downKbit: 8, upKbit: 9, movedKilobytes: 10,
    });
    expect(readProbe(bytes.buffer.slice(1))).toBeUndefined();
    for (const [at, wrong] of [[0, 2], [1, 8]] as const) {
      expect(readProbe(bytes.map((byte, n) => (n === at ? wrong : byte)).buffer)).toBeUndefined();
    }
    const echo = writeEcho({ sequence: 1, received: 2, lateUs: 3, receivedUs: 2 ** 40, sentUs: 2 ** 40 + 1, downBytes: 5, countedUs: 6, isHidden: true });
    const view = new DataView(echo);
    expect(echo.byteLength).toBe(48);
    expect([0, 1, 2, 3].map((at) => view.getUint8(at))).toEqual([1, 1, 0, 0]);
    expect([4, 8, 12].map((at) => view.getUint32(at))).toEqual([1, 2, 3]);
    expect([16, 24, 32, 40].map((at) => Number(view.getBigUint64(at)))).toEqual([2 ** 40, 2 ** 40 + 1, 5, 6]);
  });
});

describe("answers", () => {
  it("wait for earlier ones to leave, and none is left out", () => {
    const sent: DataView[] = [];
    const channel: Channel & { bufferedAmount: number } = {
      binaryType: "",
      bufferedAmount: 0,
      onmessage: null,
      send: (message) => {
        sent.push(new DataView(message));
        channel.bufferedAmount = message.byteLength;
      },
    };
    vi.useFakeTimers();
    const answers = new Answers(channel, () => undefined);
    const probe = (sequence: number): ArrayBuffer => {
      const view = new DataView(new ArrayBuffer(32));
      view.setUint8(0, 1);
      view.setUint32(4, sequence);
      return view.buffer;
    };
    for (const sequence of [7, 8, 9]) channel.onmessage?.({ data: probe(sequence) } as MessageEvent);
    channel.onmessage?.({ data: "no probe" } as MessageEvent);
    expect(sent.map((view) => view.getUint32(4))).toEqual([7]);
    for (let turn = 0; turn < 3; turn += 1) {
      channel.bufferedAmount = 0;
      vi.advanceTimersByTime(10);
    }
    expect(sent.map((view) => view.getUint32(4))).toEqual([7, 8, 9]);
    expect(sent.map((view) => view.getUint32(8))).toEqual([1, 2, 3]);
    const held = sent.map((view) => Number(view.getBigUint64(24) - view.getBigUint64(16)));
    expect(held[0]).toBeLessThan(5_000);
    expect(held[2]).toBeGreaterThanOrEqual(10_000);
    answers.close();
    vi.useRealTimers();
  });
});

describe("a result", () => {
  const bloated: Result = {
    verdict: { level: "bad", headline: "", phase: "up" },
    summary: {
      lag_up_s: 0.406, lag_down_s: 0.101, lag_both_s: 0.412, idle_p50_s: 0.0215,
      goodput_up_bits_per_second: 4.75e6, goodput_down_bits_per_second: 19.1e6, responsiveness_rpm: 169.4, grade: "D",
      phases: [
        { phase: "idle", call_mos: 4.4, games: "all", page_load_s: 1.08 },
        { phase: "up", call_mos: 2.78, games: "third_person", page_load_s: 4.61 },
        { phase: "both", goodput_down_bits_per_second: 9.9e6 },
      ],
    },
    advice: [
      { action: "shape", direction: "up", min_bits_per_second: 4.2e6, max_bits_per_second: 4.7e6 },
      { action: "unknown to this page" },
    ],
    started: "2026-01-01T00:00:00Z",
    is_partial: false,
  };
  it("is a headline, three numbers, uses and advice", () => {
    expect(headline("en", bloated)).toBe("Your upload makes everything wait: +406 ms when busy.");
    expect(worstLag(bloated)).toBe(0.406);
    expect(numbers("en", bloated)).toEqual({
      lag: "+406 ms upload, +101 ms download (idle 22 ms)",
      throughput: "4.75 Mbit/s upload, 19.1 Mbit/s download",
      responsiveness: "169 RPM, D",
    });
    expect(uses("en", bloated)).toEqual([
      ["Calls", "clear", "break up"],
      ["Games", "all work", "shooters lag"],
      ["Web pages", "1.1 s each", "4.6 s each"],
      ["Video", "HD", "HD"],
    ]);
    expect(advice("en", bloated)[0]).toBe("On the router, turn on SQM (fq_codel or CAKE) and limit the upload to 4.20 Mbit/s – 4.70 Mbit/s.");
    expect(advice("en", bloated)).toHaveLength(2);
  });
  it("says how long flows take to settle behind the shaper", () => {
    for (const direction of ["up", "down"] as const) {
      const slow: Result = { ...bloated, advice: [{ ...bloated.advice[0], action: "shape", direction, adapted_after_s: 156.2 }] };
      const texts = ALL.map((language) => advice(language, slow)[0]);
      expect(texts.filter((text) => !text?.includes("156 s"))).toEqual([]);
    }
  });
  it("is complete in each language", () => {
    for (const language of ALL) {
      const texts = [headline(language, bloated), ...uses(language, bloated).flat(), ...advice(language, bloated)];
      expect(texts.filter((text) => text === "" || text.includes("{}") || text.includes("undefined"))).toEqual([]);
    }
  });
  it("says when the browser was the limit, and promises nothing where nothing is known", () => {
    const late: Result = {
      ...bloated, advice: [], summary: { phases: [] },
      verdict: { headline: "", reason: { kind: "late" } },
    };
    expect(levelOf(late)).toBe("no_result");
    expect(headline("en", late)).toBe("Your browser was too busy to measure.");
    const limited: Result = { ...late, verdict: { headline: "", reason: { kind: "receiver_limited" } } };
    expect(headline("en", limited)).toBe("Your browser was too busy to measure.");
    const slow: Result = { ...late, verdict: { headline: "", reason: { kind: "sender_idle" } } };
    expect(headline("en", slow)).toBe("The server, not your line, was the limit.");
    expect(advice("en", slow)).toEqual(["Test with another server, or when this one is less busy."]);
    expect(uses("en", late)).toEqual([]);
    expect(numbers("en", late)).toEqual({ lag: "–", throughput: "–", responsiveness: "–" });
    expect(advice("en", { ...late, verdict: { headline: "", reason: { kind: "other_traffic" } } })).toEqual([
      "Make sure that nobody else uses the line, and test again. The report has the reason.",
    ]);
  });
});
