// Latency and throughput on one time axis, with the phases.
import { begin, LEFT, type Panel, type Point, panel, RIGHT, timeAxis } from "../plot.ts";
import type { Probe, Stage } from "./messages.ts";
import { axisDuration, axisRate } from "./numbers.ts";
import { type Language, word } from "./words.ts";

interface Span {
  stage: Stage;
  from: number;
}

const GAP = 30;
const BOTTOM = 22;
const LEAST_S = 30;
const LEAST_LATENCY_S = 0.02;
const LEAST_RATE = 1e6;
const STAGE_COLOUR: Partial<Record<Stage, string>> = { idle: "--idle", down: "--down", up: "--up", both: "--both", drain: "--drain" };

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
    const drawing = begin(this.canvas);
    if (!drawing) return;
    const { context, width, height, colour } = drawing;
    const end = Math.max(LEAST_S, this.elapsed);
    const x = (at: number) => LEFT + ((width - LEFT - RIGHT) * at) / end;
    const plot = (height - 2 * GAP - BOTTOM) / 2;
    this.drawPhases(context, x, height, colour);
    const upper: Panel = {
      name: word(this.language, "latency"),
      top: GAP,
      height: plot,
      least: LEAST_LATENCY_S,
      format: (value) => axisDuration(this.language, value),
    };
    const lower: Panel = {
      name: word(this.language, "throughput"),
      top: 2 * GAP + plot,
      height: plot,
      least: LEAST_RATE,
      format: (value) => axisRate(this.language, value),
    };
    panel(drawing, x, upper, [{ points: this.latency, ink: colour("--latency"), isDotted: true }]);
    panel(drawing, x, lower, [
      { points: this.down, ink: colour("--down") },
      { points: this.up, ink: colour("--up") },
    ]);
    timeAxis(drawing, x, end);
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
}
