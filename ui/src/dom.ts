/**
 * Creates an element with attributes and children. Text is inserted as text, never parsed as HTML.
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

/** A button with an accessible name. */
export function button(text: string, label: string, press: () => void): HTMLButtonElement {
  const element = make("button", { type: "button", "aria-label": label, title: label }, text);
  element.addEventListener("click", press);
  return element;
}

/** Copies text to the clipboard. If the page may not, selects it so that the user can. */
export async function copy(text: string, from: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(from);
    return false;
  }
}

/** Offers a file for download. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
