import { describe, expect, it } from "vitest";
import { spanText, timeTicks } from "../src/axis.ts";
import { offsets } from "../src/watch/heat.ts";
import { levelFor, TILE_COLUMNS, tilesOf, WIDTHS } from "../src/watch/levels.ts";
import { lossClass, percent } from "../src/watch/loss.ts";
import { hashOf, readPlace } from "../src/watch/place.ts";
import { scaleOf } from "../src/watch/scale.ts";
import { Tiles } from "../src/watch/tiles.ts";
import { clamp, isLive, lastSeconds, pan, zoom } from "../src/watch/view.ts";
import { type Columns, decodeColumns, SHARES, valueOf } from "../src/watch/wire.ts";
import { random } from "./random.ts";

const NOW = 1_795_132_800;

/** Columns with 10 probes each and this delay. */
function columns(from: number, to: number, delay = 0.01, peak = delay, held = 0): Columns {
  const filled = (value: number): Float32Array => new Float32Array(TILE_COLUMNS).fill(value);
  const counts = (value: number): Uint32Array => new Uint32Array(TILE_COLUMNS).fill(value);
  const zero = counts(0);
  const max = filled(delay);
  max[7] = peak;
  return { unit: "seconds", from, to, held, count: TILE_COLUMNS, min: filled(delay), max, sent: counts(10), answered: counts(10), late: zero, lost: zero, failed: zero, quantiles: SHARES.map(() => filled(delay)) };
}

describe("levels", () => {
  it("have widths that divide days, or are whole days", () => {
    for (const width of WIDTHS) expect(width >= 86_400 ? width % 86_400 : Math.round((86_400 / width) * 10) % 10, String(width)).toBe(0);
  });
  it("give a column a pixel at least, and two and a half at most", () => {
    for (let perPixel = 0.1; perPixel < 600_000; perPixel *= 1.07) {
      const ratio = WIDTHS[levelFor(perPixel)] / perPixel;
      expect(ratio).toBeGreaterThanOrEqual(0.999);
      expect(ratio, String(perPixel)).toBeLessThanOrEqual(3.001);
    }
  });
  it("cover a range with the tiles that it touches", () => {
    const span = TILE_COLUMNS * WIDTHS[3];
    expect(tilesOf(3, 10 * span, 12 * span)).toEqual({ first: 10, last: 11 });
    expect(tilesOf(3, 10 * span, 12 * span + 1)).toEqual({ first: 10, last: 12 });
  });
});

