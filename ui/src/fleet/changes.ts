import { make } from "../dom.ts";
import { thousands } from "../format.ts";
import type { Change, Changes } from "./api.ts";
import { hashOf, type Place } from "./place.ts";
import { type Cell, table } from "./table.ts";
import { counted, lag } from "./words.ts";

const ORDER = { worse: 0, better: 1, same: 2, unknown: 3 } as const;
const WORDS = { worse: "worse", better: "better", same: "same", unknown: "few tests" } as const;
const STATES = { worse: "bad", better: "good", same: "", unknown: "" } as const;
/** Rows of the table. */
const MOST = 500;

/** Each site before and after a moment; those that changed come first. */
export function showChanges({ changes, better, worse, known, found }: Changes, place: Place): HTMLElement[] {
  const verdict =
    known === 0
      ? "No site was tested."
      : `${thousands(better)} of ${counted(known, "site", "sites")} ${better === 1 ? "is" : "are"} better, ${thousands(worse)} worse.`;
  const sorted = [...changes].sort((a, b) => ORDER[a.change] - ORDER[b.change]);
  const row = (one: Change): Cell[] => [
    { text: make("a", { href: hashOf({ ...place, view: "site", site: one.site }) }, one.site) },
    lag(one.before_s),
    lag(one.after_s),
    { text: WORDS[one.change], state: STATES[one.change] },
    `${thousands(one.tests_before)} + ${thousands(one.tests_after)}`,
  ];
  const parts: HTMLElement[] = [make("h1", {}, verdict)];
  if (changes.length > 0) {
    const rows = sorted.slice(0, MOST).map(row);
    const hidden = found - rows.length;
    const more = hidden > 0 ? [make("p", { class: "note" }, `${thousands(hidden)} more: filter by a label.`)] : [];
    parts.push(make("section", { class: "card" }, table("Lag before and after", ["site", "before", "after", "change", "tests"], rows), ...more));
  }
  return parts;
}
