import { make } from "../dom.ts";
import { Chart } from "./chart.ts";
import { connect, type Link, Refused } from "./link.ts";
import { type Probe, type Stage, STAGES } from "./messages.ts";
import { bytes, duration, lag, rate, waiting } from "./numbers.ts";
import { keepPast, type Past, readPast, remember, remembered } from "./past.ts";
import { advice, headline, levelOf, numbers, type Result, uses, worstLag } from "./result.ts";
import { isWord, type Language, LANGUAGES, preferred, type Word, word } from "./words.ts";
import "./speed.css";

/** Choices of the most data that a test moves. */
const BUDGETS = [50e6, 250e6, 1e9, 4e9];
const USUAL = 1e9;
/** On a metered connection. */
const SPARING = 50e6;
/** How long the page asks for a result after the end of a test. */
const RESULT_MS = 15_000;
const ASK_EVERY_MS = 400;
/** A connection without probes for so long is lost: longer than any queue that was seen. */
const SILENCE_MS = 35_000;
/** After so long, the page asks whether the server is still there. */
const DOUBT_MS = 4_000;
const LOOK_EVERY_MS = 2_000;
const PHASES: readonly Stage[] = ["idle", "down", "up", "both", "drain"];

const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;
const [start, run, result, failure] = ["start", "run", "result", "failure"].map((id) => element(id));
const stored = remembered("language") ?? "";
let language: Language = stored in LANGUAGES ? (stored as Language) : preferred(navigator.languages);
const chart = new Chart(element<HTMLCanvasElement>("chart"), language);
let link: Link | undefined;
/** Of the current test: what ends it, and what was seen. */
let finish: ((id: string, isBroken: boolean) => void) | undefined;
let shown: { id: string; result: Result; transport: string } | undefined;
let stage: Stage | undefined;
let heardAt = 0;
let hiddenMs = 0;
let hiddenAt = 0;

const say = (key: Word, ...values: string[]): string => word(language, key, ...values);

/** The connection as the browser describes it, where it does. */
const connection = (navigator as { connection?: { saveData?: boolean; type?: string } }).connection;
const isMetered = connection?.saveData === true || connection?.type === "cellular";
const BUDGET_KEY = isMetered ? "fathom-budget-metered" : "fathom-budget";

const show = (visible: HTMLElement | undefined): void => {
  for (const part of [start, run, result, failure]) if (part) part.hidden = part !== visible;
  element("picture").hidden = visible === start || (visible === failure && !stage);
};

const translate = (): void => {
  document.documentElement.lang = language;
  for (const part of document.querySelectorAll<HTMLElement>("[data-word]")) {
    const key = part.dataset["word"] ?? "";
    if (isWord(key)) part.textContent = say(key);
  }
  document.title = `Fathom: ${say("title")}`;
  element("chart").setAttribute("aria-label", say("chart"));
  chart.language = language;
  chart.draw();
  showCost();
  showPhases();
  showPast();
  if (shown) showResult(shown.id, shown.result, shown.transport);
  void showHouse();
};

const budget = (): number => Number(element<HTMLSelectElement>("budget").value);

const showCost = (): void => {
  const select = element<HTMLSelectElement>("budget");
  const chosen = Number(select.value || remembered(BUDGET_KEY) || (isMetered ? SPARING : USUAL));
  const options = BUDGETS.map((most) => {
    const option = make("option", { value: String(most) }, bytes(language, most));
    option.selected = most === chosen;
    return option;
  });
  select.replaceChildren(...options);
  element("cost").textContent = say("cost", bytes(language, budget()));
};

const showPhases = (): void => {
  const now = stage ? PHASES.indexOf(stage) : -1;
  const done = stage && stage !== "paused" ? STAGES.indexOf(stage) : 0;
  const items = PHASES.map((phase, n) => {
    const item = make("li", {}, say(phase as Word));
    if (n === now) item.setAttribute("aria-current", "step");
    item.classList.toggle("done", STAGES.indexOf(phase) < done || reached > n);
    return item;
  });
  element("phases").replaceChildren(...items);
};
/** Phases that are over. */
let reached = 0;

const enter = (next: Stage): void => {
  if (stage === next) return;
  stage = next;
  const place = PHASES.indexOf(next);
  if (place >= 0) reached = place;
  else if (next === "over") reached = PHASES.length;
  else if (next === "between") reached = Math.max(reached, 1);
  const text = say(next as Word);
  element("stage").textContent = text;
  element("said").textContent = text;
  // The title is all that shows of a page in the background.
  document.title = `Fathom: ${next === "paused" ? text : say("title")}`;
  showPhases();
};

const follow = (probe: Probe): void => {
  heardAt = Date.now();
  enter(probe.stage);
  chart.add(probe);
  if (probe.delayUs > 0) element("live-latency").textContent = duration(language, probe.delayUs / 1e6);
  const isLoaded = (stages: Stage[]) => stages.includes(probe.stage);
  if (isLoaded(["down", "both"])) element("live-down").textContent = rate(language, probe.downKbit * 1_000);
  if (isLoaded(["up", "both"])) element("live-up").textContent = rate(language, probe.upKbit * 1_000);
  element("moved").textContent = say("moved", bytes(language, probe.movedKilobytes * 1_000));
  if (probe.stage === "over") end(false);
};

