// The pages of the static site that are text: the start, and the documentation from Markdown.
// Usage: node ui/site.mjs DIRECTORY. A link to a file or a heading that does not exist is an error.
import MarkdownIt from "markdown-it";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const into = process.argv[2];
if (!into) throw new Error("usage: node ui/site.mjs DIRECTORY");

/** Files at the root that the documentation links to. */
const OTHERS = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];
/** Folders of docs/ that are no pages. */
const LEFT_OUT = ["language"];
/** The order on the start page; the others follow. */
const GUIDES = "docs/guides";

const filesOf = (folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return LEFT_OUT.includes(entry.name) ? [] : filesOf(path);
    return [path];
  });
const files = [...filesOf("docs"), ...OTHERS];
const sources = files.filter((path) => path.endsWith(".md"));
const copied = files.filter((path) => /\.(svg|png|json)$/.test(path));

const escape = (text) => text.replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
/** As code hosts make the ID of a heading. */
const slug = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
const page = (path, title, body) => {
  const home = "../".repeat(path.split("/").length - 1) || "./";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(title)} – Fathom</title><link rel="stylesheet" href="${home}site.css"></head>
<body><header><a href="${home}index.html" class="home"><b>Fathom</b></a>
<nav><a href="${home}trace.html">Analyze a capture</a><a href="${home}sim.html">Simulate a line</a><a href="${home}gallery/index.html">Gallery</a></nav></header>
<main class="text">${body}</main></body></html>
`;
};
const write = (path, text) => {
  mkdirSync(dirname(join(into, path)), { recursive: true });
  writeFileSync(join(into, path), text);
};

const problems = [];
const headings = new Map();
const links = [];
const markdown = new MarkdownIt({ html: false });
/** The text of a heading. */
const textOf = (token) => (token?.children ?? []).map((child) => (["text", "code_inline"].includes(child.type) ? child.content : "")).join("");

/** Where a link leads on the site: nothing if only the repository has it. */
const target = (from, href) => {
  if (/^[a-z]+:/.test(href)) return href;
  const [file, heading] = href.split("#");
  const path = file ? normalize(join(dirname(from), file)) : from;
  if (!existsSync(join(ROOT, path))) problems.push(`${from}: ${href}: no such file`);
  if (heading) links.push([from, path, heading]);
  if (!sources.includes(path)) return copied.includes(path) ? href : undefined;
  return href.replace(/\.md(#|$)/, ".html$1");
};

const render = (path) => {
  const tokens = markdown.parse(readFileSync(join(ROOT, path), "utf8"), {});
  const ids = new Map();
  let title = basename(path, ".md");
  tokens.forEach((token, n) => {
    if (token.type === "heading_open") {
      const text = textOf(tokens[n + 1]);
      if (token.tag === "h1") title = text;
      const known = ids.get(slug(text)) ?? 0;
      ids.set(slug(text), known + 1);
      token.attrSet("id", known ? `${slug(text)}-${known}` : slug(text));
    }
    for (const child of token.children ?? []) {
      if (child.type === "image") target(path, child.attrGet("src"));
      if (child.type !== "link_open") continue;
      const href = target(path, child.attrGet("href"));
      if (href === undefined) child.attrs = [];
      else child.attrSet("href", href);
    }
  });
  headings.set(path, new Set(ids.keys()));
  return { title, body: markdown.renderer.render(tokens, markdown.options, {}) };
};

const titles = new Map();
for (const path of sources) {
  const { title, body } = render(path);
  titles.set(path, title);
  write(path.replace(/\.md$/, ".html"), page(path, title, body));
}
for (const [from, path, heading] of links) {
  if (path.endsWith(".md") && !headings.get(path)?.has(heading)) problems.push(`${from}: ${path}#${heading}: no such heading`);
}
if (problems.length > 0) throw new Error(problems.join("\n"));
for (const path of copied) {
  mkdirSync(dirname(join(into, path)), { recursive: true });
  cpSync(join(ROOT, path), join(into, path));
}

const item = (path) => `<li><a href="${relative(".", path.replace(/\.md$/, ".html"))}">${escape(titles.get(path) ?? path)}</a></li>`;
const list = (paths) => `<ul>${paths.map(item).join("")}</ul>`;
const guides = sources.filter((path) => path.startsWith(`${GUIDES}/`));
const decisions = sources.filter((path) => path.startsWith("docs/adr/"));
const reference = sources.filter((path) => path.startsWith("docs/") && !guides.includes(path) && !decisions.includes(path));
write(
  "index.html",
  page(
    "index.html",
    "Bufferbloat",
    `<h1>Fathom finds, explains and fixes bufferbloat</h1>
<p>When an upload makes video calls break up, packets wait in an oversized buffer in front of the line. Fathom measures this delay under load, says which queue causes it, and fixes it.</p>
<div class="choices">
<a class="card" href="trace.html"><b>Analyze a capture</b><span>Where did its packets wait? The file stays on this device.</span></a>
<a class="card" href="sim.html"><b>Simulate a line</b><span>Move sliders for rate, buffer and queue, and watch TCP fill it.</span></a>
<a class="card" href="gallery/index.html"><b>Gallery</b><span>Published experiments, simulated, next to the published numbers.</span></a>
<a class="card" href="README.html"><b>The program</b><span>Tests lines, shapes routers, watches many lines for months.</span></a>
</div>
<p><img src="docs/images/test.svg" alt="A terminal: fathom test measures a cable line and reports one second of delay under load"></p>
<h2>Guides</h2>${list(guides)}<h2>Reference</h2>${list([...reference, ...OTHERS.filter((path) => path !== "README.md")])}
<h2>Decisions</h2>${list(decisions)}`,
  ),
);
