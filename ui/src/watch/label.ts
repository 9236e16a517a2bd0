/** What a label needs of a canvas. */
type Canvas = Pick<CanvasRenderingContext2D, "fillText" | "measureText" | "getTransform" | "textAlign"> & { canvas: { width: number } };

/** Writes a label, moved inwards where it would be cut at the left or right edge of the canvas. */
export function writeLabel(context: Canvas, text: string, x: number, y: number): void {
  const width = context.measureText(text).width;
  const before = context.textAlign === "right" ? width : context.textAlign === "center" ? width / 2 : 0;
  // In the units of drawing: a canvas of a dense screen has more pixels.
  const right = context.canvas.width / context.getTransform().a - width + before;
  context.fillText(text, Math.max(Math.min(x, right), before), y);
}