const end = (isBroken: boolean): void => {
  const ended = finish;
  const id = link?.id;
  finish = undefined;
  if (ended && id) ended(id, isBroken);
};

const test = async (): Promise<void> => {
  [stage, reached, shown, hiddenMs, hiddenAt] = [undefined, 0, undefined, 0, document.hidden ? Date.now() : 0];
  remember(BUDGET_KEY, String(budget()));
  chart.clear();
  for (const id of ["live-latency", "live-down", "live-up"]) element(id).textContent = "–";
  element("moved").textContent = "";
  element("quality").textContent = "";
  element("stage").textContent = say("connecting");
  showPhases();
  show(run);
  element("stage").focus();
  let over: [string, boolean] | undefined;
  const ended = new Promise<[string, boolean]>((done) => {
    finish = (id, isBroken) => done((over = [id, isBroken]));
  });
  const look = setInterval(() => void isLost().then((lost) => lost && end(true)), LOOK_EVERY_MS);
  try {
    heardAt = Date.now();
    link = await connect(budget(), { probe: follow, closed: () => end(true) });
    link.setHidden(document.hidden);
    // A short test may have ended before the link was known.
    if ((stage as Stage | undefined) === "over" && !over) end(false);
    const [id, isBroken] = await ended;
    const { transport } = link;
    link.close();
    const judged = await resultOf(id);
    if (!judged || (isBroken && judged.summary.phases.length === 0)) return fail("lost", "offline-remedy");
    if (document.hidden && hiddenAt) hiddenMs += Date.now() - hiddenAt;
    showResult(id, judged, transport);
    keep(id, judged);
    await publish(id);
    element("headline").focus();
  } catch (error) {
    link?.close();
    if (!(error instanceof Refused)) return fail("offline", "offline-remedy");
    if (!error.message) return fail("blocked", "blocked-remedy");
    fail("refused", "refused-remedy", error.message.replace(/\.$/, ""));
  } finally {
    clearInterval(look);
    link = undefined;
  }
};

/** Whether the server is gone, or silent for longer than a queue explains. */
const isLost = async (): Promise<boolean> => {
  const silentMs = Date.now() - heardAt;
  if (!link || silentMs < DOUBT_MS) return false;
  // A server that has restarted knows no test of before.
  const asked = await fetch(`/page/result/${link.id}`).then(({ status }) => status, () => 0);
  const isGone = asked === 0 || asked === 404;
  return silentMs > SILENCE_MS || (isGone && Date.now() - heardAt >= silentMs);
};

/** What the server says of a test, as soon as it does. */
const resultOf = async (id: string): Promise<Result | undefined> => {
  const until = Date.now() + RESULT_MS;
  while (Date.now() < until) {
    const response = await fetch(`/page/result/${id}`).catch(() => undefined);
    if (response?.status === 200) return (await response.json()) as Result;
    if (!response || response.status === 404) return undefined;
    await new Promise((done) => setTimeout(done, ASK_EVERY_MS));
  }
  return undefined;
};

const fail = (problem: Word, remedy: Word, ...values: string[]): void => {
  element("problem").textContent = say(problem, ...values);
  element("remedy").textContent = say(remedy);
  show(failure);
};

const showResult = (id: string, judged: Result, transport: string): void => {
  shown = { id, result: judged, transport };
  const level = levelOf(judged);
  element("card").dataset["level"] = level;
  element("level").textContent = say(level as Word);
  element("headline").textContent = headline(language, judged);
  const consequence = element("consequence");
  consequence.textContent = language === "en" ? (judged.verdict.consequence ?? "") : "";
  if (level === "no_result" && language === "en") consequence.textContent = judged.verdict.headline;
  const figures = numbers(language, judged);
  element("lag").textContent = figures.lag;
  element("throughput").textContent = figures.throughput;
  element("responsiveness").textContent = figures.responsiveness;
  const rows = uses(language, judged).map(([name, idle, busy]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, idle), make("td", {}, busy)),
  );
  const head = make("tr", {}, make("td"), make("th", { scope: "col" }, say("when-idle")), make("th", { scope: "col" }, say("when-busy")));
  element("uses").replaceChildren(...(rows.length > 0 ? [head, ...rows] : []));
  element("advice").replaceChildren(...advice(language, judged).map((line) => make("li", {}, line)));
  element<HTMLAnchorElement>("report").href = `/result/${id}`;
  const json = element<HTMLAnchorElement>("json");
  json.href = `/result/${id}.json`;
  json.download = `fathom-${judged.started.slice(0, 10) || id}.json`;
  showQuality(judged, transport);
  chart.draw();
  show(result);
};

