import type { Capture, TrackData } from "./data.ts";
import { button, copy, download, make } from "./dom.ts";
import type { RareEvent } from "./events.ts";
import { moment, quantity, thousands } from "./format.ts";
import { listen } from "./gestures.ts";
import { laneView, type PanelView, panelView } from "./legend.ts";
import { eventHit, type Hit, nearest, nearestMark, placeOf } from "./nearest.ts";
import { Model, shownMarks } from "./panels.ts";
import { type Box, LEAST_BOX, Picture } from "./picture.ts";
import { clusterGap, LANE_HEIGHT, mapping } from "./scene.ts";
import { EventTable } from "./table.ts";
import { clamp, pan, type View, whole, zoom } from "./view.ts";

/** Share of the view that an arrow key moves. */
const KEY_STEP = 0.12;
const KEY_ZOOM = 0.6;
const HINT =
  "The mouse wheel or a pinch zooms, dragging moves, dragging with Shift zooms to a selection. A click pins the cursor. The keys n and p " +
  "go to the next and previous rare event.";
const HELP =
  "Timeline of the capture. The arrow keys move, plus and minus zoom, 0 shows everything, n and p go to the next and previous " +
  "rare event, Escape releases the cursor. Dragging moves; dragging with Shift zooms to a selection.";

/** The page's state, and the handling of user input. */
export class App {
  private model: Model;
  private view: View;
  private readonly all: View;
  private views: PanelView[] = [];
  private cursor: { ns: number; value: number | undefined; pinned: boolean } | undefined;
  private hit: Hit | undefined;
  private box: Box | undefined;
  private isDue = false;
  private tableTimer = 0;
  private readonly stage = make("div", { class: "stage", tabindex: "0", role: "application", "aria-label": HELP });
  private readonly picture = new Picture(this.stage);
  private readonly flows = make("select", { "aria-label": "Flow and direction" });
  private readonly hitText = make("span");
  private readonly filter = make("code");
  private readonly copier = button("Copy filter", "Copy the display filter for Wireshark", () => void this.copyFilter());
  private readonly note = make("p", { class: "note" });
  private readonly workText = make("p", { class: "work" });
  private readonly said = make("p", { class: "unseen", role: "status" });
  private readonly table = new EventTable((event) => this.goTo(event));

  constructor(
    private readonly root: HTMLElement,
    private readonly capture: Capture,
  ) {
    this.all = whole(capture.span);
    this.view = this.all;
    this.model = new Model(capture, capture.tracks[0]);
    this.build();
    this.select(0);
    this.listen();
  }

