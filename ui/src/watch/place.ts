import type { View } from "./view.ts";

/**
 * The current place in the page. It is stored in the URL, so that a link leads to the same view.
 */
export type Place = { page: "overview" } | { page: "targets"; series: number[]; seconds: number; to: number | undefined };

/** Default span, three hours: for someone who opens the page because it is slow now. */
export const FIRST_SPAN_S = 10_800;

/** Parses `#/targets/3,7?span=3600&to=1795183808`. */
export function readPlace(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page, ids = ""] = path.split("/");
  const series = ids.split(",").map(Number).filter((id) => Number.isInteger(id) && id >= 0);
  if (page !== "targets" || ids === "" || series.length === 0) return { page: "overview" };
  const given = new URLSearchParams(query);
  const number = (key: string): number | undefined => {
    const value = Number(given.get(key) ?? NaN);
    return Number.isFinite(value) && value > 0 ? value : undefined;
  };
  return { page: "targets", series: [...new Set(series)], seconds: number("span") ?? FIRST_SPAN_S, to: number("to") };
}

/** The URL of a view; without its end if that is the present. */
export function hashOf(series: readonly number[], view: View, live: boolean): string {
  const span = view.to - view.from;
  const end = live ? "" : `&to=${Number(view.to.toFixed(3))}`;
  return `#/targets/${series.join(",")}?span=${Number(span.toFixed(3))}${end}`;
}