/** How good the measurement was. */
const showQuality = (judged: Result, transport: string): void => {
  const [median, high] = [judged.late_p50_s ?? 0, judged.late_p99_s ?? 0].map((late) => duration(language, late));
  const parts = [say("quality", transport === "webrtc" ? "WebRTC (UDP)" : "WebSocket (TCP)", median ?? "", high ?? "")];
  if (transport !== "webrtc") parts.push(say("fallback"));
  if (hiddenMs > 1_000) parts.push(say("hidden", waiting(language, hiddenMs / 1_000)));
  element("quality").textContent = parts.join(" ");
};

const keep = (id: string, judged: Result): void => {
  const past: Past = {
    id,
    at: Date.now(),
    level: levelOf(judged),
    lagS: worstLag(judged) ?? null,
    upBits: judged.summary.goodput_up_bits_per_second ?? null,
    downBits: judged.summary.goodput_down_bits_per_second ?? null,
  };
  keepPast(past);
  showPast();
};

const moment = (ms: number): string => new Date(ms).toLocaleString(language, { dateStyle: "short", timeStyle: "short" });
const head = (...keys: Word[]): HTMLElement => make("tr", {}, ...keys.map((key) => make("th", { scope: "col" }, say(key))));
const known = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? "–" : format(value);

const showPast = (): void => {
  const past = readPast();
  element("past").hidden = past.length === 0;
  const rows = past.map(({ at, level, lagS, upBits, downBits }) =>
    make(
      "tr",
      { "data-level": level },
      make("td", {}, moment(at)),
      make("td", { class: "level" }, isWord(level) ? say(level) : ""),
      make("td", {}, known(lagS, (value) => lag(language, value))),
      make("td", {}, known(downBits, (value) => rate(language, value))),
      make("td", {}, known(upBits, (value) => rate(language, value))),
    ),
  );
  element("history").replaceChildren(head("when", "lag", "lag", "download", "upload"), ...rows);
  element("history").querySelector("th:nth-child(2)")?.replaceChildren();
};

/** A device that tested here today, with its owner's consent. */
interface Device {
  name: string;
  result: Result;
}

interface House {
  /** Whether the server keeps results for longer than a day. */
  keeps: boolean;
  /** Whether it has the pages that analyze captures and simulate lines. */
  has_site: boolean;
  devices: Device[];
}

const showHouse = async (): Promise<void> => {
  const response = await fetch("/page/devices").catch(() => undefined);
  const none: House = { keeps: false, has_site: false, devices: [] };
  const { keeps, has_site, devices } = response?.ok ? ((await response.json()) as House) : none;
  element("site").hidden = !has_site;
  element("consent-text").textContent = say(keeps ? "consent-keep" : "consent");
  element("house").hidden = devices.length === 0;
  const rows = devices.map(({ name, result: one }) =>
    make(
      "tr",
      { "data-level": levelOf(one) },
      make("td", {}, name),
      make("td", { class: "level" }, say(levelOf(one) as Word)),
      make("td", {}, known(worstLag(one), (value) => lag(language, value))),
      make("td", {}, known(one.summary.goodput_down_bits_per_second, (value) => rate(language, value))),
      make("td", {}, known(one.summary.goodput_up_bits_per_second, (value) => rate(language, value))),
    ),
  );
  element("devices").replaceChildren(head("who", "lag", "lag", "download", "upload"), ...rows);
  element("devices").querySelector("th:nth-child(2)")?.replaceChildren();
};

/** Shows the result to other visitors, if the user wants that. */
const publish = async (id: string): Promise<void> => {
  if (element<HTMLInputElement>("consent").checked) {
    const name = element<HTMLInputElement>("device").value.trim();
    remember("fathom-device", name);
    await fetch(`/page/publish/${id}`, { method: "POST", body: name }).catch(() => undefined);
  }
  await showHouse();
};

const share = async (): Promise<void> => {
  const url = element<HTMLAnchorElement>("report").href;
  await navigator.clipboard?.writeText(url).then(
    () => (element("shared").textContent = say("copied")),
    () => (element("shared").textContent = url),
  ) ?? (element("shared").textContent = url);
};

const choose = element<HTMLSelectElement>("language");
for (const [code, name] of Object.entries(LANGUAGES)) {
  const option = make("option", { value: code, lang: code }, name);
  option.selected = code === language;
  choose.append(option);
}
choose.onchange = () => {
  language = choose.value as Language;
  remember("language", language);
  translate();
};
element("budget").onchange = () => {
  remember(BUDGET_KEY, String(budget()));
  showCost();
};
const consent = element<HTMLInputElement>("consent");
consent.onchange = () => (element("naming").hidden = !consent.checked);
element<HTMLInputElement>("device").value = remembered("fathom-device") ?? "";
for (const id of ["go", "again", "retry"]) element(id).onclick = () => void test();
element("stop").onclick = () => end(true);
element("share").onclick = () => void share();
document.addEventListener("visibilitychange", () => {
  link?.setHidden(document.hidden);
  if (document.hidden) hiddenAt = Date.now();
  else if (hiddenAt) {
    hiddenMs += Date.now() - hiddenAt;
    hiddenAt = 0;
  }
});
translate();
show(start);
