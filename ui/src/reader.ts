/**
 * Decodes the format of `Writer` in core/present/trace-page: LEB128 numbers, and columns of
 * differences.
 */
export class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  number(): number {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte === undefined) throw new RangeError("the data is truncated");
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    // Beyond 32 bits, shifts would wrap, so multiply. Numbers are exact up to 2^53.
    for (let scale = 0x80; ; scale *= 0x80) {
      byte = bytes[this.at++];
      if (byte === undefined) throw new RangeError("the data is truncated");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Zigzag: 0, -1, 1, -2 ... are encoded as 0, 1, 2, 3 ... */
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.number();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }

  float(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  shortFloats(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) values[i] = this.view.getFloat32(this.at + 4 * i, true);
    this.at += 4 * count;
    return values;
  }

  /** A column in which each value is the difference from the previous one. */
  differences(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0, before = 0; i < count; i++) values[i] = before += this.signed();
    return values;
  }

  numbers(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) values[i] = this.number();
    return values;
  }

  atEnd(): boolean {
    return this.at === this.bytes.length;
  }
}

/** Decodes the page's base64. */
export function fromBase64(text: string): Uint8Array {
  const modern = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };
  if (modern.fromBase64) return modern.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
