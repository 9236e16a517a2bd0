import { expect, it } from "vitest";
import { bringNear } from "../src/scene.ts";

it.each([
  ["a line that crosses", [-1000, 0, 1000, 200], [-100, 90, 100, 110]],
  ["a line inside", [-50, 1, 50, 2], [-50, 1, 50, 2]],
  ["the corner of a step", [-1000, 5, 0, 5, 0, 7, 1000, 7, 1000, 9], [-100, 5, 0, 5, 0, 7, 100, 7, 100, 7]],
  ["nothing", [], []],
  ["a point", [-1000, 3], [-1000, 3]],
])("%s is brought near along itself", (_, pixels, near) => {
  bringNear(pixels, -100, 100);
  expect(pixels).toEqual(near);
});
