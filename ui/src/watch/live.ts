import type { Target } from "./api.ts";

/** Live updates from the server. */
export class Live {
  private source: EventSource | undefined;
  readonly targets = new Map<string, Target>();
  /** Problems of the watch itself. */
  troubles: readonly Trouble[] = [];
  /** Whether the server is reachable. */
  connected = false;

  /** Whether all targets are known, not only the first ones embedded in the page. */
  isWhole = false;

  constructor(private readonly changed: () => void) {}

  /** Takes the data embedded in the page. */
  begin(first: First): void {
    for (const target of first.targets) this.targets.set(keyOf(target), target);
  }

  start(): void {
    // A page in the back/forward cache would hold one of the browser's six connections to the
    // server.
    addEventListener("pagehide", () => this.source?.close());
    addEventListener("pageshow", (event) => event.persisted && this.connect());
    this.connect();
  }

  private connect(): void {
    this.source = new EventSource("/api/v1/live");
    this.source.addEventListener("targets", (event) => this.hear(JSON.parse((event as MessageEvent<string>).data) as Change));
    this.source.addEventListener("open", () => this.turn(true));
    this.source.addEventListener("error", () => {
      this.turn(false);
      // A browser stops reconnecting when it is refused, for example after a password change.
      if (this.source?.readyState === EventSource.CLOSED) setTimeout(() => this.connect(), 5_000);
    });
  }

  private turn(connected: boolean): void {
    this.connected = connected;
    this.changed();
  }

  private hear(change: Change): void {
    if (change.all) this.targets.clear();
    this.isWhole ||= change.all;
    for (const name of change.gone) this.targets.delete(name);
    for (const target of change.targets) this.targets.set(keyOf(target), target);
    if (change.troubles) this.troubles = change.troubles;
    this.changed();
  }
}

/** Data embedded in the page: the targets of its first screen, and their sparklines in base64. */
export interface First {
  targets: Target[];
  sparks: string;
}

/** Reads the data embedded in this page. */
export function firstOf(page: Document): First | undefined {
  const text = page.getElementById("first")?.textContent;
  return text ? (JSON.parse(text) as First) : undefined;
}

interface Change {
  /** These are all targets. */
  all: boolean;
  targets: Target[];
  gone: string[];
  /** All problems, if they have changed. */
  troubles?: Trouble[];
}

/** A problem of the watch itself, not of a target. */
interface Trouble {
  kind: string;
  since_s: number;
  text: string;
}

/** Keep in sync with the server's `Row::key`. */
export function keyOf(target: Target): string {
  return `${target.name}\n${target.probe}`;
}
