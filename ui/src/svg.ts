import { FONT, FONT_SIZE, type Align, type Rect, type Surface } from "./surface.ts";

/** Escapes text for XML. */
export function escapeXml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  // XML 1.0 section 2.2: the only valid control characters are tab and line ends.
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ").replace(/[&<>"']/g, (c) => names[c]);
}

/** A tenth of a pixel is finer than any screen. */
function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A self-contained SVG picture: no scripts, no external styles. */
export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private clips = 0;

  clipped(rect: Rect, draw: () => void): void {
    const id = `clip${this.clips++}`;
    const box = `x="${short(rect.left)}" y="${short(rect.top)}" width="${short(rect.width)}" height="${short(rect.height)}"`;
    this.parts.push(`<clipPath id="${id}"><rect ${box}/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  line(points: readonly number[], colour: string, width: number, dash: readonly number[] = []): void {
    let path = "";
    for (let i = 0, broken = true; i < points.length; i += 2) {
      const [x, y] = [points[i], points[i + 1]];
      if (Number.isNaN(y)) broken = true;
      else {
        path += `${broken ? "M" : "L"}${short(x)} ${short(y)}`;
        broken = false;
      }
    }
    if (path === "") return;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const stroke = `stroke="${escapeXml(colour)}" stroke-width="${width}"${dashes}`;
    this.parts.push(`<path d="${path}" fill="none" stroke-linejoin="round" ${stroke}/>`);
  }

  dots(points: readonly number[], colour: string, size: number): void {
    const rects: number[] = [];
    for (let i = 0; i < points.length; i += 2) rects.push(points[i] - size / 2, points[i + 1] - size / 2, size, size);
    this.rects(rects, colour, 1);
  }

  rects(rects: readonly number[], colour: string, opacity: number): void {
    let path = "";
    for (let i = 0; i < rects.length; i += 4) {
      const [width, height] = [short(rects[i + 2]), short(rects[i + 3])];
      path += `M${short(rects[i])} ${short(rects[i + 1])}h${width}v${height}h-${width}z`;
    }
    const faint = opacity < 1 ? ` fill-opacity="${opacity}"` : "";
    if (path !== "") this.parts.push(`<path d="${path}" fill="${escapeXml(colour)}"${faint}/>`);
  }

  text(x: number, y: number, text: string, colour: string, align: Align, bold = false): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const place = `x="${short(x)}" y="${short(y)}" text-anchor="${anchor}" dominant-baseline="central"`;
    const weight = bold ? ` font-weight="600"` : "";
    this.parts.push(`<text ${place}${weight} fill="${escapeXml(colour)}">${escapeXml(text)}</text>`);
  }

  /** The complete file. */
  finish(width: number, height: number, title: string, paper: string): string {
    const [w, h] = [short(width), short(height)];
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" ` +
      `font-family="${escapeXml(FONT)}" font-size="${FONT_SIZE}"><title>${escapeXml(title)}</title>` +
      `<rect width="${w}" height="${h}" fill="${escapeXml(paper)}"/>${this.parts.join("")}</svg>\n`
    );
  }
}
