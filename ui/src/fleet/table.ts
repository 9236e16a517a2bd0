import { make } from "../dom.ts";

/** A cell: text, or an element; `state` decides its color. */
export type Cell = string | { text: string | Node; state?: string };

/** A table with a caption for screen readers. The columns of these numbers have text. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly Cell[])[], ofText: readonly number[] = []): HTMLElement {
  const kind = (column: number): Record<string, string> => (ofText.includes(column) ? { class: "text" } : {});
  const head = make("tr", {}, ...heads.map((text, column) => make("th", { scope: "col", ...kind(column) }, text)));
  const cell = (content: Cell, column: number): HTMLElement => {
    if (typeof content === "string") return make("td", kind(column), content);
    return make("td", content.state ? { "data-state": content.state } : kind(column), content.text);
  };
  const body = rows.map((row) => make("tr", {}, ...row.map(cell)));
  return make(
    "div",
    { class: "scroll" },
    make("table", {}, make("caption", { class: "unseen" }, caption), make("thead", {}, head), make("tbody", {}, ...body)),
  );
}
