// Earlier results of this browser, kept in it.

const KEY = "fathom-results";
const MOST = 20;

export interface Past {
  /** The test. */
  id: string;
  /** When, in ms since 1970. */
  at: number;
  level: string;
  lagS: number | null;
  upBits: number | null;
  downBits: number | null;
}

const isPast = (value: unknown): value is Past => {
  const { id, at, level } = (value ?? {}) as Partial<Past>;
  return typeof id === "string" && typeof at === "number" && typeof level === "string";
};

/** All of them, the latest first; none if the browser keeps nothing. */
export const readPast = (): Past[] => {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(all) ? all.filter(isPast).slice(0, MOST) : [];
  } catch {
    return [];
  }
};

export const keepPast = (past: Past): void => {
  try {
    localStorage.setItem(KEY, JSON.stringify([past, ...readPast()].slice(0, MOST)));
  } catch {
    // The browser keeps nothing.
  }
};

/** A choice of the user, remembered if the browser keeps anything. */
export const remembered = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

export const remember = (key: string, value: string): void => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // As above.
  }
};
