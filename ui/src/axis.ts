/**
 * Ticks of a local time axis: at whole minutes, hours, days and months in the reader's time zone.
 */
export interface Tick {
  at: number;
  label: string;
  /** The start of a day or year: drawn stronger, with a full label. */
  major: boolean;
}

const SECOND_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const MINUTE_STEPS = [1, 2, 5, 10, 15, 30];
const HOUR_STEPS = [1, 2, 3, 6, 12];
const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120];

const two = (n: number): string => String(n).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

export function clock(at: number, withSeconds: boolean): string {
  const date = new Date(at * 1e3);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return withSeconds ? `${text}:${two(date.getSeconds())}` : text;
}

export function day(at: number): string {
  const date = new Date(at * 1e3);
  return `${WEEKDAYS[date.getDay()]} ${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

/** A time, as precise as the width of a column. */
export function moment(at: number, width: number): string {
  const date = new Date(at * 1e3);
  const whole = `${day(at)} ${date.getFullYear()}`;
  if (width >= 86_400) return whole;
  const tenths = width < 1 ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : "";
  return `${whole}, ${clock(at, width < 60)}${tenths}`;
}

/** A duration in words: `3 h`, `12 days`. */
export function spanText(seconds: number): string {
  const units: [number, string][] = [
    [31_557_600, "year"],
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
    [1, "second"],
  ];
  const [size, name] = units.find(([unit]) => seconds >= unit * 0.9995) ?? [1, "second"];
  const value = seconds / size;
  const text = value >= 9.95 || Math.abs(value - Math.round(value)) < 0.02 ? value.toFixed(0) : value.toFixed(1);
  return `${text} ${name}${text === "1" ? "" : "s"}`;
}

/** At most `most` ticks between two times. */
export function timeTicks(from: number, to: number, most: number): Tick[] {
  const least = (to - from) / Math.max(most, 1);
  const seconds = SECOND_STEPS.find((step) => step >= least);
  if (seconds) return clockTicks(from, to, seconds);
  const minutes = MINUTE_STEPS.find((step) => step * 60 >= least);
  if (minutes) return clockTicks(from, to, minutes * 60);
  const hours = HOUR_STEPS.find((step) => step * 3_600 >= least);
  if (hours) return hourTicks(from, to, hours);
  const days = DAY_STEPS.find((step) => step * 86_400 >= least);
  if (days) return dayTicks(from, to, days);
  return monthTicks(from, to, MONTH_STEPS.find((step) => step * 2_629_800 >= least) ?? 120);
}

/** Steps of at most half an hour divide the hours of every time zone. */
function clockTicks(from: number, to: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++) {
    const at = Math.round(n * step * 1e3) / 1e3;
    const date = new Date(at * 1e3);
    const major = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0 && date.getMilliseconds() === 0;
    const tenth = step < 1 ? `.${Math.floor(date.getMilliseconds() / 100)}` : "";
    ticks.push({ at, label: major ? day(at) : clock(at, step < 60) + tenth, major });
  }
  return ticks;
}

/** In local time, so that days of 23 or 25 hours have their ticks at whole hours too. */
function hourTicks(from: number, to: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  const start = new Date(from * 1e3);
  start.setMinutes(0, 0, 0);
  for (let at = start.getTime() / 1e3; at <= to; at += 3_600) {
    const hour = new Date(at * 1e3).getHours();
    if (at < from || hour % step !== 0) continue;
    ticks.push({ at, label: hour === 0 ? day(at) : clock(at, false), major: hour === 0 });
  }
  return ticks;
}

function dayTicks(from: number, to: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  const date = new Date(from * 1e3);
  date.setHours(0, 0, 0, 0);
  for (; date.getTime() / 1e3 <= to; date.setDate(date.getDate() + 1)) {
    const at = date.getTime() / 1e3;
    const [number, weekday] = [date.getDate(), date.getDay()];
    const fits = step === 1 || (step === 2 ? number % 2 === 1 && number < 31 : weekday === 1 && (step === 7 || Math.floor((number - 1) / 7) % 2 === 0));
    if (at < from || !fits) continue;
    ticks.push({ at, label: `${number} ${MONTHS[date.getMonth()]}`, major: step < 7 ? weekday === 1 : number <= 7 });
  }
  return ticks;
}

function monthTicks(from: number, to: number, step: number): Tick[] {
  const ticks: Tick[] = [];
  const start = new Date(from * 1e3);
  for (let month = start.getFullYear() * 12 + start.getMonth(); ; month++) {
    const [year, ofYear] = [Math.floor(month / 12), month % 12];
    const at = new Date(year, ofYear, 1).getTime() / 1e3;
    if (at > to) return ticks;
    if (at < from || month % step !== 0) continue;
    ticks.push({ at, label: ofYear === 0 ? String(year) : MONTHS[ofYear], major: ofYear === 0 });
  }
}
