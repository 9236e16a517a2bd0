import type { Target } from "./api.ts";

/** What the server tells as it happens. */
export class Live {
  private source: EventSource | undefined;
  readonly targets = new Map<string, Target>();
  /** Whether the server is heard. */
  connected = false;

  /** Whether these are all targets, and not just the first that came with the page. */
  isWhole = false;

  constructor(private readonly changed: () => void) {}

  /** Takes what came with the page. */
  begin(first: First): void {
    for (const target of first.targets) this.targets.set(keyOf(target), target);
  }

  start(): void {
    // A page that is kept for going back to would hold one of the six connections that a browser has to a server.
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
      // A browser gives up for good when it is refused, as after the password was changed.
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
    this.changed();
  }
}

/** What came with the page: the targets of its first screen, and their small pictures in base64. */
export interface First {
  targets: Target[];
  sparks: string;
}

/** What came with this page. */
export function firstOf(page: Document): First | undefined {
  const text = page.getElementById("first")?.textContent;
  return text ? (JSON.parse(text) as First) : undefined;
}

interface Change {
  /** These are all there are. */
  all: boolean;
  targets: Target[];
  gone: string[];
}

/** In step with the server's `Row::key`. */
export function keyOf(target: Target): string {
  return `${target.name}\n${target.probe}`;
}
