import type { Bars } from "./bars.ts";

/**
 * 32-bit words per bar: time and sequence number of 48 bits each, 28 bits of length and 4 of kind.
 */
const WORDS = 4;
const TWO_32 = 2 ** 32;
/** 78 hours in nanoseconds, 281 TB: larger values are drawn without the graphics card. */
export const MOST = 2 ** 48;
const MOST_BYTES = 2 ** 28 - 1;

/**
 * Times in nanoseconds and sequence numbers do not fit into 32-bit floats. They are passed as
 * 48-bit integers. The view's origin is subtracted as an integer, and only the difference, which is
 * small in the visible part, becomes a float.
 */
const VERTEX = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in uvec4 bar;
uniform uvec4 origin;   // time low, time high, byte low, byte high
uniform vec4 scale;     // clip units per nanosecond and per byte; width and height of a pixel in clip units
uniform vec2 least;     // minimum width and height in pixels
uniform vec4 colours[16];
out vec4 colour;
float since(uint low, uint high, uint fromLow, uint fromHigh) {
  uint near = low - fromLow;
  int far = int(high) - int(fromHigh) - (low < fromLow ? 1 : 0);
  // Slightly below the origin, the difference must also be small and exact.
  bool isNear = far == 0 && near < 0x80000000u || far == -1 && near >= 0x80000000u;
  return isNear ? float(int(near)) : float(far) * 4294967296.0 + float(near);
}
void main() {
  float x = since(bar.x, bar.z & 0xffffu, origin.x, origin.y) * scale.x - 1.0;
  float y = since(bar.y, bar.z >> 16, origin.z, origin.w) * scale.y - 1.0;
  float height = float(bar.w >> 4) * scale.y;
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
  vec2 size = vec2(least.x * scale.z, max(height, least.y * scale.w));
  // Enlarged bars stay centered on their data.
  gl_Position = vec4(x + (corner.x - 0.5) * size.x, y + height * 0.5 + (corner.y - 0.5) * size.y, 0.0, 1.0);
  colour = colours[bar.w & 15u];
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
out vec4 pixel;
void main() { pixel = vec4(colour.rgb * colour.a, colour.a); }`;

/** The visible range in nanoseconds and bytes, and its size in device pixels. */
export interface Window {
  start: number;
  end: number;
  low: number;
  high: number;
  width: number;
  height: number;
}

interface Buffer {
  buffer: WebGLBuffer;
  capacity: number;
}

/** Draws bars by instancing: one call for any number of them. */
export class BarPainter {
  /** Calls and bars since the drawing started. */
  calls = 0;
  bars = 0;
  private readonly program: WebGLProgram;
  private readonly uniforms: Record<"origin" | "scale" | "least" | "colours", WebGLUniformLocation | null>;
  private readonly held = new Map<Bars["at"], Buffer>();
  private readonly scratch: Buffer;

  private constructor(private readonly gl: WebGL2RenderingContext) {
    this.program = link(gl);
    const place = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(this.program, name);
    this.uniforms = {
      origin: place("origin"),
      scale: place("scale"),
      least: place("least"),
      colours: place("colours"),
    };
    this.scratch = { buffer: gl.createBuffer(), capacity: 0 };
    gl.enableVertexAttribArray(0);
    gl.vertexAttribDivisor(0, 1);
  }

  /** `undefined` without WebGL 2: then the same bars are drawn on the 2D canvas. */
  static on(canvas: HTMLCanvasElement): BarPainter | undefined {
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false, premultipliedAlpha: true });
    try {
      return gl ? new BarPainter(gl) : undefined;
    } catch {
      return undefined;
    }
  }

  begin(width: number, height: number): void {
    const { gl } = this;
    this.calls = this.bars = 0;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** `keep`: the columns belong to the file and stay in graphics memory. */
  draw(bars: Bars, keep: boolean, window: Window, colours: Float32Array, least: [number, number]): void {
    const count = bars.to - bars.from;
    if (count <= 0) return;
    const { gl, uniforms } = this;
    const first = keep ? this.bindHeld(bars) : this.bindScratch(bars);
    gl.vertexAttribIPointer(0, WORDS, gl.UNSIGNED_INT, WORDS * 4, first * WORDS * 4);
    gl.useProgram(this.program);
    // Integers, so that the subtraction is exact; the rest moves by less than a nanosecond and a
    // byte.
    const [start, low] = [Math.floor(window.start), Math.floor(window.low)];
    gl.uniform4ui(uniforms.origin, ...split(start), ...split(low));
    const [span, range] = [window.end - window.start, window.high - window.low];
    gl.uniform4f(uniforms.scale, 2 / span, 2 / range, 2 / window.width, 2 / window.height);
    gl.uniform2f(uniforms.least, ...least);
    gl.uniform4fv(uniforms.colours, colours);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    this.calls++;
    this.bars += count;
  }

  /** Frees the buffers of another track. */
  forget(): void {
    for (const { buffer } of this.held.values()) this.gl.deleteBuffer(buffer);
    this.held.clear();
  }

  private bindHeld(bars: Bars): number {
    const { gl } = this;
    const held = this.held.get(bars.at);
    if (held) {
      gl.bindBuffer(gl.ARRAY_BUFFER, held.buffer);
    } else {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, pack({ ...bars, from: 0, to: bars.at.length }), gl.STATIC_DRAW);
      this.held.set(bars.at, { buffer, capacity: bars.at.length });
    }
    return bars.from;
  }

  private bindScratch(bars: Bars): number {
    const { gl, scratch } = this;
    const words = pack(bars);
    gl.bindBuffer(gl.ARRAY_BUFFER, scratch.buffer);
    if (scratch.capacity < words.length) {
      gl.bufferData(gl.ARRAY_BUFFER, words, gl.DYNAMIC_DRAW);
      scratch.capacity = words.length;
    } else {
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, words);
    }
    return 0;
  }
}

/** Low 32 bits, and the bits above them; two's complement for negative numbers. */
function split(value: number): [number, number] {
  return [value >>> 0, Math.floor(value / TWO_32) >>> 0];
}

/** Bars in the shader's format. */
export function pack(bars: Bars): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array((bars.to - bars.from) * WORDS);
  for (let i = bars.from, to = 0; i < bars.to; i++, to += WORDS) {
    const start = bars.start[i];
    const at = Math.round(bars.at[i]);
    words[to] = at % TWO_32;
    words[to + 1] = start % TWO_32;
    words[to + 2] = (Math.floor(at / TWO_32) & 0xffff) | ((Math.floor(start / TWO_32) & 0xffff) << 16);
    words[to + 3] = (Math.min(bars.stop[i] - start, MOST_BYTES) << 4) | bars.kind[i];
  }
  return words;
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) throw new Error("cannot create a shader");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "cannot link the shader program");
  return program;
}
