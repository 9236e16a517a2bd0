import { describe, expect, it } from "vitest";
import { onlyOf, queryOf } from "../src/fleet/api.ts";
import { decades, logScale, share, valueAt } from "../src/fleet/logscale.ts";
import { hashOf, type Place, readPlace, spanOf } from "../src/fleet/place.ts";
import { percent, state, worst } from "../src/fleet/words.ts";
import { random as seeded } from "./random.ts";

const first: Place = { view: "sites", site: "", days: 7, to: undefined, by: "", only: [], direction: "up", search: "" };

describe("a place", () => {
  it("is the first one without a hash, and with one that is damaged", () => {
    for (const hash of ["", "#", "#/", "#/sites", "#/nothing", "#/site/", "#/site/%", "#/sites?days=-1&to=x", "#/sites?days=1e99"]) {
      expect(readPlace(hash), hash).toEqual(first);
    }
  });

  it("survives being written and read, whatever its names contain", () => {
    const next = seeded(5);
    const below = (most: number): number => Math.floor(next() * most);
    const parts = ["a", "&", "=", "%", "/", "?", "#", "+", " ", "ü", "<b>", "100/20", ","];
    const text = (): string => Array.from({ length: 1 + below(4) }, () => parts[below(parts.length)]).join("");
    const views = ["sites", "buffers", "trend", "changes", "together", "site"] as const;
    for (let n = 0; n < 500; n++) {
      const view = views[below(views.length)];
      const place: Place = {
        view,
        site: view === "site" ? `s${text()}` : "",
        days: 1 + below(400),
        to: below(2) ? 1_796_083_200 + below(1_000) : undefined,
        by: below(2) ? text() : "",
        only: Array.from({ length: below(3) }, (): [string, string] => [text(), text()]),
        direction: below(2) ? "up" : "down",
        search: below(2) ? text() : "",
      };
      expect(readPlace(hashOf(place)), hashOf(place)).toEqual(place);
    }
  });

  it("has a period that ends in five minutes at most, so that views share answers", () => {
    const now = 1_796_083_201;
    expect(spanOf(first, now)).toEqual({ from: 1_796_083_500 - 604_800, to: 1_796_083_500 });
    expect(spanOf({ ...first, to: 604_800 * 2 }, now)).toEqual({ from: 604_800, to: 604_800 * 2 });
    expect(spanOf({ ...first, to: 1 }, now).from).toBe(0);
  });
});

describe("a request", () => {
  it("has labels as one value", () => {
    const only = onlyOf([["provider", "A & B"], ["plan", "100/20"]]);
    expect(only).toBe("provider=A%20%26%20B&plan=100%2F20");
    expect(queryOf({ from: 1, by: "", only, limit: undefined })).toBe("from=1&only=provider%3DA%2520%2526%2520B%26plan%3D100%252F20");
  });
});

describe("a logarithmic axis", () => {
  it("holds all values between whole decades", () => {
    const next = seeded(7);
    const below = (most: number): number => Math.floor(next() * most);
    for (let n = 0; n < 300; n++) {
      const values = Array.from({ length: 1 + below(20) }, () => 10 ** (12 * next() - 2));
      const scale = logScale(values);
      if (!scale) throw new Error("no scale");
      for (const value of values) {
        expect(share(scale, value)).toBeGreaterThanOrEqual(0);
        expect(share(scale, value)).toBeLessThanOrEqual(1);
        expect(valueAt(scale, share(scale, value)) / value).toBeCloseTo(1, 9);
      }
      const all = decades(scale);
      expect(all[0] / scale.low).toBeCloseTo(1, 9);
      expect(all[all.length - 1] / scale.high).toBeCloseTo(1, 9);
    }
  });

  it("has no values that it cannot hold", () => {
    expect(logScale([])).toBeUndefined();
    expect(logScale([0, -1, NaN, Infinity])).toBeUndefined();
    expect(logScale([1e6])).toEqual({ low: 1e5, high: 1e7 });
  });
});

describe("words", () => {
  it("take the larger lag, and its state", () => {
    const values = { lag_up_s: 0.1, lag_down_s: 0.3, idle_p50_s: null, goodput_up_bits_per_second: null, goodput_down_bits_per_second: null, buffer_up_bytes: null, buffer_down_bytes: null };
    expect(worst(values)).toBe(0.3);
    expect(worst({ ...values, lag_up_s: null, lag_down_s: null })).toBeNull();
    expect([null, 0.05, 0.1, 0.2].map(state)).toEqual(["good", "good", "fair", "bad"]);
    expect([0, 0.034, 0.5].map(percent)).toEqual(["0 %", "3.4 %", "50 %"]);
  });
});
