import { onTheme } from "../colours.ts";
import { make } from "../dom.ts";
import { startTheme } from "../theme.ts";
import { ApiError, type Changes, get, type History, onlyOf, type Plot, type Sites, type SlowTimes, type Trends } from "./api.ts";
import { showBuffers } from "./buffers.ts";
import { showChanges } from "./changes.ts";
import { Controls } from "./controls.ts";
import "./fleet.css";
import { hashOf, type Place, readPlace, spanOf, VIEWS } from "./place.ts";
import { showSite } from "./site.ts";
import { showSites } from "./sites.ts";
import { showTogether } from "./together.ts";
import { showTrend } from "./trend.ts";

const main = document.getElementById("fleet") as HTMLElement;
const views = document.getElementById("views") as HTMLElement;
const controls = new Controls((change) => void (location.hash = hashOf({ ...readPlace(location.hash), ...change })));
const stage = make("div", { id: "stage" });
const NAMES = { sites: "Sites", buffers: "Buffers", trend: "Trend", changes: "Changes", together: "Together" } as const;
let asking = new AbortController();

function links(place: Place): void {
  const link = (view: (typeof VIEWS)[number]): HTMLElement => {
    const here = place.view === view || (place.view === "site" && view === "sites");
    // A period that ends at a change is that of changes alone.
    const to = view === "changes" ? place.to : undefined;
    return make("a", { href: hashOf({ ...place, view, site: "", to }), ...(here ? { "aria-current": "page" } : {}) }, NAMES[view]);
  };
  views.replaceChildren(...VIEWS.map(link));
}

/** Asks for what a place shows. */
async function answer(place: Place, signal: AbortSignal): Promise<HTMLElement[]> {
  const now = Date.now() / 1e3;
  const span = spanOf(place, now);
  const [by, only] = [place.by, onlyOf(place.only)];
  switch (place.view) {
    case "buffers":
      return showBuffers(await get<Plot>("buffers", { ...span, by, only, direction: place.direction }, signal), place);
    case "trend":
      return showTrend(await get<Trends>("trend", { ...span, by, only }, signal), place);
    case "together":
      return showTogether(await get<SlowTimes>("together", { ...span, only }, signal), place);
    case "site":
      return showSite(await get<History>("site", { ...span, name: place.site }, signal), span);
    case "changes": {
      if (place.to === undefined) return [make("h1", {}, "Choose when something changed."), make("p", { class: "note" }, "For example a fix, or another plan.")];
      const days = Math.max(1, Math.round(place.days));
      const answered = await get<Changes>("changes", { at: place.to, now: spanOf({ ...place, to: undefined }, now).to, days, only }, signal);
      return showChanges(answered, place);
    }
    case "sites": {
      const sites = await get<Sites>("sites", { ...span, by, only, search: place.search }, signal);
      controls.learn(sites.values);
      controls.show(place);
      return showSites(sites, place);
    }
  }
}

async function show(): Promise<void> {
  asking.abort();
  const own = (asking = new AbortController());
  const place = readPlace(location.hash);
  document.title = place.view === "site" ? `${place.site} - Fathom fleet` : `${NAMES[place.view]} - Fathom fleet`;
  links(place);
  controls.show(place);
  stage.setAttribute("aria-busy", "true");
  try {
    const parts = await answer(place, own.signal);
    if (!own.signal.aborted) stage.replaceChildren(...parts);
  } catch (error) {
    if (own.signal.aborted) return;
    const text = error instanceof ApiError ? error.message : String(error);
    stage.replaceChildren(make("h1", {}, "No answer"), make("p", { class: "trouble", role: "alert" }, text));
  } finally {
    if (!own.signal.aborted) stage.removeAttribute("aria-busy");
  }
}

/** The views other than that of the sites know the labels from it. */
async function learn(): Promise<void> {
  const place = readPlace(location.hash);
  if (place.view === "sites") return;
  const sites = await get<Sites>("sites", { ...spanOf({ ...place, to: undefined }, Date.now() / 1e3), limit: 1 }, new AbortController().signal).catch(() => undefined);
  if (sites) controls.learn(sites.values);
  controls.show(readPlace(location.hash));
}

main.replaceChildren(controls.element, stage);
startTheme();
void show();
void learn();
addEventListener("hashchange", () => void show());
onTheme(() => void show());
