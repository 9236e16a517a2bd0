import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { labels, moment, quantity, scaleFor, thousands, ticks } from "../src/format.ts";

/** Rows of golden/text.txt, which the Rust programs use too: form, value and text. */
const golden = readFileSync(new URL("../../golden/text.txt", import.meta.url), "utf8")
  .split("\n")
  .map((line) => /^(\w+) (\S+) = (.+)$/.exec(line))
  .filter((row) => row !== null)
  .map(([, form, value, text]) => [form, Number(value), text] as const);

/** The forms that pages use. Terminals may lack "µ". */
const FORMS = new Map<string, (value: number) => string>([
  ["delay", (value) => quantity(value, "seconds").replace("µs", "us")],
  ["rate", (value) => quantity(value, "rate")],
  ["bytes", (value) => quantity(value, "bytes")],
  ["thousands", thousands],
]);

describe("numbers as a person reads them", () => {
  it.each(golden.filter(([form]) => FORMS.has(form)))("%s of %d is %s in the Rust programs, too", (form, value, text) => {
    expect(FORMS.get(form)?.(value)).toBe(text);
  });

  it.each([
    [0, "seconds", "0 ms"],
    [0.000_000_4, "seconds", "400 ns"],
    [0.000_42, "seconds", "420 µs"],
    [0.0103, "seconds", "10.3 ms"],
    [1.0486, "seconds", "1,049 ms"],
    [716, "seconds", "716 s"],
    [0, "bytes", "0 B"],
    [12, "bytes", "12 B"],
    [999.6e3, "bytes", "1.00 MB"],
    [1_249_998, "bytes", "1.25 MB"],
    [9.989e6, "rate", "9.99 Mbit/s"],
    [999.6e3, "rate", "1.00 Mbit/s"],
    [940e6, "rate", "940 Mbit/s"],
    [3, "plain", "3"],
    [0.25, "plain", "0.25"],
    [NaN, "seconds", "–"],
  ] as const)("%d in %s is %s", (value, unit, text) => {
    expect(quantity(value, unit)).toBe(text);
  });

  it.each([
    [-1234.4, "-1,234"],
    [999.5, "1,000"],
    [1e6, "1,000,000"],
    [-0.2, "0"],
  ])("%d in groups is %s", (value, text) => {
    expect(thousands(value)).toBe(text);
  });

  it("gives a moment as many decimals as a pixel resolves", () => {
    expect(moment(12_345_678_901, 1e9)).toBe("12 s");
    expect(moment(12_345_678_901, 1e6)).toBe("12.346 s");
    expect(moment(12_345_678_901, 1)).toBe("12.345678901 s");
    expect(moment(12_345_678_901, 0.01)).toBe("12.345678901 s");
  });
});

describe("axes", () => {
  it.each([
    [0, 10, 5, [0, 2, 4, 6, 8, 10]],
    [-0.3, 1, 3, [0, 0.5, 1]],
    [7.4332, 7.4341, 4, [7.4335, 7.434]],
    [0, 0, 5, []],
    [0, NaN, 5, []],
  ])("from %d to %d, at most %d or so", (from, to, most, values) => {
    expect(ticks(from, to, most).map((v) => Number(v.toPrecision(9)))).toEqual(values);
  });

  it("labels all with the same decimals, which their step needs", () => {
    expect(labels([7.432, 7.434, 7.436], 1)).toEqual(["7.432", "7.434", "7.436"]);
    expect(labels([0, 0.05, 0.1], 1e-3)).toEqual(["0", "50", "100"]);
    expect(labels([0, 5e8, 1e9], 1e9)).toEqual(["0.0", "0.5", "1.0"]);
  });

  it("never has as many labels that two are the same", () => {
    for (let n = 0; n < 500; n++) {
      const from = Math.sin(n) * 10 ** (n % 9);
      const to = from + 10 ** ((n % 13) - 6) * (1 + (n % 7));
      const values = ticks(from, to, 6);
      const texts = labels(values, scaleFor("plain", to).factor);
      expect(new Set(texts).size, `${from} to ${to}`).toBe(values.length);
      expect(values.length).toBeLessThanOrEqual(7);
      expect(values.every((v) => v >= from - 1e-9 * Math.abs(from) && v <= to)).toBe(true);
    }
  });
});
