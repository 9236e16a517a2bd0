import { FONT, FONT_SIZE, type Align, type Rect, type Surface } from "./surface.ts";

/** Draws on the screen. Coordinates are CSS pixels; the context is already scaled. */
export class CanvasSurface implements Surface {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  clipped(rect: Rect, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(rect.left, rect.top, rect.width, rect.height);
    context.clip();
    draw();
    context.restore();
  }

  line(points: readonly number[], colour: string, width: number, dash: readonly number[] = []): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash([...dash]);
    context.beginPath();
    for (let i = 0, broken = true; i < points.length; i += 2) {
      const [x, y] = [points[i], points[i + 1]];
      if (Number.isNaN(y)) broken = true;
      else if (broken) {
        context.moveTo(x, y);
        broken = false;
      } else context.lineTo(x, y);
    }
    context.stroke();
    context.setLineDash([]);
  }

  dots(points: readonly number[], colour: string, size: number): void {
    this.context.fillStyle = colour;
    const half = size / 2;
    for (let i = 0; i < points.length; i += 2) {
      this.context.fillRect(points[i] - half, points[i + 1] - half, size, size);
    }
  }

  rects(rects: readonly number[], colour: string, opacity: number): void {
    const { context } = this;
    context.fillStyle = colour;
    context.globalAlpha = opacity;
    for (let i = 0; i < rects.length; i += 4) {
      context.fillRect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
    }
    context.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, colour: string, align: Align, bold = false): void {
    const { context } = this;
    context.font = `${bold ? "600 " : ""}${FONT_SIZE}px ${FONT}`;
    context.fillStyle = colour;
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillText(text, x, y);
  }
}
