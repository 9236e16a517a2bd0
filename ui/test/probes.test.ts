import { describe, expect, it } from "vitest";
import type { ProbeData } from "../src/data.ts";
import { nearestMark } from "../src/nearest.ts";
import { random } from "./random.ts";

/** Echoes at random times. */
function echoes(seed: number, count: number): ProbeData {
  const next = random(seed);
  const at = Float64Array.from({ length: count }, () => Math.floor(next() * 1e9)).sort();
  const took = at.map(() => 0.01 + next());
  const frame = at.map((_, i) => 2 * i + 2);
  const route = Array.from(at, () => "10.7.0.1 → 10.7.0.2");
  return { name: "ICMP echo", unanswered: 0, stride: 1, at, took, frame, askedFrame: frame.map((n) => n - 1), route };
}

describe("a mark", () => {
  it("under the cursor is shown with its frame", () => {
    for (let seed = 1; seed < 30; seed++) {
      const probes = echoes(seed, 200);
      const i = seed * 5;
      const place = { ns: probes.at[i], value: probes.took[i], nsPerPixel: 1e6, valuePerPixel: 1e-3 };
      const hit = nearestMark([probes], place);
      expect(hit?.frame, `seed ${seed}`).toBe(probes.frame[i]);
      expect(hit?.what).toContain(`(request in frame ${probes.askedFrame[i]})`);
    }
  });

  it("farther than a finger is not what one points at", () => {
    const probes = echoes(1, 1);
    const place = { ns: probes.at[0] + 11, value: probes.took[0], nsPerPixel: 1, valuePerPixel: 1e-3 };
    expect(nearestMark([probes], place)).toBeUndefined();
    expect(nearestMark([probes], { ...place, ns: probes.at[0] + 9 })?.frame).toBe(2);
  });
});
