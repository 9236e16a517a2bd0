/** The part of a canvas context that a label needs. */
type Canvas = Pick<CanvasRenderingContext2D, "fillText" | "measureText" | "getTransform" | "textAlign"> & { canvas: { width: number } };

/** Draws a label, shifted inward if it would be cut off at the left or right edge. */
export function writeLabel(context: Canvas, text: string, x: number, y: number): void {
  const width = context.measureText(text).width;
  const before = context.textAlign === "right" ? width : context.textAlign === "center" ? width / 2 : 0;
  // In drawing units: on a high-density screen the canvas has more pixels.
  const right = context.canvas.width / context.getTransform().a - width + before;
  context.fillText(text, Math.max(Math.min(x, right), before), y);
}
