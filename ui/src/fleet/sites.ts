import { make } from "../dom.ts";
import { thousands } from "../format.ts";
import type { Group, Site, Sites } from "./api.ts";
import { hashOf, type Place } from "./place.ts";
import { type Cell, table } from "./table.ts";
import { counted, labelsOf, lag, percent, speed, state, worst } from "./words.ts";

function link(site: string, place: Place): HTMLElement {
  return make("a", { href: hashOf({ ...place, view: "site", site }) }, site);
}

function row(site: Site, place: Place): Cell[] {
  return [
    { text: link(site.site, place) },
    labelsOf(site),
    { text: lag(site.lag_up_s), state: state(site.lag_up_s) },
    { text: lag(site.lag_down_s), state: state(site.lag_down_s) },
    lag(site.idle_p50_s),
    speed(site.goodput_up_bits_per_second),
    speed(site.goodput_down_bits_per_second),
    thousands(site.tests),
  ];
}

function groupRow(group: Group, label: string, place: Place): Cell[] {
  const only: [string, string][] = [...place.only.filter(([name]) => name !== label), [label, group.value]];
  const name = make("a", { href: hashOf({ ...place, only }) }, group.value || "without");
  return [
    { text: name },
    thousands(group.sites),
    { text: lag(group.lag_p50_s), state: state(group.lag_p50_s) },
    { text: lag(group.lag_p90_s), state: state(group.lag_p90_s) },
    percent(group.bloated_ratio),
  ];
}

/** The sites by lag, their groups, and those that differ from their group. */
export function showSites(answer: Sites, place: Place): HTMLElement[] {
  const { sites, by, outliers, tested, bloated, found } = answer;
  const verdict = tested === 0 ? "No site was tested." : `${thousands(bloated)} of ${counted(tested, "site", "sites")} ${bloated === 1 ? "is" : "are"} bloated.`;
  const parts: HTMLElement[] = [make("h1", {}, verdict)];
  if (by) {
    const rows = by.groups.map((group) => groupRow(group, by.label, place));
    const heads = [by.label, "sites", "median lag", "p90 lag", "bloated"];
    parts.push(make("section", { class: "card" }, make("h2", {}, `By ${by.label}`), table(`Sites by ${by.label}`, heads, rows)));
  }
  if (outliers.length > 0) {
    const known = new Map(sites.map((site) => [site.site, site]));
    const item = (name: string): HTMLElement => {
      const site = known.get(name);
      return make("li", {}, link(name, place), site ? ` ${lag(worst(site))}, ${labelsOf(site)}` : "");
    };
    const list = make("ul", {}, ...outliers.slice(0, 20).map(item));
    parts.push(make("section", { class: "card" }, make("h2", {}, "Unlike the others of their group"), list));
  }
  if (sites.length > 0) {
    const heads = ["site", "labels", "lag up", "lag down", "idle", "up", "down", "tests"];
    const rows = sites.map((site) => row(site, place));
    const hidden = found - sites.length;
    const more = hidden > 0 ? [make("p", { class: "note" }, `${thousands(hidden)} more: search, or filter by a label.`)] : [];
    parts.push(make("section", { class: "card" }, make("h2", {}, "Sites by lag"), table("Sites by lag", heads, rows, [1]), ...more));
  }
  return parts;
}
