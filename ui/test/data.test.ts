import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SegmentBars } from "../src/bars.ts";
import { decode } from "../src/data.ts";
import { pack } from "../src/gl.ts";
import { nearest, placeOf } from "../src/nearest.ts";
import { fromBase64, Reader } from "../src/reader.ts";
import { SvgSurface } from "../src/svg.ts";

// Written by the tests of core/present/trace-page from a model run of 1500 segments; `make golden`
// updates it.
const golden = readFileSync(new URL("../../golden/timeline/sawtooth.b64", import.meta.url), "utf8").trim();
const counts = JSON.parse(readFileSync(new URL("../../golden/timeline/sawtooth.json", import.meta.url), "utf8")) as Record<string, number>;

describe("the page's data", () => {
  const capture = decode(fromBase64(golden));
  const [track] = capture.tracks;
  const count = (is: (code: number) => boolean): number => track.events.all.filter((e) => is(e.code)).length;

  it("is what the recorder wrote", () => {
    expect(capture.tracks.length).toBe(1);
    expect(track.name).toBe("10.7.0.1:43210 → 10.7.0.2:5201");
    expect(track.segments.at.length).toBe(counts["segments"]);
    expect(track.acks.at.length).toBe(counts["acks"]);
    expect(count((code) => code === 32)).toBe(counts["losses"]);
    expect(count((code) => code >= 1 && code <= 5)).toBe(counts["retransmissions"]);
    expect(track.episodes.reduce((sum, e) => sum + e.losses, 0)).toBe(counts["losses"]);
    expect(new Date(capture.began).toISOString()).toBe("2023-11-14T22:13:20.123Z");
  });

  it("has time going forward, and each byte of the file in a segment", () => {
    for (const { at } of [track.segments, track.acks, track.bySequence]) {
      expect(at.every((t, i) => i === 0 || t >= at[i - 1])).toBe(true);
    }
    const bytes = track.segments.start.reduce((sum, start, i) => sum + track.segments.stop[i] - start, 0);
    expect(bytes).toBe(track.bytes);
  });

  it("counts as delivered what ACKs and SACK blocks tell, each byte once", () => {
    const { delivered, acknowledgement } = track.acks;
    expect(delivered.every((bytes, i) => i === 0 || bytes >= delivered[i - 1])).toBe(true);
    expect(delivered.every((bytes, i) => bytes >= acknowledgement[i] - 1)).toBe(true);
    expect(delivered[delivered.length - 1]).toBeLessThanOrEqual(track.bytes);
  });

  it("is not read beyond its end", () => {
    const bytes = fromBase64(golden);
    expect(() => decode(bytes.subarray(0, bytes.length - 1))).toThrow(RangeError);
    expect(() => decode(Uint8Array.of(...bytes, 0))).toThrow(RangeError);
  });

  it("leads from a frame to its place and back", () => {
    for (let i = 0; i < track.segments.at.length; i += 97) {
      const [frame, at] = [track.segments.frame[i], track.segments.at[i]];
      expect(placeOf(track, frame)).toMatchObject({ at, exact: true });
      const value = (track.segments.start[i] + track.segments.stop[i]) / 2;
      const hit = nearest(track, { ns: at, value, nsPerPixel: 1, valuePerPixel: 1 });
      expect(hit?.frame).toBe(frame);
    }
  });

  it("is drawn as at most one bar a column from afar, and as each segment from near", () => {
    const bars = new SegmentBars(track.segments);
    const all = { start: 0, end: capture.span + 1 };
    const far = bars.inView(all, 100);
    expect(far.single).toBe(false);
    expect(far.bars.to).toBeLessThanOrEqual(101);
    const covered = { low: Math.min(...Array.from(far.bars.start)), high: Math.max(...Array.from(far.bars.stop)) };
    const near = bars.inView(all, 10_000);
    expect(near.bars.to - near.bars.from + bars.rareInView(all).to).toBe(track.segments.at.length);
    expect(covered).toEqual({ low: Math.min(...Array.from(near.bars.start)), high: Math.max(...Array.from(near.bars.stop)) });
  });
});

describe("numbers", () => {
  it("beyond 32 bits are exact", () => {
    const bytes = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f);
    expect(new Reader(bytes).number()).toBe(2 ** 53 - 1);
    expect(new Reader(bytes).signed()).toBe(-(2 ** 52));
  });

  it("of the graphics card hold a hundred hours in nanoseconds and terabytes", () => {
    const bars = { at: [2 ** 40 + 5], start: [2 ** 44 + 7], stop: [2 ** 44 + 7 + 1448], kind: [3], from: 0, to: 1 };
    expect([...pack(bars)]).toEqual([5, 7, (2 ** 8) | (2 ** 12 << 16), (1448 << 4) | 3].map((n) => n >>> 0));
  });
});

describe("SVG", () => {
  it("holds text as text", () => {
    const surface = new SvgSurface();
    surface.text(1, 2, `</text><script>"&'\u0007`, "#000000", "left");
    const svg = surface.finish(10, 10, "<title>", "#ffffff");
    expect(svg).toContain("&lt;/text&gt;&lt;script&gt;&quot;&amp;&#39; ");
    expect(svg).not.toContain("<script>");
  });

  it("breaks a line at a gap", () => {
    const surface = new SvgSurface();
    surface.line([0, 0, 1, 1, 2, NaN, 3, 3, 4, 4.04], "#000000", 1);
    expect(surface.finish(10, 10, "", "#ffffff")).toContain('d="M0 0L1 1M3 3L4 4"');
  });
});
