import { App } from "./app.ts";
import { decode } from "./data.ts";
import { make } from "./dom.ts";
import { fromBase64 } from "./reader.ts";
import style from "./trace.css?inline";

const root = document.getElementById("trace");
const data = document.getElementById("trace-data");
if (root && data) {
  document.head.append(make("style", {}, style));
  const capture = decode(fromBase64(data.textContent ?? ""));
  // Free the text, which is as large as the capture.
  data.remove();
  if (capture.tracks.length > 0) new App(root, capture);
  else root.replaceChildren(make("p", {}, "None of the flows carried data: there is nothing to draw."));
}
