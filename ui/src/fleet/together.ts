import { moment } from "../axis.ts";
import { make } from "../dom.ts";
import { thousands } from "../format.ts";
import type { SlowTimes, Together } from "./api.ts";
import { hashOf, type Place } from "./place.ts";
import { type Cell, table } from "./table.ts";
import { counted } from "./words.ts";

const NAMES = 12;

/** When sites slowed down together, and what they share; the newest comes first. */
export function showTogether({ together: all, slow, known }: SlowTimes, place: Place): HTMLElement[] {
  const verdict = known === 0 ? "No site was tested." : `${thousands(slow)} of ${counted(known, "site", "sites")} slowed down together.`;
  const parts: HTMLElement[] = [make("h1", {}, verdict)];
  const names = (sites: readonly string[]): HTMLElement => {
    const links = sites.slice(0, NAMES).flatMap((site) => [make("a", { href: hashOf({ ...place, view: "site", site }) }, site), ", "]);
    return make("span", { class: "names" }, ...links.slice(0, -1), sites.length > NAMES ? ` and ${thousands(sites.length - NAMES)} more` : "");
  };
  const row = (one: Together): Cell[] => [
    `${moment(one.from_s, 600)} to ${moment(one.to_s, 600).split(", ")[1]}`,
    `${one.kind} ${one.value}`,
    `${thousands(one.sites.length)} of ${counted(one.sites.length + one.unaffected, "site", "sites")}`,
    { text: names(one.sites) },
  ];
  if (all.length > 0) {
    const heads = ["when", "they share", "slow", "sites"];
    parts.push(make("section", { class: "card" }, table("Sites that slowed down together", heads, [...all].reverse().map(row), [1, 3])));
  }
  const what = "A site is slow while its latency is 20 ms or more above its lowest of a day. A router, a host or a label is named if it explains most of the slow sites.";
  parts.push(make("p", { class: "note" }, what));
  return parts;
}