describe("tiles", () => {
  const wait = (): Promise<void> => new Promise((done) => setTimeout(done, 0));
  it("stand in for finer ones until these are there", async () => {
    const asked: string[] = [];
    const tiles = new Tiles(async (series, from, to) => (asked.push(`${series} ${to - from}`), columns(from, to)), () => undefined, () => NOW * 1e3);
    tiles.want([1], NOW - 86_400, NOW, 86_400 / 1_000);
    for (let n = 0; n < 20; n++) await wait();
    const wide = tiles.pieces(1, NOW - 86_400, NOW, 86_400 / 1_000);
    expect(wide.every(({ tile }) => tile.width === 120)).toBe(true);
    const total = wide.reduce((sum, { first, last }) => sum + last - first, 0);
    expect(total).toBe(720);
    // Zoomed in: nothing is loaded yet, but the plot is not empty.
    const closer = tiles.pieces(1, NOW - 3_600, NOW, 3.6);
    expect(closer.map(({ tile, first, last }) => (last - first) * tile.width).reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(3_600);
    expect(asked.length).toBeLessThan(12);
  });
  it("that are over are never asked for again, and a failed one is reported and requested later", async () => {
    let [now, calls, broken] = [NOW * 1e3, 0, true];
    const load = async (_: number, from: number, to: number): Promise<Columns> => {
      calls++;
      if (broken) throw new Error("no disk");
      return columns(from, to);
    };
    const tiles = new Tiles(load, () => undefined, () => now);
    const want = async (): Promise<number> => {
      const before = calls;
      tiles.want([1], NOW - 9e6, NOW - 9e6 + 600, 1);
      for (let n = 0; n < 20; n++) await wait();
      return calls - before;
    };
    expect(await want()).toBeGreaterThan(0);
    expect(tiles.trouble).toBe("no disk");
    expect(await want()).toBe(0);
    now += 4_000;
    broken = false;
    expect(await want()).toBeGreaterThan(0);
    expect(tiles.trouble).toBe("");
    now += 86_400_000;
    expect(await want()).toBe(0);
  });
});

describe("the server's bytes", () => {
  it("are read to the value, and refused if they are another's", () => {
    const count = 3;
    const bytes = new ArrayBuffer(40 + count * (20 + 2 * (SHARES.length + 2)));
    const head = new DataView(bytes);
    [0x314d5346, count, SHARES.length, 0].forEach((value, n) => head.setUint32(4 * n, value, true));
    [100, 103, 1].forEach((value, n) => head.setFloat64(16 + 8 * n, value, true));
    head.setUint32(40 + 4, 7, true);
    head.setInt16(40 + 20 * count, -32768, true);
    head.setInt16(40 + 20 * count + 2, -256, true);
    const read = decodeColumns(bytes);
    expect([...read.sent]).toEqual([0, 7, 0]);
    expect(Number.isNaN(read.min[0])).toBe(true);
    expect(read.min[1]).toBe(0.5);
    expect(valueOf(-32767)).toBe(0);
    for (const wrong of [new ArrayBuffer(0), new ArrayBuffer(40), bytes.slice(0, -2)]) expect(() => decodeColumns(wrong)).toThrow(RangeError);
  });
});

describe("the view", () => {
  it("never leaves what can be drawn, whatever is done to it", () => {
    const next = random(11);
    let view = lastSeconds(3_600, NOW);
    for (let n = 0; n < 2_000; n++) {
      const about = view.from + next() * (view.to - view.from);
      view = next() < 0.5 ? zoom(view, about, 10 ** (4 * next() - 2), NOW) : pan(view, (next() - 0.5) * 4e7, NOW);
      expect(view.to).toBeLessThanOrEqual(NOW + 0.011 * (view.to - view.from));
      expect(view.to - view.from).toBeGreaterThan(9.99);
      expect(view.from).toBeGreaterThanOrEqual(0);
    }
  });
  it("is live at the present, and not before", () => {
    expect(isLive(lastSeconds(600, NOW), NOW)).toBe(true);
    expect(isLive(pan(lastSeconds(600, NOW), -30, NOW), NOW)).toBe(false);
    expect(clamp({ from: NOW, to: NOW + 9e9 }, NOW).to).toBeLessThan(NOW * 1.01);
  });
  it("is its address, and no address breaks it", () => {
    const view = { from: NOW - 3_600, to: NOW };
    expect(readPlace(hashOf([3, 7], view, false))).toEqual({ page: "targets", series: [3, 7], seconds: 3_600, to: NOW });
    expect(readPlace(hashOf([3], view, true))).toEqual({ page: "targets", series: [3], seconds: 3_600, to: undefined });
    for (const wrong of ["", "#", "#/targets/", "#/targets/x", "#/targets/-1", "#/nothing/3", "#/targets/1.5"]) expect(readPlace(wrong).page).toBe("overview");
  });
});

describe("words", () => {
  it("of time are those of the reader's clock", () => {
    const ticks = timeTicks(NOW - 86_400, NOW, 12);
    expect(ticks.length).toBeGreaterThan(5);
    expect(ticks.every(({ at }) => new Date(at * 1e3).getMinutes() === 0)).toBe(true);
    for (const span of [10, 60, 600, 3_600, 86_400, 604_800, 2.6e6, 3.2e7, 6e8]) {
      const count = timeTicks(NOW - span, NOW, 12).length;
      expect(count, `${span} s`).toBeGreaterThan(1);
      expect(count, `${span} s`).toBeLessThan(17);
    }
    expect([1, 60, 5_400, 86_400, 864_000, 31_557_600].map(spanText)).toEqual(["1 second", "1 minute", "1.5 hours", "1 day", "10 days", "1 year"]);
  });
  it("of loss are as fine as needed", () => {
    expect([0, 0.0002, 0.0123, 0.5, 1, NaN].map(percent)).toEqual(["0 %", "0.02 %", "1.2 %", "50 %", "100 %", "–"]);
    expect([0, 0.005, 0.006, 0.05, 0.5, 1].map(lossClass)).toEqual([0, 0, 1, 2, 3, 3]);
  });
});

describe("the scale", () => {
  const piece = (peak: number) => {
    const tile = { columns: columns(0, 256, 0.01, peak), width: 1, filled: Array.from({ length: 256 }, (_, n) => n), pace: 1, asked: 0 };
    return [{ tile, first: 0, last: 256 }];
  };
  it("cuts a rare peak only where it would flatten all else", () => {
    expect(scaleOf(piece(0.02), "fit", 0.001).high).toBeGreaterThan(0.02);
    expect(scaleOf(piece(0.5), "fit", 0.001).high).toBeLessThan(0.02);
    expect(scaleOf(piece(0.5), "whole", 0.001).high).toBeGreaterThan(0.5);
    const log = scaleOf(piece(0.5), "log", 0.001);
    expect(log.low).toBeLessThanOrEqual(0.01);
    expect(log.high).toBeGreaterThan(0.5);
  });
});

describe("the hours of the day", () => {
  it("cover a range without hole or overlap, also where the clock is changed", () => {
    const parts = offsets(NOW - 300 * 86_400, NOW);
    expect(parts[0].start).toBe(NOW - 300 * 86_400);
    expect(parts[parts.length - 1].end).toBe(NOW);
    parts.slice(1).forEach((part, n) => expect(part.start).toBe(parts[n].end));
  });
});
