// Messages of the probes: core/measure/browser/src/message.rs has the same layout. Numbers are
// big-endian.

export const PROBE_BYTES = 32;
const ECHO_BYTES = 48;
const VERSION = 1;

/** What the page has to do, in the order of their numbers. */
export const STAGES = ["between", "idle", "down", "up", "both", "drain", "over", "paused"] as const;
export type Stage = (typeof STAGES)[number];

/** A probe, which also says what to do and how the test goes. */
export interface Probe {
  stage: Stage;
  phase: number;
  sequence: number;
  /** Since the start of the test. */
  elapsedMs: number;
  /** When the latest answered probe was sent, and its delay; 0 if none was answered. */
  answeredMs: number;
  delayUs: number;
  downKbit: number;
  upKbit: number;
  movedKilobytes: number;
}

export const readProbe = (message: ArrayBuffer): Probe | undefined => {
  if (message.byteLength !== PROBE_BYTES) return undefined;
  const view = new DataView(message);
  const stage = STAGES[view.getUint8(1)];
  if (view.getUint8(0) !== VERSION || stage === undefined) return undefined;
  const at = (place: number) => view.getUint32(place);
  return {
    stage,
    phase: view.getUint16(2),
    sequence: at(4),
    elapsedMs: at(8),
    answeredMs: at(12),
    delayUs: at(16),
    downKbit: at(20),
    upKbit: at(24),
    movedKilobytes: at(28),
  };
};

/** The answer to a probe. Times are in microseconds since 1970. */
export interface Echo {
  sequence: number;
  /** Probes so far. */
  received: number;
  /** How late a timer was at most. */
  lateUs: number;
  receivedUs: number;
  sentUs: number;
  /** Downloaded so far, and when that was counted. */
  downBytes: number;
  countedUs: number;
  /** Whether the page is in the background. */
  isHidden: boolean;
}

export const writeEcho = (echo: Echo): ArrayBuffer => {
  const view = new DataView(new ArrayBuffer(ECHO_BYTES));
  view.setUint8(0, VERSION);
  view.setUint8(1, Number(echo.isHidden));
  [echo.sequence, echo.received, echo.lateUs].forEach((number, n) => view.setUint32(4 + 4 * n, number));
  const long = [echo.receivedUs, echo.sentUs, echo.downBytes, echo.countedUs];
  long.forEach((number, n) => view.setBigUint64(16 + 8 * n, BigInt(Math.max(0, Math.round(number)))));
  return view.buffer;
};

/** Microseconds since 1970, the same in all workers of the page. */
export const nowUs = (): number => (performance.timeOrigin + performance.now()) * 1_000;
