/** The current place in the page. It is stored in the URL, so that a link leads to the same view. */
export interface Place {
  view: View;
  /** Name of the site, for the view of one. */
  site: string;
  /** Length of the period, in days. */
  days: number;
  /** End of the period in seconds since 1970; undefined for now. */
  to: number | undefined;
  /** The label by which sites are grouped. */
  by: string;
  /** Only sites with these labels. */
  only: [string, string][];
  direction: "up" | "down";
  /** Text in the name of a site. */
  search: string;
}

export const VIEWS = ["sites", "buffers", "trend", "changes", "together"] as const;
export type View = (typeof VIEWS)[number] | "site";

/** A week has most times of day and days of the week, and some tests of each. */
const FIRST_DAYS = 7;
const MOST_DAYS = 3_660;

function positive(text: string | null, most: number): number | undefined {
  const value = Number(text ?? NaN);
  return Number.isFinite(value) && value > 0 && value <= most ? value : undefined;
}

/** Parses `#/sites?days=7&by=provider&only=plan=100/20`. */
export function readPlace(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const given = new URLSearchParams(query);
  const site = safely(rest.join("/"));
  const known = VIEWS.find((view) => view === name);
  const pairs = [...new URLSearchParams(given.get("only") ?? "").entries()];
  return {
    view: name === "site" && site ? "site" : (known ?? "sites"),
    site: name === "site" ? site : "",
    days: positive(given.get("days"), MOST_DAYS) ?? FIRST_DAYS,
    to: positive(given.get("to"), 1e11),
    by: given.get("by") ?? "",
    only: pairs,
    direction: given.get("direction") === "down" ? "down" : "up",
    search: given.get("search") ?? "",
  };
}

function safely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The URL of a place; values that are the default are left out. */
export function hashOf(place: Place): string {
  const query = new URLSearchParams();
  if (place.days !== FIRST_DAYS) query.set("days", String(place.days));
  if (place.to !== undefined) query.set("to", String(place.to));
  if (place.by) query.set("by", place.by);
  if (place.only.length > 0) query.set("only", new URLSearchParams(place.only).toString());
  if (place.direction === "down") query.set("direction", "down");
  if (place.search) query.set("search", place.search);
  const path = place.view === "site" ? `site/${encodeURIComponent(place.site)}` : place.view;
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

/** Answers are the same for some minutes, so that views share them. */
const ROUND_S = 300;

/** The period of a place. */
export function spanOf(place: Place, now: number): { from: number; to: number } {
  const to = place.to ?? Math.ceil(now / ROUND_S) * ROUND_S;
  return { from: Math.max(to - place.days * 86_400, 0), to };
}
