// Reports of the engine: HTML pages with their own scripts.

/** An address for `text`, which replaces the address that `previous` had. */
export const addressOf = (text: string, type: string, previous: string): string => {
  if (previous.startsWith("blob:")) URL.revokeObjectURL(previous);
  return URL.createObjectURL(new Blob([text], { type }));
};

/** Shows a page in a frame. */
export const showReport = (frame: HTMLIFrameElement, page: string): string => {
  const address = addressOf(page, "text/html", frame.src);
  frame.src = address;
  frame.hidden = false;
  return address;
};

/** An element by its ID. */
export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

