/**
 * Rows joined per level of the pyramid: a query touches at most twice as many per level, and the
 * levels above take a fifteenth of the memory.
 */
const FAN = 16;

/**
 * Minimum and maximum of any range of rows without reading each, so that zoomed-out views miss no
 * extreme.
 */
export class Extremes {
  private readonly lows: ArrayLike<number>[];
  private readonly highs: ArrayLike<number>[];

  constructor(low: ArrayLike<number>, high: ArrayLike<number> = low) {
    this.lows = [low];
    this.highs = [high];
    for (let l = low, h = high; l.length > FAN; ) {
      const size = Math.ceil(l.length / FAN);
      const nextLow = new Float64Array(size);
      const nextHigh = new Float64Array(size);
      for (let up = 0; up < size; up++) {
        let [least, most] = [Infinity, -Infinity];
        const end = Math.min((up + 1) * FAN, l.length);
        for (let i = up * FAN; i < end; i++) {
          // A gap (NaN) is neither smaller nor larger than anything.
          if (l[i] < least) least = l[i];
          if (h[i] > most) most = h[i];
        }
        nextLow[up] = least;
        nextHigh[up] = most;
      }
      this.lows.push((l = nextLow));
      this.highs.push((h = nextHigh));
    }
  }

  /** Of the rows `from <= i < to`; `low > high` if there are none. */
  query(from: number, to: number, out: { low: number; high: number }): void {
    let low = Infinity;
    let high = -Infinity;
    const take = (level: number, begin: number, end: number): void => {
      const lows = this.lows[level];
      const highs = this.highs[level];
      for (let i = begin; i < end; i++) {
        if (lows[i] < low) low = lows[i];
        if (highs[i] > high) high = highs[i];
      }
    };
    for (let level = 0; from < to; level++) {
      const first = Math.ceil(from / FAN);
      const last = Math.floor(to / FAN);
      if (level + 1 === this.lows.length || last <= first) {
        take(level, from, to);
        break;
      }
      take(level, from, first * FAN);
      take(level, last * FAN, to);
      from = first;
      to = last;
    }
    out.low = low;
    out.high = high;
  }
}

/** The first row at or after `value` in an ascending column. */
export function lowerBound(column: ArrayLike<number>, value: number, from = 0, to = column.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (column[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}
