// Latency and throughput on one time axis, with the phases.
import type { Probe, Stage } from "./messages.ts";
import { axisDuration, axisRate } from "./numbers.ts";
import { type Language, word } from "./words.ts";

interface Point {
  at: number;
  value: number;
}

interface Span {
  stage: Stage;
  from: number;
}

const LEFT = 74;
const RIGHT = 14;
const GAP = 30;
const BOTTOM = 22;
const LEAST_S = 30;
const LEAST_LATENCY_S = 0.02;
const LEAST_RATE = 1e6;
const STAGE_COLOUR: Partial<Record<Stage, string>> = { idle: "--idle", down: "--down", up: "--up", both: "--both", drain: "--drain" };

/** The smallest of 1, 2 and 5 times a power of ten that is at least so large. */
export const niceTop = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value * 0.9999) ?? 10);
};

export class Chart {
  private latency: Point[] = [];
  private down: Point[] = [];
  private up: Point[] = [];
  private spans: Span[] = [];
  private elapsed = 0;
  private lastAnswer = -1;
  private isDue = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    public language: Language,
  ) {
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  clear(): void {
    [this.latency, this.down, this.up, this.spans] = [[], [], [], []];
    [this.elapsed, this.lastAnswer] = [0, -1];
    this.draw();
  }

  add(probe: Probe): void {
    const at = probe.elapsedMs / 1_000;
    this.elapsed = Math.max(this.elapsed, at);
    if (probe.delayUs > 0 && probe.answeredMs > this.lastAnswer) {
      this.lastAnswer = probe.answeredMs;
      this.latency.push({ at: probe.answeredMs / 1_000, value: probe.delayUs / 1e6 });
    }
    if (this.spans.at(-1)?.stage !== probe.stage) this.spans.push({ stage: probe.stage, from: at });
    const push = (points: Point[], kbit: number, stages: Stage[]) => {
      if (stages.includes(probe.stage)) points.push({ at, value: kbit * 1_000 });
      else if (points.length > 0 && !Number.isNaN(points.at(-1)?.value)) points.push({ at, value: NaN });
    };
    push(this.down, probe.downKbit, ["down", "both"]);
    push(this.up, probe.upKbit, ["up", "both"]);
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const context = this.canvas.getContext("2d");
    if (!context || width === 0) return;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.canvas);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    context.font = `12px ${style.fontFamily}`;
    const end = Math.max(LEAST_S, this.elapsed);
    const x = (at: number) => LEFT + ((width - LEFT - RIGHT) * at) / end;
    const plot = (height - 2 * GAP - BOTTOM) / 2;
    this.drawPhases(context, x, height, colour);
    const upper = { top: GAP, height: plot, least: LEAST_LATENCY_S, format: (v: number) => axisDuration(this.language, v) };
    const lower = { top: 2 * GAP + plot, height: plot, least: LEAST_RATE, format: (v: number) => axisRate(this.language, v) };
    this.drawPlot(context, x, upper, word(this.language, "latency"), [[this.latency, colour("--latency"), true]], colour);
    this.drawPlot(context, x, lower, word(this.language, "throughput"), [
      [this.down, colour("--down"), false],
      [this.up, colour("--up"), false],
    ], colour);
    this.drawTime(context, x, end, height, colour);
  }

  private drawPhases(context: CanvasRenderingContext2D, x: (at: number) => number, height: number, colour: (name: string) => string): void {
    this.spans.forEach(({ stage, from }, n) => {
      const name = STAGE_COLOUR[stage];
      if (!name) return;
      const [left, right] = [x(from), x(this.spans[n + 1]?.from ?? this.elapsed)];
      context.fillStyle = colour(name);
      context.globalAlpha = 0.1;
      context.fillRect(left, GAP - 12, right - left, height - GAP - BOTTOM + 12);
      context.globalAlpha = 1;
      context.textAlign = "left";
      const text = word(this.language, stage);
      if (context.measureText(text).width < right - left - 4) context.fillText(text, left + 3, GAP - 15);
    });
  }

  private drawPlot(
    context: CanvasRenderingContext2D,
    x: (at: number) => number,
    { top, height, least, format }: { top: number; height: number; least: number; format: (value: number) => string },
    name: string,
    lines: [Point[], string, boolean][],
    colour: (name: string) => string,
  ): void {
    const most = Math.max(least, ...lines.flatMap(([points]) => points.map(({ value }) => value).filter(Number.isFinite)));
    const limit = niceTop(most);
    const y = (value: number) => top + height * (1 - value / limit);
    context.strokeStyle = colour("--hair");
    context.lineWidth = 1;
    context.textAlign = "right";
    for (const share of [0, 0.5, 1]) {
      const at = Math.round(y(limit * share)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, at);
      context.lineTo(this.canvas.clientWidth - RIGHT, at);
      context.stroke();
      context.fillStyle = colour("--dim");
      context.fillText(format(limit * share), LEFT - 5, at + 4);
    }
    context.textAlign = "left";
    context.fillStyle = colour("--ink");
    context.fillText(name, LEFT + 4, top + 13);
    for (const [points, ink, isDots] of lines) {
      context.strokeStyle = context.fillStyle = ink;
      context.lineWidth = 1.8;
      context.beginPath();
      let isPen = false;
      for (const { at, value } of points) {
        if (isDots) context.fillRect(x(at) - 1, y(value) - 1, 2, 2);
        if (Number.isNaN(value)) isPen = false;
        else if (isPen) context.lineTo(x(at), y(value));
        else context.moveTo(x(at), y(value));
        isPen = !Number.isNaN(value);
      }
      context.stroke();
    }
  }

  private drawTime(context: CanvasRenderingContext2D, x: (at: number) => number, end: number, height: number, colour: (name: string) => string): void {
    const step = niceTop(end / 6);
    context.textAlign = "center";
    context.fillStyle = colour("--dim");
    for (let at = 0; at <= end; at += step) context.fillText(`${at} s`, x(at), height - 5);
  }
}
