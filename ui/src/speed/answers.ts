import { nowUs, readProbe, writeEcho, type Probe } from "./messages.ts";

/** Interval of the timer that shows how busy the browser is. */
const TIMER_MS = 10;
const MOST_LATE_US = 0xffffffff;

/** What carries messages: a data channel or a WebSocket. */
export interface Channel {
  binaryType: string;
  readonly bufferedAmount: number;
  onmessage: ((event: MessageEvent) => void) | null;
  send(message: ArrayBuffer): void;
}

/** Bytes that were downloaded, and when they were counted. */
export interface Count {
  bytes: number;
  atUs: number;
}

/** A probe that waits for its answer. */
interface Waiting {
  sequence: number;
  received: number;
  receivedUs: number;
}

/**
 * Answers the probes of a channel at once, and passes them on. While an earlier answer has not left
 * the browser, the next one waits here. The server subtracts that time: the line did not cause it.
 */
export class Answers {
  private received = 0;
  private count: Count = { bytes: 0, atUs: 0 };
  private late = 0;
  private isHidden = false;
  private waiting: Waiting[] = [];
  private readonly timer: ReturnType<typeof setInterval>;

  constructor(
    private readonly channel: Channel,
    private readonly pass: (probe: Probe) => void,
  ) {
    channel.binaryType = "arraybuffer";
    channel.onmessage = ({ data }) => this.take(data);
    let due = nowUs() + TIMER_MS * 1_000;
    this.timer = setInterval(() => {
      const now = nowUs();
      this.late = Math.max(this.late, now - due);
      due = Math.max(due, now) + TIMER_MS * 1_000;
      this.answer();
    }, TIMER_MS);
  }

  /** Takes a newer count of the downloads. */
  setCount(count: Count): void {
    this.count = count;
  }

  /** Reports to the server whether the page is in the background. */
  setHidden(isHidden: boolean): void {
    this.isHidden = isHidden;
  }

  close(): void {
    clearInterval(this.timer);
    this.channel.onmessage = null;
  }

  private take(message: unknown): void {
    const receivedUs = nowUs();
    const probe = message instanceof ArrayBuffer ? readProbe(message) : undefined;
    if (!probe) return;
    this.received += 1;
    this.waiting.push({ sequence: probe.sequence, received: this.received, receivedUs });
    this.answer();
    this.pass(probe);
  }

  private answer(): void {
    const next = this.channel.bufferedAmount === 0 ? this.waiting.shift() : undefined;
    if (!next) return;
    this.channel.send(
      writeEcho({
        ...next,
        lateUs: Math.min(MOST_LATE_US, Math.max(0, Math.round(this.late))),
        sentUs: nowUs(),
        downBytes: this.count.bytes,
        countedUs: this.count.atUs,
        isHidden: this.isHidden,
      }),
    );
    this.late = 0;
  }
}
