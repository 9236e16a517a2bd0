import { describe, expect, it } from "vitest";
import { writeLabel } from "../src/watch/label.ts";

/**
 * Left and right edge of text on a canvas 200 wide, on a screen of twice the density; a letter is
 * 10 wide.
 */
function edges(text: string, align: CanvasTextAlign, x: number): [number, number] {
  let found: [number, number] = [NaN, NaN];
  const context = {
    canvas: { width: 400 },
    textAlign: align,
    getTransform: () => ({ a: 2 }) as DOMMatrix,
    measureText: (of: string) => ({ width: of.length * 10 }) as TextMetrics,
    fillText: (of: string, at: number) => {
      const width = of.length * 10;
      const left = at - (align === "right" ? width : align === "center" ? width / 2 : 0);
      found = [left, left + width];
    },
  };
  writeLabel(context, text, x, 5);
  return found;
}

describe("a label", () => {
  it("stays where it is if it fits", () => {
    expect(edges("1 ms", "center", 100)).toEqual([80, 120]);
    expect(edges("1 ms", "right", 58)).toEqual([18, 58]);
  });
  it("is whole at the left edge", () => {
    expect(edges("1,000 Mbit/s", "right", 52)).toEqual([0, 120]);
    expect(edges("12 Nov", "center", 3)).toEqual([0, 60]);
  });
  it("is whole at the right edge", () => {
    expect(edges("12 Nov", "center", 195)).toEqual([140, 200]);
    expect(edges("12 Nov", "left", 195)).toEqual([140, 200]);
  });
});
