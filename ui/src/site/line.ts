// What a simulation is given: the settings of the page, their text in the address, and the scenario
// file that they make.

export interface Settings {
  /** Mbit/s. */
  down: number;
  up: number;
  /** Round trip without a queue, in ms. */
  rtt: number;
  /** Of a queue that has a limit in time, in ms. */
  buffer: number;
  queue: Queue;
  load: Load;
  flows: number;
  tcp: string;
  /** Seconds of load. */
  seconds: number;
  /** Whether the same line with FQ-CoDel is shown too. */
  compare: boolean;
}

export type Queue = keyof typeof QUEUES;
export type Load = keyof typeof LOADS;

/** Names of queues, and how a scenario writes them. */
export const QUEUES = {
  fifo: "tail drop (as most devices)",
  codel: "CoDel",
  pie: "PIE",
  fq_codel: "FQ-CoDel",
  cake: "CAKE",
} as const;
export const LOADS = { up: "uploads", down: "downloads", both: "uploads and downloads" } as const;
/** Names as the kernel uses them. */
export const TCP: Record<string, string> = {
  cubic: "CUBIC (most devices)",
  reno: "Reno",
  bbr: "BBR",
  vegas: "Vegas",
  ledbat: "LEDBAT (backups)",
};

/** Limits of the numbers. */
export const RANGES = {
  down: [0.5, 500],
  up: [0.25, 500],
  rtt: [1, 600],
  buffer: [1, 10_000],
  flows: [1, 32],
} as const satisfies Partial<Record<keyof Settings, readonly [number, number]>>;
export type Ranged = keyof typeof RANGES;
export const SECONDS = [10, 20, 60];

/** A cable line, of which the modem holds 300 ms of uploads. */
export const USUAL: Settings = {
  down: 100,
  up: 10,
  rtt: 20,
  buffer: 300,
  queue: "fifo",
  load: "up",
  flows: 1,
  tcp: "cubic",
  seconds: 20,
  compare: true,
};

const clamp = (value: number, [least, most]: readonly [number, number]): number => Math.min(most, Math.max(least, value));

/** The settings in an address; what it lacks or has wrong is as usual. */
export const fromAddress = (hash: string): Settings => {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const settings: Settings = { ...USUAL };
  for (const key of Object.keys(RANGES) as Ranged[]) {
    const value = Number(given.get(key) ?? NaN);
    if (Number.isFinite(value)) settings[key] = clamp(value, RANGES[key]);
  }
  const [queue, load, tcp] = [given.get("queue") ?? "", given.get("load") ?? "", given.get("tcp") ?? ""];
  if (Object.hasOwn(QUEUES, queue)) settings.queue = queue as Queue;
  if (Object.hasOwn(LOADS, load)) settings.load = load as Load;
  if (Object.hasOwn(TCP, tcp)) settings.tcp = tcp;
  const seconds = Number(given.get("seconds"));
  if (SECONDS.includes(seconds)) settings.seconds = seconds;
  settings.flows = Math.round(settings.flows);
  settings.compare = given.get("compare") !== "false";
  return settings;
};

export const toAddress = (settings: Settings): string =>
  `#${new URLSearchParams(Object.entries(settings).map(([key, value]) => [key, String(value)]))}`;

/** The same line, with FQ-CoDel. */
export const withFqCodel = (settings: Settings): Settings => ({ ...settings, queue: "fq_codel" });

/** A scenario file: docs/scenarios.md. */
export const scenario = ({ down, up, rtt, buffer, queue, load, flows, tcp, seconds }: Settings): string => {
  const text = queue === "fifo" ? `fifo limit ${buffer}ms` : queue;
  const side = (mbit: number) => `{ rate = "${Math.round(mbit * 1e6)}bit", delay = "${Math.round(rtt * 500)}us", queue = "${text}" }`;
  const count = (direction: Load) => (load === direction || load === "both" ? flows : 0);
  return `name = "page"
about = "A line that was set on the page of fathom."
source = "Chosen by hand"

[[hop]]
name = "line"
up = ${side(up)}
down = ${side(down)}

[load]
up_flows = ${count("up")}
down_flows = ${count("down")}
congestion_control = "${tcp}"
duration = "${seconds}s"
`;
};
