/** Lags of at least this many seconds are shown in seconds. */
const LONG_S = 9.95;

/** Three digits, with the decimal sign of the language. */
const digits = (language: string, value: number): string => {
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toLocaleString(language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
};

const whole = (language: string, value: number): string => value.toLocaleString(language, { maximumFractionDigits: 0 });

/** `21 ms`, `0.4 ms`, `12.3 s`. */
export const duration = (language: string, seconds: number): string => {
  if (seconds >= LONG_S) return `${digits(language, seconds)} s`;
  const ms = seconds * 1_000;
  return `${ms >= 10 || ms === 0 ? whole(language, ms) : ms.toLocaleString(language, { maximumFractionDigits: 1 })} ms`;
};

/** A time that people wait, in seconds. */
export const waiting = (language: string, seconds: number): string =>
  `${seconds.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;

/** `+406 ms`. */
export const lag = (language: string, seconds: number): string => `+${duration(language, Math.max(0, seconds))}`;

export const rate = (language: string, bits: number): string => {
  const [factor, unit] = bits >= 0.9995e9 ? [1e9, "Gbit/s"] : bits >= 0.9995e6 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
  return `${digits(language, bits / factor)} ${unit}`;
};

export const bytes = (language: string, value: number): string => {
  const [factor, unit] = value >= 0.9995e9 ? [1e9, "GB"] : [1e6, "MB"];
  const scaled = value / factor;
  return `${scaled.toLocaleString(language, { maximumFractionDigits: scaled < 10 ? 1 : 0 })} ${unit}`;
};

/** Labels of axes: as short as they may be. */
const plain = (language: string, value: number): string => value.toLocaleString(language, { maximumFractionDigits: 2 });

export const axisDuration = (language: string, seconds: number): string =>
  seconds === 0 ? "0" : seconds >= 1 ? `${plain(language, seconds)} s` : `${plain(language, seconds * 1_000)} ms`;

export const axisRate = (language: string, bits: number): string => {
  if (bits === 0) return "0";
  const [factor, unit] = bits >= 1e9 ? [1e9, "Gbit/s"] : bits >= 1e6 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
  return `${plain(language, bits / factor)} ${unit}`;
};
