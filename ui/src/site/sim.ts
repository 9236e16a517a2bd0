import { download, make } from "../dom.ts";
import { duration, rate } from "../speed/numbers.ts";
import { Client } from "./client.ts";
import { fromAddress, LOADS, QUEUES, RANGES, type Ranged, scenario, SECONDS, type Settings, TCP, toAddress, withFqCodel } from "./line.ts";
import { axisBytes, type Document, draw } from "./picture.ts";
import { element, showReport } from "./report.ts";
import "./site.css";

const SEED = 1;
/** After so long, the page says that it is simulating. */
const SLOW_MS = 300;
/** Steps of a slider. */
const STEPS = 200;
const LEVELS: Record<string, string> = { good: "GOOD", fair: "FAIR", bad: "BAD", at_least_bad: "BAD" };
const NAMES: Record<Ranged, string> = { down: "Download rate", up: "Upload rate", rtt: "Round trip without load", buffer: "Buffer", flows: "Flows" };

let settings = fromAddress(location.hash);
let shown: { documents: Document[]; page: string; settings: Settings } | undefined;
let isBusy = false;
let isDue = false;
const client = new Client();

const direction = ({ load }: Settings): "up" | "down" => (load === "down" ? "down" : "up");

const format = (key: Ranged, value: number): string => {
  if (key === "flows") return String(value);
  if (key === "down" || key === "up") return rate("en", value * 1e6);
  const text = duration("en", value / 1_000);
  return key === "buffer" ? `${text} (${axisBytes((value / 8_000) * settings[direction(settings)] * 1e6)})` : text;
};

/** Three digits: what a slider with a logarithmic scale means. */
const fromSlider = (key: Ranged, place: number): number => {
  const [least, most] = RANGES[key];
  const value = least * (most / least) ** (place / STEPS);
  return key === "flows" ? Math.round(value) : Number(value.toPrecision(value < 10 ? 2 : 3));
};

const toSlider = (key: Ranged, value: number): number => {
  const [least, most] = RANGES[key];
  return Math.round((STEPS * Math.log(value / least)) / Math.log(most / least));
};

const slider = (key: Ranged): HTMLElement => {
  const input = make("input", { type: "range", min: "0", max: String(STEPS), value: String(toSlider(key, settings[key])), id: key });
  input.oninput = () => change({ [key]: fromSlider(key, Number(input.value)) });
  const output = make("output", { for: key, id: `${key}-value` });
  return make("label", { id: `${key}-label` }, NAMES[key], output, input);
};

const choice = (key: "queue" | "load" | "tcp" | "seconds", name: string, options: Record<string, string>): HTMLElement => {
  const select = make("select", { id: key });
  for (const [value, text] of Object.entries(options)) {
    const option = make("option", { value }, text);
    option.selected = String(settings[key]) === value;
    select.append(option);
  }
  select.onchange = () => change({ [key]: key === "seconds" ? Number(select.value) : select.value });
  return make("label", {}, name, select);
};

const change = (changed: Partial<Settings>): void => {
  settings = { ...settings, ...changed };
  history.replaceState(null, "", toAddress(settings));
  showValues();
  void simulate();
};

const showValues = (): void => {
  for (const key of Object.keys(RANGES) as Ranged[]) {
    const text = format(key, settings[key]);
    element(`${key}-value`).textContent = text;
    element(key).setAttribute("aria-valuetext", text);
  }
  // Only tail drop has a limit that is worth a choice.
  element<HTMLInputElement>("buffer").disabled = settings.queue !== "fifo";
  element("buffer-value").hidden = settings.queue !== "fifo";
};

/** Simulates the latest settings. While a simulation runs, only the last change is kept. */
const simulate = async (): Promise<void> => {
  isDue = true;
  if (isBusy) return;
  isBusy = true;
  while (isDue) {
    isDue = false;
    const now = settings;
    const from = performance.now();
    const isSlow = setTimeout(() => (element("spent").textContent = "simulating …"), SLOW_MS);
    try {
      const own = await client.sim(scenario(now), SEED);
      const other = now.compare && now.queue !== "fq_codel" ? [await client.sim(scenario(withFqCodel(now)), SEED)] : [];
      const documents = [own, ...other].map(({ document }) => JSON.parse(document) as Document);
      shown = { documents, page: own.page, settings: now };
      show();
      element("spent").textContent = `${now.seconds + 5} s of a line, simulated in ${Math.round(performance.now() - from)} ms`;
    } catch (error) {
      element("card").dataset["level"] = "";
      element("level").textContent = "NO RESULT";
      element("headline").textContent = error instanceof Error ? error.message : String(error);
      element("consequence").textContent = "";
      element("spent").textContent = "";
    } finally {
      clearTimeout(isSlow);
    }
  }
  isBusy = false;
};

const show = (): void => {
  if (!shown) return;
  const [own] = shown.documents;
  if (!own) return;
  const level = own.verdict.level ?? "";
  element("card").dataset["level"] = level;
  element("level").textContent = LEVELS[level] ?? "NO RESULT";
  element("headline").textContent = own.verdict.headline;
  element("consequence").textContent = own.verdict.consequence ?? "";
  draw(element<HTMLCanvasElement>("chart"), shown.documents, direction(shown.settings));
  element("legend").hidden = shown.documents.length < 2;
  element("other-name").textContent = "in gray: with FQ-CoDel";
  showFigures(shown.documents);
  const report = element<HTMLIFrameElement>("report");
  if (!report.hidden) showReport(report, shown.page);
};

const showFigures = (documents: Document[]): void => {
  const loaded = documents.map(({ summary }) => summary.phases.find(({ phase }) => phase !== "idle"));
  const row = (name: string, of: (phase: Document["summary"]["phases"][number]) => string | undefined) =>
    make("tr", {}, make("th", { scope: "row" }, name), ...loaded.map((phase) => make("td", {}, (phase && of(phase)) ?? "–")));
  const time = (value?: number) => (value === undefined ? undefined : duration("en", value));
  const speed = (value?: number) => (value === undefined ? undefined : rate("en", value));
  const heads = ["as chosen", "FQ-CoDel"].slice(0, documents.length).map((name) => make("th", { scope: "col" }, name));
  element("figures").replaceChildren(
    make("tr", {}, make("td"), ...heads),
    row("Latency when busy, median", ({ latency }) => time(latency?.p50_s)),
    row("Latency when busy, p95", ({ latency }) => time(latency?.p95_s)),
    row("Download", ({ goodput_down_bits_per_second: value }) => speed(value)),
    row("Upload", ({ goodput_up_bits_per_second: value }) => speed(value)),
  );
};

const compare = make("input", { type: "checkbox", id: "compare" });
compare.checked = settings.compare;
compare.onchange = () => change({ compare: compare.checked });
element("controls").append(
  slider("down"),
  slider("up"),
  slider("rtt"),
  slider("buffer"),
  slider("flows"),
  choice("queue", "Queue", QUEUES),
  choice("load", "Load", LOADS),
  choice("tcp", "Congestion control", TCP),
  choice("seconds", "Duration", Object.fromEntries(SECONDS.map((seconds) => [seconds, `${seconds} s`]))),
  make("label", { class: "check" }, compare, "Compare with FQ-CoDel"),
);
element("open").onclick = () => shown && showReport(element<HTMLIFrameElement>("report"), shown.page);
element("scenario").onclick = () => download("page.toml", "text/plain", scenario(settings));
new ResizeObserver(() => show()).observe(element("chart"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
showValues();
void simulate();
