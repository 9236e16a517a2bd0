import { make } from "../dom.ts";
import { startTheme } from "../theme.ts";
import { Detail } from "./detail.ts";
import { firstOf, Live } from "./live.ts";
import { Overview } from "./overview.ts";
import { readPlace } from "./place.ts";
import "./watch.css";

const main = document.getElementById("watch") as HTMLElement;
const connection = document.getElementById("connection") as HTMLElement;
const troubles = document.getElementById("troubles") as HTMLElement;
const live = new Live(() => heard());
const first = firstOf(document);
if (first) live.begin(first);
const overview = new Overview(live, first?.sparks);
let detail: Detail | undefined;
let lostAt = 0;

function heard(): void {
  overview.show();
  lostAt = live.connected ? 0 : lostAt || Date.now();
  tellConnection();
  tellTroubles();
}

function tellTroubles(): void {
  const text = (trouble: { since_s: number; text: string }): string => `Since ${new Date(trouble.since_s * 1_000).toLocaleString()}: ${trouble.text}`;
  const texts = live.troubles.map(text);
  troubles.hidden = texts.length === 0;
  if (troubles.textContent !== texts.join("")) troubles.replaceChildren(...texts.map((one) => make("p", {}, one)));
}

function tellConnection(): void {
  // Wait before reporting a lost connection: the computer may just have woken up.
  const lost = lostAt > 0 && Date.now() - lostAt > 1_500;
  const text = lost ? "The server cannot be reached; the data shown is out of date." : "";
  connection.classList.toggle("lost", lost);
  if (connection.textContent !== text) connection.textContent = text;
}

function show(): void {
  const place = readPlace(location.hash);
  if (place.page === "overview") {
    detail?.leave();
    document.title = "Fathom watch";
    main.replaceChildren(overview.element);
    overview.enter();
    return;
  }
  overview.leave();
  detail ??= new Detail(live);
  if (detail.element.parentElement !== main) main.replaceChildren(make("p", { class: "back" }, make("a", { href: "#/" }, "‹ All targets")), detail.element);
  void detail.enter(place);
}

startTheme();
show();
// First draws the data embedded in the page.
requestAnimationFrame(() => setTimeout(() => live.start(), 0));
addEventListener("hashchange", show);
setInterval(tellConnection, 1_000);
