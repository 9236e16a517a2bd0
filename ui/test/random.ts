/** A seeded random number generator (mulberry32), so that failing tests can be repeated. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ascending times with bursts and pauses. */
export function times(next: () => number, count: number): Float64Array {
  const at = new Float64Array(count);
  for (let i = 0, now = 0; i < count; i++) {
    const r = next();
    now += r < 0.3 ? 0 : r < 0.99 ? Math.floor(next() * 1000) : Math.floor(next() * 1e6);
    at[i] = now;
  }
  return at;
}