  private build(): void {
    this.capture.tracks.forEach((track, n) => {
      this.flows.append(make("option", { value: String(n) }, `Flow ${track.flow + 1}: ${track.name}, ${quantity(track.bytes, "bytes")} sent`));
    });
    this.flows.addEventListener("change", () => this.select(Number(this.flows.value)));
    const tools = make(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "View" },
      this.flows,
      make("span", { class: "gap" }),
      button("−", "Zoom out", () => this.zoomBy(1 / KEY_ZOOM)),
      button("+", "Zoom in", () => this.zoomBy(KEY_ZOOM)),
      button("All", "Show all", () => this.showAll()),
      button("‹ event", "Previous rare event", () => this.step(-1)),
      button("event ›", "Next rare event", () => this.step(1)),
      button("SVG", "Save this view as SVG", () => this.save()),
    );
    const hit = make("p", { class: "hit" }, this.hitText, this.filter, this.copier);
    const card = make("div", { class: "card timeline" }, tools, hit, this.note, this.stage, this.workText);
    card.append(this.table.element, this.said);
    this.root.replaceChildren(make("h2", {}, "Over time"), card);
    this.table.element.addEventListener("toggle", () => this.showTable());
  }

  private listen(): void {
    listen(this.stage, {
      zoom: (x, factor) => this.show(zoom(this.view, this.timeAt(x), factor, this.all)),
      pan: (pixels) => this.show(pan(this.view, pixels * this.nsPerPixel, this.all)),
      select: (box) => this.selectBox(box),
      selecting: (box) => {
        this.box = box;
        this.due();
      },
      point: (x, y) => this.cursor?.pinned || this.point(x, y, false),
      leave: () => this.cursor?.pinned || this.letGo(),
      press: (x, y) => this.press(x, y),
      all: () => this.showAll(),
    });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.layout()).observe(this.stage);
    new MutationObserver(() => this.due()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.due());
    document.addEventListener("click", (event) => {
      const frame = (event.target as Element).closest<HTMLElement>("[data-frame]")?.dataset["frame"];
      if (frame) this.goToFrame(Number(frame));
    });
  }

  /** Shows another track. */
  private select(n: number): void {
    const track = this.capture.tracks[n];
    this.flows.value = String(n);
    this.picture.forget();
    this.model = new Model(this.capture, track);
    this.views.forEach((view) => view.element.remove());
    this.views = this.model.panels.map((panel) => panelView(panel, this.model, () => this.due()));
    const { lanes } = track.events;
    if (lanes.length > 0) this.views.splice(1, 0, laneView(lanes.length * LANE_HEIGHT));
    this.stage.append(...this.views.map((view) => view.element));
    this.note.textContent = this.notes(track).join(" ");
    this.note.hidden = this.note.textContent === "";
    this.describe(track);
    this.letGo();
    this.layout();
  }

  private notes(track: TrackData): string[] {
    const { began, stepsBack } = this.capture;
    const date = new Date(began);
    const notes = Number.isNaN(date.getTime()) ? [] : [`0 s is ${date.toISOString().replace("T", " ").replace("Z", " UTC")}.`];
    const stride = Math.max(track.segments.stride, track.acks.stride, track.bySequence.stride);
    if (stride > 1) notes.push(`Ordinary packets of this flow are thinned: up to ${stride} consecutive ones are shown as one. All rare events are shown.`);
    notes.push(HINT);
    if (stepsBack > 0) notes.push(`The capture's clock stepped back for ${thousands(stepsBack)} ${stepsBack === 1 ? "packet" : "packets"}; they are shown at the time before the step.`);
    return notes;
  }

  private describe(track: TrackData): void {
    const counts = track.events.lanes.map((lane) => `${lane.lane} ${lane.events.length}`).join(", ");
    const sent = `${thousands(track.segments.at.length)} segments, ${quantity(track.bytes, "bytes")}`;
    this.picture.describe(`${track.name}: ${sent}. Rare events: ${counts || "none"}.`);
  }

  private layout(): void {
    this.picture.measure(this.views);
    this.due();
  }

  /** Draws in the next animation frame, however often it is called. */
  private due(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.isDue = false;
    const began = performance.now();
    const { points, bars } = this.picture.draw(this.model, this.view);
    this.drawCursor();
    const ms = performance.now() - began;
    const { calls } = this.picture;
    const { start, end } = this.view;
    Object.assign(this.stage.dataset, { view: `${start} ${end}`, ms: ms.toFixed(2), calls: String(calls), points: String(points), bars: String(bars) });
    this.workText.textContent =
      `Drawn in ${ms.toFixed(1)} ms: ${thousands(bars)} bars in ${calls} draw calls, ${thousands(points)} line points.`;
    clearTimeout(this.tableTimer);
    this.tableTimer = window.setTimeout(() => this.showTable(), 150);
  }

  private drawCursor(): void {
    const { cursor, view } = this;
    this.views.forEach((v) => v.tell(cursor?.ns, view));
    this.picture.cursor(view, cursor?.ns, cursor?.pinned ?? false, this.box);
  }

  private showTable(): void {
    this.table.show(this.model.track.events, this.view, this.nsPerPixel);
  }

  private show(view: View): void {
    this.view = view;
    this.due();
  }

  private showAll(): void {
    for (const panel of this.model.panels) panel.range = undefined;
    this.show(this.all);
  }

  /**
   * A box in one panel also selects values; one across panels, or a flat one, selects time only.
   */
  private selectBox(box: Box): void {
    this.box = undefined;
    const { left, right, from, to } = box;
    const inside = this.picture.drawn.find(({ rect }) => from >= rect.top && to <= rect.top + rect.height);
    if (inside?.panel && to - from > LEAST_BOX) {
      const { rect, low, high } = inside;
      const valueAt = (y: number): number => high - ((y - rect.top) * (high - low)) / rect.height;
      inside.panel.range = { low: valueAt(to), high: valueAt(from) };
    }
    this.show(clamp({ start: this.timeAt(left), end: this.timeAt(right) }, this.all));
  }

  private zoomBy(factor: number): void {
    const { cursor, view } = this;
    const inView = cursor && cursor.ns > view.start && cursor.ns < view.end;
    this.show(zoom(view, inView ? cursor.ns : (view.start + view.end) / 2, factor, this.all));
  }

  private get nsPerPixel(): number {
    const width = this.picture.drawn[0]?.rect.width ?? 1;
    return (this.view.end - this.view.start) / Math.max(width, 1);
  }

  private timeAt(x: number): number {
    return this.view.start + (x - (this.picture.drawn[0]?.rect.left ?? 0)) * this.nsPerPixel;
  }

  private point(x: number, y: number, pinned: boolean): void {
    const under = this.picture.drawn.find(({ panel, rect }) => panel && y >= rect.top && y <= rect.top + rect.height);
    const range = under ? (under.high - under.low) / under.rect.height : 1;
    const at = under ? under.high - (y - under.rect.top) * range : 0;
    const ns = this.timeAt(x);
    const value = under?.panel?.floats ? at : undefined;
    this.cursor = { ns, value, pinned };
    const place = { ns, nsPerPixel: this.nsPerPixel, valuePerPixel: range };
    const marks = under?.panel && nearestMark(shownMarks(under.panel), { ...place, value: at });
    this.tell(marks ?? nearest(this.model.track, { ...place, value }));
  }

  /** A click zooms in on a badge; elsewhere it pins the cursor or releases it. */
  private press(x: number, y: number): void {
    const lanes = this.picture.drawn.find(({ panel }) => !panel);
    const rect = lanes?.rect;
    if (rect && y >= rect.top && y < rect.top + rect.height) {
      const lane = this.model.track.events.lanes[Math.floor((y - rect.top) / LANE_HEIGHT)];
      const near = (at: number): number => Math.abs(mapping(rect, this.view, 0, 1).x(at) - x);
      const clusters = lane?.clusters(this.view, clusterGap(this.view, rect)) ?? [];
      const cluster = clusters.sort((a, b) => near(a.at) - near(b.at))[0];
      if (cluster && near(cluster.at) < 20) return this.lookAt(lane.events.slice(cluster.first, cluster.first + cluster.count));
    }
    if (this.cursor?.pinned) this.letGo();
    else this.point(x, y, true);
  }

  private lookAt(events: RareEvent[]): void {
    const [first, last] = [events[0], events[events.length - 1]];
    if (last.at > first.at) {
      const room = (last.at - first.at) * 0.15;
      this.show(clamp({ start: first.at - room, end: last.at + room }, this.all));
    } else this.goTo(first);
  }

  private letGo(): void {
    this.cursor = undefined;
    this.tell(undefined);
  }

  private tell(hit: Hit | undefined): void {
    this.hit = hit;
    this.hitText.replaceChildren(hit ? make("b", {}, moment(hit.at, Math.min(this.nsPerPixel, 1e4))) : "Point at the plot to see what is there and its frame number.");
    if (hit) this.hitText.append(` ${hit.what}`);
    this.filter.textContent = hit ? `frame.number == ${hit.frame}` : "";
    this.copier.hidden = !hit;
    this.due();
  }

  private async copyFilter(): Promise<void> {
    const done = this.hit && (await copy(`frame.number == ${this.hit.frame}`, this.filter));
    this.say(done ? "Copied." : "Selected: copy it from there.");
  }

  private say(text: string): void {
    this.said.textContent = text;
  }

  /** Moves to the next or previous rare event. */
  private step(direction: 1 | -1): void {
    const from = this.cursor?.ns ?? (direction > 0 ? this.view.start : this.view.end);
    const event = this.model.track.events.beside(from, direction);
    if (event) this.goTo(event);
    else this.say("No more rare events that way.");
  }

  private goTo(event: RareEvent): void {
    const { view } = this;
    this.cursor = { ns: event.at, value: undefined, pinned: true };
    if (event.at < view.start || event.at > view.end) {
      this.show(pan(view, event.at - (view.start + view.end) / 2, this.all));
    }
    const hit = eventHit(event);
    this.tell(hit);
    this.say(`${moment(hit.at, 1e4)}, frame ${hit.frame}: ${hit.what}`);
  }

  /** Shows a frame and its neighbors, in its flow. */
  private goToFrame(frame: number): void {
    const { tracks } = this.capture;
    const exact = tracks.findIndex((track) => placeOf(track, frame)?.exact);
    if (exact >= 0 && tracks[exact] !== this.model.track) this.select(exact);
    const place = placeOf(this.model.track, frame);
    if (!place) return;
    this.cursor = { ns: place.at, value: undefined, pinned: true };
    this.show(clamp(place.view, this.all));
    this.tell({ frame, at: place.at, what: place.exact ? place.what : "belongs to other flows; the nearest point" });
    this.stage.scrollIntoView({ block: "start", behavior: "smooth" });
    this.stage.focus({ preventScroll: true });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const length = this.view.end - this.view.start;
    const move = (share: number): void => this.show(pan(this.view, share * length, this.all));
    const does: Record<string, () => void> = {
      ArrowLeft: () => move(-KEY_STEP),
      ArrowRight: () => move(KEY_STEP),
      ArrowUp: () => this.zoomBy(KEY_ZOOM),
      ArrowDown: () => this.zoomBy(1 / KEY_ZOOM),
      Home: () => move(-Infinity),
      End: () => move(Infinity),
      "+": () => this.zoomBy(KEY_ZOOM),
      "=": () => this.zoomBy(KEY_ZOOM),
      "-": () => this.zoomBy(1 / KEY_ZOOM),
      "0": () => this.showAll(),
      n: () => this.step(1),
      p: () => this.step(-1),
      Escape: () => this.letGo(),
    };
    const act = does[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private save(): void {
    const title = `${this.model.track.name}, ${moment(this.view.start, 1e6)} to ${moment(this.view.end, 1e6)}`;
    download("fathom-trace.svg", "image/svg+xml", this.picture.svg(this.model, this.view, title));
  }
}
