// Panels above each other on one time axis, on a canvas.

/** Space at both sides of the panels, in pixels. */
export const LEFT = 74;
export const RIGHT = 14;

export interface Point {
  at: number;
  /** NaN ends the line until the next point. */
  value: number;
}

/** A canvas that was made ready: cleared, with the sharpness of the screen. */
export interface Drawing {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  colour(name: string): string;
}

export interface Panel {
  name: string;
  top: number;
  height: number;
  /** The axis ends at this value or above. */
  least: number;
  format(value: number): string;
}

export interface Line {
  points: Point[];
  ink: string;
  isDotted?: boolean;
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least so large. */
export const niceTop = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value * 0.9999) ?? 10);
};

/** Makes a canvas ready; nothing if it is not visible. */
export const begin = (canvas: HTMLCanvasElement): Drawing | undefined => {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width === 0) return undefined;
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  context.font = `12px ${style.fontFamily}`;
  return { context, width, height, colour: (name) => style.getPropertyValue(name).trim() };
};

/** Draws a panel with its axis and its lines. */
export const panel = (
  { context, width, colour }: Drawing,
  x: (at: number) => number,
  { name, top, height, least, format }: Panel,
  lines: Line[],
): void => {
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value).filter(Number.isFinite));
  const limit = niceTop(values.reduce((most, value) => Math.max(most, value), least));
  const y = (value: number) => top + height * (1 - value / limit);
  context.strokeStyle = colour("--hair");
  context.lineWidth = 1;
  context.textAlign = "right";
  for (const share of [0, 0.5, 1]) {
    const at = Math.round(y(limit * share)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, at);
    context.lineTo(width - RIGHT, at);
    context.stroke();
    context.fillStyle = colour("--dim");
    context.fillText(format(limit * share), LEFT - 5, at + 4);
  }
  context.textAlign = "left";
  context.fillStyle = colour("--ink");
  context.fillText(name, LEFT + 4, top + 13);
  for (const { points, ink, isDotted } of lines) {
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = 1.8;
    context.beginPath();
    let isPen = false;
    for (const { at, value } of points) {
      if (isDotted) context.fillRect(x(at) - 1, y(value) - 1, 2, 2);
      if (Number.isNaN(value)) isPen = false;
      else if (isPen) context.lineTo(x(at), y(value));
      else context.moveTo(x(at), y(value));
      isPen = !Number.isNaN(value);
    }
    context.stroke();
  }
};

/** Draws the seconds below the panels. */
export const timeAxis = ({ context, height, colour }: Drawing, x: (at: number) => number, end: number): void => {
  const step = niceTop(end / 6);
  context.textAlign = "center";
  context.fillStyle = colour("--dim");
  for (let at = 0; at <= end; at += step) context.fillText(`${at} s`, x(at), height - 5);
};
