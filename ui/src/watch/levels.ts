/**
 * Column widths in seconds. Each divides a day, so that a column of the store's rollups is never
 * split.
 */
export const WIDTHS: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1_200, 3_600, 7_200, 14_400, 28_800, 86_400, 172_800, 432_000, 864_000,
];

/** Columns per tile: at one column per pixel, a screen has a few tiles. */
export const TILE_COLUMNS = 256;

/** The finest level at which no column is narrower than a pixel. */
export function levelFor(secondsPerPixel: number): number {
  const level = WIDTHS.findIndex((width) => width >= secondsPerPixel * 0.999);
  return level < 0 ? WIDTHS.length - 1 : level;
}

export function tileSpan(level: number): number {
  return WIDTHS[level] * TILE_COLUMNS;
}

/** The first and last tile of a range. */
export function tilesOf(level: number, from: number, to: number): { first: number; last: number } {
  const span = tileSpan(level);
  const first = Math.floor(from / span);
  return { first, last: Math.max(first, Math.ceil(to / span) - 1) };
}
