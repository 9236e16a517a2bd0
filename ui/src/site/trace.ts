import { Client, example } from "./client.ts";
import { addressOf, element, showReport } from "./report.ts";
import "./site.css";

const client = new Client();
const parts = ["choice", "work", "failure", "result"].map((id) => element(id));
/** The analysis that is shown; an earlier one has been stopped. */
let current = 0;

const show = (...visible: string[]): void => {
  for (const part of parts) part.hidden = !visible.includes(part.id);
};

/** `report.html` for `upload.pcap.gz`. */
const named = (file: string, ending: string): string => `${file.replace(/(\.(pcap|pcapng|cap))?(\.gz)?$/i, "") || "capture"}.${ending}`;

const link = (id: string, address: string, name: string): void => {
  const anchor = element<HTMLAnchorElement>(id);
  anchor.href = address;
  anchor.download = name;
};

const fail = (name: string, message: string): void => {
  element("problem").textContent = `${name} could not be analyzed`;
  element("remedy").textContent = message;
  show("choice", "failure");
  element("problem").focus();
};

const analyze = async (name: string, open: () => Promise<File>): Promise<void> => {
  const number = ++current;
  client.stop();
  element("doing").textContent = `${name} is being read`;
  element<HTMLProgressElement>("progress").value = 0;
  show("work");
  element("doing").focus();
  const from = performance.now();
  try {
    const output = await client.trace(await open(), (share) => {
      if (number === current) element<HTMLProgressElement>("progress").value = share;
    });
    if (number !== current) return;
    link("save", showReport(element<HTMLIFrameElement>("report"), output.page), named(name, "html"));
    const data = element<HTMLAnchorElement>("data");
    link("data", addressOf(output.document, "application/json", data.href), named(name, "json"));
    element("spent").textContent = `analyzed in ${((performance.now() - from) / 1_000).toFixed(1)} s`;
    show("result");
  } catch (error) {
    if (number === current) fail(name, error instanceof Error ? error.message : String(error));
  }
};

const take = (file: File | null | undefined): void => {
  if (file) void analyze(file.name, async () => file);
};

const input = element<HTMLInputElement>("file");
input.onchange = () => {
  take(input.files?.[0]);
  input.value = "";
};
element("example").onclick = () => void analyze("example.pcap.gz", example);
element("again").onclick = () => show("choice");
element("stop").onclick = () => {
  current += 1;
  client.stop();
  show("choice");
};
// A file that is dropped outside of the field would replace the page.
document.ondragover = (event) => {
  event.preventDefault();
  element("drop").classList.add("over");
};
document.ondragleave = () => element("drop").classList.remove("over");
document.ondrop = (event) => {
  event.preventDefault();
  element("drop").classList.remove("over");
  take(event.dataTransfer?.files[0]);
};
show("choice");
