import { levelFor, TILE_COLUMNS, tileSpan, tilesOf, WIDTHS } from "./levels.ts";
import type { Columns } from "./wire.ts";

/** Columns of a tile to draw: from `first` up to, but not including, `last`. */
export interface Piece {
  tile: Tile;
  first: number;
  last: number;
}

export interface Tile {
  columns: Columns;
  width: number;
  /** Columns that have probes. */
  filled: number[];
  /** Usual distance of such columns, so that a slow series is drawn without gaps. */
  pace: number;
  /** Time of the request in ms. Tiles that are not over yet are requested again. */
  asked: number;
}

export type Load = (series: number, from: number, to: number, columns: number, signal: AbortSignal) => Promise<Columns>;

/** 600 tiles take 35 MB: enough to move back and forth, little enough for a phone. */
const MOST_TILES = 600;
/** A browser opens six connections to a server; live updates use one. */
const MOST_LOADS = 4;
/** Interval in ms at which the newest tile is reloaded; a column's width if that is longer. */
const LEAST_AGE_MS = 1_000;
/** Time in seconds during which late answers may still change a column. */
const SETTLED_S = 900;
/** Delay in ms before a failed tile is requested again. */
const AFTER_FAILURE_MS = 3_000;

interface Wish {
  series: number;
  level: number;
  index: number;
}

function keyOf(wish: Wish): string {
  return `${wish.series}/${wish.level}/${wish.index}`;
}

/**
 * Loaded columns of all series at all zoom levels. Missing tiles are loaded; until then the nearest
 * level is shown instead.
 */
export class Tiles {
  private readonly known = new Map<string, Tile>();
  private readonly loading = new Map<string, AbortController>();
  private readonly failed = new Map<string, number>();
  private queue: Wish[] = [];
  /** Why the last load failed; empty if it did not. */
  trouble = "";

  constructor(
    private readonly load: Load,
    private readonly changed: () => void,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Loads only what the view needs: visible tiles first, then their neighbors, then those that
   * zooming in would show.
   */
  want(series: readonly number[], from: number, to: number, secondsPerPixel: number): void {
    const level = levelFor(secondsPerPixel);
    const seen: Wish[] = [];
    const beside: Wish[] = [];
    const { first, last } = tilesOf(level, from, to);
    for (const id of series) {
      for (let index = first; index <= last; index++) seen.push({ series: id, level, index });
      beside.push({ series: id, level, index: first - 1 }, { series: id, level, index: last + 1 });
      const [closer, wider] = [Math.max(level - 1, 0), Math.min(level + 1, WIDTHS.length - 1)];
      const middle = tilesOf(closer, (from + to) / 2, (from + to) / 2).first;
      beside.push({ series: id, level: closer, index: middle }, { series: id, level: wider, index: tilesOf(wider, from, to).first });
    }
    const wanted = [...seen, ...beside].filter((wish) => wish.index >= 0 && this.isStale(wish));
    const keys = new Set([...seen, ...beside].map(keyOf));
    for (const [key, controller] of this.loading) if (!keys.has(key)) controller.abort();
    this.queue = wanted.filter((wish) => !this.loading.has(keyOf(wish)));
    this.next();
  }

  private isStale(wish: Wish): boolean {
    const now = this.now();
    const span = tileSpan(wish.level);
    if (wish.index * span > now / 1e3) return false;
    const key = keyOf(wish);
    if (now - (this.failed.get(key) ?? -Infinity) < AFTER_FAILURE_MS) return false;
    const tile = this.known.get(key);
    if (!tile) return true;
    const isOver = (wish.index + 1) * span + SETTLED_S < tile.asked / 1e3;
    return !isOver && now - tile.asked > Math.max(LEAST_AGE_MS, tile.width * 1e3);
  }

  private next(): void {
    while (this.loading.size < MOST_LOADS) {
      const wish = this.queue.shift();
      if (!wish) return;
      void this.fetch(wish);
    }
  }

  private async fetch(wish: Wish): Promise<void> {
    const [key, span, asked] = [keyOf(wish), tileSpan(wish.level), this.now()];
    const controller = new AbortController();
    this.loading.set(key, controller);
    try {
      const from = wish.index * span;
      const columns = await this.load(wish.series, from, from + span, TILE_COLUMNS, controller.signal);
      this.keep(key, { ...shape(columns), width: WIDTHS[wish.level], asked });
      this.failed.delete(key);
      this.trouble = "";
    } catch (error) {
      if (!controller.signal.aborted) {
        this.failed.set(key, this.now());
        this.trouble = error instanceof Error ? error.message : String(error);
      }
    }
    this.loading.delete(key);
    this.changed();
    this.next();
  }

  private keep(key: string, tile: Tile): void {
    this.known.delete(key);
    this.known.set(key, tile);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MOST_TILES) return;
      this.known.delete(oldest);
    }
  }

  /** Whether a visible tile is loading. */
  get isLoading(): boolean {
    return this.loading.size > 0;
  }

  /**
   * The available columns of a range in order of time: of the right level, otherwise of the nearest
   * coarser one, otherwise of finer ones.
   */
  pieces(series: number, from: number, to: number, secondsPerPixel: number): Piece[] {
    const level = levelFor(secondsPerPixel);
    const { first, last } = tilesOf(level, from, to);
    const span = tileSpan(level);
    const found: Piece[] = [];
    for (let index = first; index <= last; index++) {
      const [start, end] = [Math.max(from, index * span), Math.min(to, (index + 1) * span)];
      found.push(...this.best(series, level, start, end));
    }
    return found;
  }

  private best(series: number, level: number, from: number, to: number): Piece[] {
    for (let other = level; other < WIDTHS.length; other++) {
      const found = this.at(series, other, from, to);
      if (found.length > 0) return found;
    }
    for (let other = level - 1; other >= Math.max(0, level - 3); other--) {
      const found = this.at(series, other, from, to);
      if (found.length > 0) return found;
    }
    return [];
  }

  private at(series: number, level: number, from: number, to: number): Piece[] {
    const { first, last } = tilesOf(level, from, to);
    const found: Piece[] = [];
    for (let index = first; index <= last; index++) {
      const tile = this.known.get(keyOf({ series, level, index }));
      if (!tile) continue;
      const { columns, width } = tile;
      const begin = Math.max(0, Math.floor((from - columns.from) / width + 1e-6));
      const end = Math.min(columns.count, Math.ceil((to - columns.from) / width - 1e-6));
      if (end > begin) found.push({ tile, first: begin, last: end });
    }
    return found;
  }
}

/** Finds the columns with probes and their usual distance. */
export function shape(columns: Columns): { columns: Columns; filled: number[]; pace: number } {
  const filled: number[] = [];
  for (let i = 0; i < columns.count; i++) if (columns.sent[i] + columns.failed[i] > 0) filled.push(i);
  const gaps = filled.slice(1).map((at, n) => at - filled[n]);
  gaps.sort((a, b) => a - b);
  const held = (columns.held * columns.count) / (columns.to - columns.from);
  return { columns, filled, pace: Math.max(gaps[gaps.length >> 1] ?? 1, held) };
}
