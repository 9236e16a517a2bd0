// src/colours.ts
var e = /* @__PURE__ */ new Map(), t = (t) => {
	let n = e.get(t);
	return n === void 0 && (n = getComputedStyle(document.documentElement).getPropertyValue(`--${t}`).trim() || "#888888", e.set(t, n)), n;
};
function n(t) {
	let n = () => {
		e = /* @__PURE__ */ new Map(), t();
	};
	new MutationObserver(n).observe(document.documentElement, { attributeFilter: ["data-theme"] }), matchMedia("(prefers-color-scheme: dark)").addEventListener("change", n);
}
// src/dom.ts
function r(e, t = {}, ...n) {
	let r = document.createElement(e);
	for (let [e, n] of Object.entries(t)) r.setAttribute(e, n);
	return r.append(...n), r;
}
function i(e, t, n) {
	let i = r("button", {
		type: "button",
		"aria-label": t,
		title: t
	}, e);
	return i.addEventListener("click", n), i;
}
// src/theme.ts
function a() {
	let e = document.documentElement, t = document.getElementById("theme"), n = matchMedia("(prefers-color-scheme: dark)"), r = localStorage.getItem("theme");
	(r === "dark" || r === "light") && (e.dataset.theme = r);
	let i = () => e.dataset.theme ? e.dataset.theme === "dark" : n.matches, a = () => void (t.textContent = i() ? "Light" : "Dark");
	t.hidden = !1, t.addEventListener("click", () => {
		e.dataset.theme = i() ? "light" : "dark", localStorage.setItem("theme", e.dataset.theme), a();
	}), n.addEventListener("change", a), a();
}
// src/fleet/api.ts
var o = class extends Error {};
function s(e) {
	return Object.entries(e).filter(([, e]) => e !== void 0 && e !== "").map(([e, t]) => `${e}=${encodeURIComponent(String(t))}`).join("&");
}
function c(e) {
	return e.map(([e, t]) => `${encodeURIComponent(e)}=${encodeURIComponent(t)}`).join("&");
}
async function l(e, t, n) {
	let r;
	try {
		r = await fetch(`/api/v1/${e}?${s(t)}`, { signal: n });
	} catch (e) {
		throw n.aborted ? e : new o("The server cannot be reached.");
	}
	if (r.status === 401 && location.assign("/login"), !r.ok) throw new o((await r.json().catch(() => ({}))).error ?? `The server responded with status ${r.status}.`);
	return await r.json();
}
// src/format.ts
var u = [
	[1e9, "Gbit/s"],
	[1e6, "Mbit/s"],
	[1e3, "kbit/s"],
	[1, "bit/s"]
], d = [
	[1e9, "GB"],
	[1e6, "MB"],
	[1e3, "kB"],
	[1, "B"]
], f = [
	[1, "s"],
	[.001, "ms"],
	[1e-6, "µs"],
	[1e-9, "ns"]
], p = [[1, ""]];
function m(e, t) {
	let n = {
		seconds: f,
		bytes: d,
		rate: u,
		plain: p
	}[e], r = n.find(([e]) => Math.abs(t) >= e * .9995) ?? n[n.length - 1];
	return {
		factor: r[0],
		name: r[1]
	};
}
function h(e) {
	let t = Math.abs(e).toFixed(0), n = t.replace(/\B(?=(\d{3})+$)/g, ",");
	return e < 0 && t !== "0" ? `-${n}` : n;
}
function g(e, t) {
	if (!Number.isFinite(e)) return "–";
	let { factor: n, name: r } = e === 0 ? m(t, t === "seconds" ? .001 : 1) : m(t, t === "seconds" && Math.abs(e) < 9.995 && Math.abs(e) >= 9995e-7 ? .001 : e), i = e / n, a = Math.abs(i), o = a >= 99.95 || i === 0 || n === 1 && t !== "seconds" && Number.isInteger(i) ? h(i) : a >= 9.995 ? i.toFixed(1) : i.toFixed(2);
	return r === "" ? o : `${o} ${r}`;
}
function ee(e, t, n) {
	let r = (t - e) / Math.max(n, 1);
	if (!(r > 0) || !Number.isFinite(r)) return [];
	let i = 10 ** Math.floor(Math.log10(r)), a = [
		1,
		2,
		5,
		10
	].map((e) => e * i).find((e) => e >= r * .999999) ?? 10 * i, o = [];
	for (let n = Math.ceil(e / a); n * a <= t; n++) o.push(n * a);
	return o;
}
// src/fleet/chart.ts
var te = 2, _ = class {
	paint;
	canvas = r("canvas", {
		role: "img",
		tabindex: "0"
	});
	note = r("p", {
		class: "note",
		"aria-live": "polite"
	});
	element = r("div", { class: "chart" }, this.canvas, this.note);
	width = 0;
	height = 0;
	constructor(e, t) {
		this.paint = t, this.canvas.setAttribute("aria-label", e), new ResizeObserver(() => this.draw()).observe(this.canvas);
	}
	draw() {
		let { width: e, height: t } = this.canvas.getBoundingClientRect();
		if (e === 0) return;
		let n = Math.min(devicePixelRatio, te);
		[this.width, this.height] = [e, t], [this.canvas.width, this.canvas.height] = [Math.round(e * n), Math.round(t * n)];
		let r = this.canvas.getContext("2d");
		r && (r.setTransform(n, 0, 0, n, 0, 0), r.font = "12px system-ui, sans-serif", r.textBaseline = "middle", this.paint(r, this));
	}
	follow(e) {
		let t = (t) => {
			let { left: n, top: r } = this.canvas.getBoundingClientRect();
			e({
				x: t.clientX - n,
				y: t.clientY - r
			});
		};
		this.canvas.addEventListener("pointermove", t), this.canvas.addEventListener("pointerdown", t), this.canvas.addEventListener("pointerleave", () => e(void 0));
	}
}, ne = [
	"down",
	"up",
	"both",
	"idle",
	"latency"
];
function v(e) {
	return t(ne[e] ?? "drain");
}
var y = ne.length;
// src/fleet/logscale.ts
function b(e) {
	let [t, n] = [Infinity, 0];
	for (let r of e) r > 0 && Number.isFinite(r) && (r < t && (t = r), r > n && (n = r));
	if (n === 0) return;
	let r = ((e) => 10 ** Math.floor(Math.log10(e * 1.000001)))(t / 1.2), i = 10 ** Math.ceil(Math.log10(n * 1.2) - 1e-9);
	return {
		low: r,
		high: i > r ? i : r * 10
	};
}
function x({ low: e, high: t }, n) {
	return Math.log(n / e) / Math.log(t / e);
}
function S({ low: e, high: t }) {
	let n = Math.round(Math.log10(t / e));
	return Array.from({ length: n + 1 }, (t, n) => e * 10 ** n);
}
// src/fleet/place.ts
var C = [
	"sites",
	"buffers",
	"trend",
	"changes",
	"together"
], w = 7, re = 3660;
function T(e, t) {
	let n = Number(e ?? NaN);
	return Number.isFinite(n) && n > 0 && n <= t ? n : void 0;
}
function E(e) {
	let [t, n = ""] = e.replace(/^#\/?/, "").split("?"), [r, ...i] = t.split("/"), a = new URLSearchParams(n), o = ie(i.join("/")), s = C.find((e) => e === r), c = [...new URLSearchParams(a.get("only") ?? "").entries()];
	return {
		view: r === "site" && o ? "site" : s ?? "sites",
		site: r === "site" ? o : "",
		days: T(a.get("days"), re) ?? w,
		to: T(a.get("to"), 1e11),
		by: a.get("by") ?? "",
		only: c,
		direction: a.get("direction") === "down" ? "down" : "up",
		search: a.get("search") ?? ""
	};
}
function ie(e) {
	try {
		return decodeURIComponent(e);
	} catch {
		return "";
	}
}
function D(e) {
	let t = new URLSearchParams();
	e.days !== w && t.set("days", String(e.days)), e.to !== void 0 && t.set("to", String(e.to)), e.by && t.set("by", e.by), e.only.length > 0 && t.set("only", new URLSearchParams(e.only).toString()), e.direction === "down" && t.set("direction", "down"), e.search && t.set("search", e.search);
	let n = e.view === "site" ? `site/${encodeURIComponent(e.site)}` : e.view, r = t.toString();
	return `#/${n}${r ? `?${r}` : ""}`;
}
var ae = 300;
function O(e, t) {
	let n = e.to ?? Math.ceil(t / ae) * ae;
	return {
		from: Math.max(n - e.days * 86400, 0),
		to: n
	};
}
// src/fleet/words.ts
function k(e) {
	return e === null ? "–" : g(e, "seconds");
}
function A(e) {
	return e === null ? "–" : g(e, "rate");
}
function j(e) {
	return e === null ? "–" : g(e, "bytes");
}
function oe(e) {
	return `${(100 * e).toFixed(+(e > 0 && e < .1))} %`;
}
function M(e, t, n) {
	return `${h(e)} ${e === 1 ? t : n}`;
}
function N(e) {
	let t = [e.lag_up_s, e.lag_down_s].filter((e) => e !== null);
	return t.length > 0 ? Math.max(...t) : null;
}
var P = .2;
function F(e) {
	return e === null || e < .2 / 2 ? "good" : e < .2 ? "fair" : "bad";
}
function I(e) {
	return Object.values(e.labels).join(", ");
}
// src/fleet/buffers.ts
var L = {
	left: 64,
	right: 14,
	top: 12,
	bottom: 30
}, se = [
	[.001, "1 ms"],
	[.01, "10 ms"],
	[.1, "100 ms"],
	[1, "1 s"],
	[10, "10 s"],
	[100, "100 s"]
], R = 2 ** (1 / 8), ce = 12, le = 3;
function z(e) {
	return e.replace(/\.0+ /, " ");
}
var ue = class {
	rates;
	buffers;
	chart;
	constructor(e, t, n) {
		this.rates = e, this.buffers = t, this.chart = n;
	}
	get right() {
		return this.chart.width - L.right;
	}
	get bottom() {
		return this.chart.height - L.bottom;
	}
	x(e) {
		return L.left + x(this.rates, e) * (this.right - L.left);
	}
	y(e) {
		return this.bottom - x(this.buffers, e) * (this.bottom - L.top);
	}
	frame(e) {
		e.fillStyle = t("dim"), e.strokeStyle = t("hair"), e.lineWidth = 1, e.textAlign = "center";
		for (let t of S(this.rates)) this.stroke(e, [this.x(t), L.top], [this.x(t), this.bottom]), e.fillText(z(g(t, "rate")), Math.min(this.x(t), this.right - 24), this.bottom + 16);
		e.textAlign = "right";
		for (let t of S(this.buffers)) this.stroke(e, [L.left, this.y(t)], [this.right, this.y(t)]), e.fillText(z(g(t, "bytes")), L.left - 8, this.y(t));
		for (let [t, n] of se) this.diagonal(e, t, n);
	}
	stroke(e, t, n) {
		e.beginPath(), e.moveTo(...t), e.lineTo(...n), e.stroke();
	}
	diagonal(e, n, r) {
		let { rates: i, buffers: a } = this, o = (e) => e * n / 8, s = Math.max(i.low, a.low * 8 / n), c = Math.min(i.high, a.high * 8 / n);
		if (s >= c) return;
		e.save(), e.strokeStyle = t("dim"), e.setLineDash([4, 4]), this.stroke(e, [this.x(s), this.y(o(s))], [this.x(c), this.y(o(c))]), e.restore();
		let [l, u] = [this.x(c), this.y(o(c))], d = l > this.right - 50;
		e.textAlign = d ? "right" : "left", e.fillText(r, d ? l - 6 : l + 6, u + (d ? 16 : 9));
	}
};
function de(e, t) {
	let n = e.points.length > 0 ? e.points : e.cells, i = b(n.map((e) => e.rate_bits_per_second)), a = b(n.map((e) => e.buffer_bytes));
	if (!i || !a) return [r("h1", {}, "No site was tested.")];
	let { lines: o, bloated: s } = e, c = (e) => 8 * e.buffer_bytes / e.rate_bits_per_second, l = fe(e.points), u, d = new _(`Capacity against buffer of ${M(o, "line", "lines")}`, (t, n) => {
		u = new ue(i, a, n), t.clearRect(0, 0, n.width, n.height), u.frame(t), me(t, u, e.cells), pe(t, u, e.points, l);
	}), f = (t) => {
		let { found: n } = e.points.reduce((e, n) => {
			let r = u ? Math.hypot(u.x(n.rate_bits_per_second) - t.x, u.y(n.buffer_bytes) - t.y) : Infinity;
			return r < e.least ? {
				found: n,
				least: r
			} : e;
		}, {
			found: void 0,
			least: ce
		});
		return n;
	}, p;
	return d.follow((t) => {
		p = t && f(t), d.canvas.style.cursor = p ? "pointer" : "";
		let n = (e) => `${e.site}${e.group ? `, ${e.group}` : ""}: ${g(e.rate_bits_per_second, "rate")}, ${g(e.buffer_bytes, "bytes")}, ${g(c(e), "seconds")} when full`;
		d.note.textContent = p ? n(p) : B(e);
	}), d.canvas.addEventListener("click", () => {
		p && (location.hash = D({
			...t,
			view: "site",
			site: p.site
		}));
	}), d.note.textContent = B(e), [r("h1", {}, `${h(s)} of ${M(o, "buffer", "buffers")} ${s === 1 ? "is" : "are"} bloated.`), r("section", { class: "card" }, r("h2", {}, `Buffer by rate, ${t.direction}load; lines: delay when full`), d.element, he(l, t.by))];
}
function B(e) {
	return e.points.length > 0 ? "Point at a line for its values; click for its tests." : "Darker cells have more lines.";
}
function fe(e) {
	let t = /* @__PURE__ */ new Map();
	for (let { group: n } of e) t.set(n, (t.get(n) ?? 0) + 1);
	let n = [...t].sort((e, t) => t[1] - e[1] || e[0].localeCompare(t[0]));
	return new Map(n.slice(0, y).map(([e], t) => [e, t]));
}
function pe(e, t, n, r) {
	e.globalAlpha = n.length > 2e3 ? .35 : .7;
	for (let i of n) e.fillStyle = v(r.get(i.group) ?? y), e.beginPath(), e.arc(t.x(i.rate_bits_per_second), t.y(i.buffer_bytes), n.length > 2e3 ? 2 : le, 0, 7), e.fill();
	e.globalAlpha = 1;
}
function me(e, n, r) {
	let i = Math.log(1 + r.reduce((e, t) => Math.max(e, t.lines), 0));
	e.fillStyle = t("down");
	for (let { rate_bits_per_second: t, buffer_bytes: a, lines: o } of r) {
		let [r, s] = [n.x(t), n.y(a)];
		e.globalAlpha = .12 + .88 * Math.log(1 + o) / i, e.fillRect(r, n.y(a * R), Math.max(n.x(t * R) - r, 1), Math.max(s - n.y(a * R), 1));
	}
	e.globalAlpha = 1;
}
function he(e, t) {
	if (!t) return r("p", {
		class: "legend",
		hidden: ""
	});
	let n = ([e, t]) => {
		let n = r("span", { class: "key" });
		return n.style.background = v(t), r("span", {}, n, e || "without");
	};
	return r("p", { class: "legend" }, ...[...e].map(n), ...e.size === y ? [r("span", {}, "others gray")] : []);
}
// src/fleet/table.ts
function V(e, t, n, i = []) {
	let a = (e) => i.includes(e) ? { class: "text" } : {}, o = r("tr", {}, ...t.map((e, t) => r("th", {
		scope: "col",
		...a(t)
	}, e))), s = (e, t) => typeof e == "string" ? r("td", a(t), e) : r("td", e.state ? { "data-state": e.state } : a(t), e.text), c = n.map((e) => r("tr", {}, ...e.map(s)));
	return r("div", { class: "scroll" }, r("table", {}, r("caption", { class: "unseen" }, e), r("thead", {}, o), r("tbody", {}, ...c)));
}
// src/fleet/changes.ts
var H = {
	worse: 0,
	better: 1,
	same: 2,
	unknown: 3
}, ge = {
	worse: "worse",
	better: "better",
	same: "same",
	unknown: "few tests"
}, _e = {
	worse: "bad",
	better: "good",
	same: "",
	unknown: ""
}, ve = 500;
function ye({ changes: e, better: t, worse: n, known: i, found: a }, o) {
	let s = i === 0 ? "No site was tested." : `${h(t)} of ${M(i, "site", "sites")} ${t === 1 ? "is" : "are"} better, ${h(n)} worse.`, c = [...e].sort((e, t) => H[e.change] - H[t.change]), l = (e) => [
		{ text: r("a", { href: D({
			...o,
			view: "site",
			site: e.site
		}) }, e.site) },
		k(e.before_s),
		k(e.after_s),
		{
			text: ge[e.change],
			state: _e[e.change]
		},
		`${h(e.tests_before)} + ${h(e.tests_after)}`
	], u = [r("h1", {}, s)];
	if (e.length > 0) {
		let e = c.slice(0, ve).map(l), t = a - e.length, n = t > 0 ? [r("p", { class: "note" }, `${h(t)} more: filter by a label.`)] : [];
		u.push(r("section", { class: "card" }, V("Lag before and after", [
			"site",
			"before",
			"after",
			"change",
			"tests"
		], e), ...n));
	}
	return u;
}
// src/fleet/controls.ts
var U = [
	[1, "1 day"],
	[7, "7 days"],
	[28, "28 days"],
	[90, "90 days"],
	[365, "1 year"]
], be = class {
	go;
	element = r("div", {
		class: "tools",
		role: "search"
	});
	values = {};
	constructor(e) {
		this.go = e;
	}
	learn(e) {
		this.values = {
			...this.values,
			...e
		};
	}
	show(e) {
		let t = [this.period(e)];
		e.view !== "site" && ([
			"sites",
			"buffers",
			"trend"
		].includes(e.view) && t.push(this.group(e)), t.push(this.filter(e), ...e.only.map((t) => this.chip(t, e)))), e.view === "buffers" && t.push(this.direction(e)), e.view === "changes" && t.push(this.moment(e)), e.view === "sites" && t.push(this.search(e)), this.element.replaceChildren(...t);
	}
	period(e) {
		let t = W("Period", (U.some(([t]) => t === e.days) ? U : [...U, [e.days, `${e.days} days`]]).map(([e, t]) => [String(e), t]), String(e.days));
		return t.addEventListener("change", () => this.go({ days: Number(t.value) })), t;
	}
	group(e) {
		let t = W("Group by", [["", "not grouped"], ...[.../* @__PURE__ */ new Set([...Object.keys(this.values), ...e.by ? [e.by] : []])].sort().map((e) => [e, `by ${e}`])], e.by);
		return t.addEventListener("change", () => this.go({ by: t.value })), t;
	}
	filter(e) {
		let t = Object.entries(this.values).flatMap(([e, t]) => t.map((t) => [e, t])), n = W("Filter", [["", "all sites"], ...t.map(([e, t], n) => [String(n), `${e} ${t}`])], "");
		return n.addEventListener("change", () => {
			let r = t[Number(n.value)];
			n.value && r && this.go({ only: [...e.only.filter(([e]) => e !== r[0]), r] });
		}), n;
	}
	chip(e, t) {
		let [n, r] = e, a = t.only.filter((t) => t !== e);
		return i(`${n} ${r} ×`, `Remove the filter ${n} ${r}`, () => this.go({ only: a }));
	}
	direction(e) {
		let t = W("Direction", [["up", "upload"], ["down", "download"]], e.direction);
		return t.addEventListener("change", () => this.go({ direction: t.value === "down" ? "down" : "up" })), t;
	}
	moment(e) {
		let t = r("input", {
			type: "datetime-local",
			"aria-label": "When it changed"
		});
		return e.to !== void 0 && (t.value = xe(e.to)), t.addEventListener("change", () => {
			let e = new Date(t.value).getTime() / 1e3;
			this.go({ to: Number.isFinite(e) ? e : void 0 });
		}), r("label", {}, "changed ", t);
	}
	search(e) {
		let t = r("input", {
			type: "search",
			placeholder: "Search a site",
			"aria-label": "Search a site"
		});
		return t.value = e.search, t.addEventListener("change", () => this.go({ search: t.value.trim() })), t;
	}
};
function xe(e) {
	let t = /* @__PURE__ */ new Date(e * 1e3);
	return (/* @__PURE__ */ new Date(t.getTime() - t.getTimezoneOffset() * 6e4)).toISOString().slice(0, 16);
}
function W(e, t, n) {
	let i = r("select", { "aria-label": e }, ...t.map(([e, t]) => r("option", { value: e }, t)));
	return i.value = n, i;
}
// src/axis.ts
var Se = [
	.1,
	.2,
	.5,
	1,
	2,
	5,
	10,
	15,
	30
], Ce = [
	1,
	2,
	5,
	10,
	15,
	30
], we = [
	1,
	2,
	3,
	6,
	12
], Te = [
	1,
	2,
	7,
	14
], Ee = [
	1,
	2,
	3,
	6,
	12,
	24,
	60,
	120
], G = (e) => String(e).padStart(2, "0"), K = [
	"Jan",
	"Feb",
	"Mar",
	"Apr",
	"May",
	"Jun",
	"Jul",
	"Aug",
	"Sep",
	"Oct",
	"Nov",
	"Dec"
], De = [
	"Sun",
	"Mon",
	"Tue",
	"Wed",
	"Thu",
	"Fri",
	"Sat"
];
function q(e, t) {
	let n = /* @__PURE__ */ new Date(e * 1e3), r = `${G(n.getHours())}:${G(n.getMinutes())}`;
	return t ? `${r}:${G(n.getSeconds())}` : r;
}
function J(e) {
	let t = /* @__PURE__ */ new Date(e * 1e3);
	return `${De[t.getDay()]} ${t.getDate()} ${K[t.getMonth()]}`;
}
function Oe(e, t) {
	let n = /* @__PURE__ */ new Date(e * 1e3), r = `${J(e)} ${n.getFullYear()}`;
	if (t >= 86400) return r;
	let i = t < 1 ? `.${String(n.getMilliseconds()).padStart(3, "0")}` : "";
	return `${r}, ${q(e, t < 60)}${i}`;
}
function ke(e, t, n) {
	let r = (t - e) / Math.max(n, 1), i = Se.find((e) => e >= r);
	if (i) return Ae(e, t, i);
	let a = Ce.find((e) => e * 60 >= r);
	if (a) return Ae(e, t, a * 60);
	let o = we.find((e) => e * 3600 >= r);
	if (o) return je(e, t, o);
	let s = Te.find((e) => e * 86400 >= r);
	return s ? Me(e, t, s) : Ne(e, t, Ee.find((e) => e * 2629800 >= r) ?? 120);
}
function Ae(e, t, n) {
	let r = [];
	for (let i = Math.ceil(e / n); i * n <= t; i++) {
		let e = Math.round(i * n * 1e3) / 1e3, t = /* @__PURE__ */ new Date(e * 1e3), a = t.getHours() === 0 && t.getMinutes() === 0 && t.getSeconds() === 0 && t.getMilliseconds() === 0, o = n < 1 ? `.${Math.floor(t.getMilliseconds() / 100)}` : "";
		r.push({
			at: e,
			label: a ? J(e) : q(e, n < 60) + o,
			major: a
		});
	}
	return r;
}
function je(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	i.setMinutes(0, 0, 0);
	for (let a = i.getTime() / 1e3; a <= t; a += 3600) {
		let t = (/* @__PURE__ */ new Date(a * 1e3)).getHours();
		a < e || t % n !== 0 || r.push({
			at: a,
			label: t === 0 ? J(a) : q(a, !1),
			major: t === 0
		});
	}
	return r;
}
function Me(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	for (i.setHours(0, 0, 0, 0); i.getTime() / 1e3 <= t; i.setDate(i.getDate() + 1)) {
		let t = i.getTime() / 1e3, [a, o] = [i.getDate(), i.getDay()], s = n === 1 || (n === 2 ? a % 2 == 1 && a < 31 : o === 1 && (n === 7 || Math.floor((a - 1) / 7) % 2 == 0));
		t < e || !s || r.push({
			at: t,
			label: `${a} ${K[i.getMonth()]}`,
			major: n < 7 ? o === 1 : a <= 7
		});
	}
	return r;
}
function Ne(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	for (let a = i.getFullYear() * 12 + i.getMonth();; a++) {
		let [i, o] = [Math.floor(a / 12), a % 12], s = new Date(i, o, 1).getTime() / 1e3;
		if (s > t) return r;
		s < e || a % n !== 0 || r.push({
			at: s,
			label: o === 0 ? String(i) : K[o],
			major: o === 0
		});
	}
}
// src/fleet/trend.ts
var Y = {
	left: 64,
	right: 14,
	top: 12,
	bottom: 28
};
function Pe(e, n) {
	let { all: i, by: a } = e, [o, s] = [i?.points[0], i?.points[i.points.length - 1]];
	if (!i || !o || !s) return [r("h1", {}, "No site was tested.")];
	let c = [{
		name: "all sites",
		colour: () => t("ink"),
		points: i.points
	}];
	(a?.trends.slice(0, y) ?? []).forEach((e, t) => c.push({
		name: e.value || "without",
		colour: () => v(t),
		points: e.points
	}));
	let l = `Median lag: ${k(o.lag_p50_s)}, then ${k(s.lag_p50_s)}.`, u = Fe(c, "steps"), d = (e) => {
		let t = r("span", { class: "key" });
		t.style.background = e.colour();
		let n = e.points[e.points.length - 1];
		return r("span", {}, t, `${e.name}: ${k(n.lag_p50_s)}, ${M(n.sites, "site", "sites")}`);
	}, f = n.by ? `Median lag by ${n.by}` : "Median lag";
	return [r("h1", {}, l), r("section", { class: "card" }, r("h2", {}, f), u.element, r("p", { class: "legend" }, ...c.map(d)))];
}
function Fe(e, n) {
	let r = e.flatMap((e) => e.points), i = r.map((e) => e.at_s), a = Ie(e[0].points), [o, s] = [Math.min(...i) - a, Math.max(...i)], c = Math.max(...r.map((e) => e.lag_p50_s), P * 1.1) * 1.05, l = (e) => ({
		x: (t) => Y.left + (t - o) / (s - o) * (e.width - Y.left - Y.right),
		y: (t) => e.height - Y.bottom - t / c * (e.height - Y.top - Y.bottom)
	}), u = new _("Median lag over time", (r, i) => {
		let { x: u, y: d } = l(i);
		r.clearRect(0, 0, i.width, i.height), r.lineWidth = 1, r.strokeStyle = t("hair"), r.fillStyle = t("dim"), r.textAlign = "right";
		for (let e of ee(0, c, 5)) Le(r, [Y.left, d(e)], [i.width - Y.right, d(e)]), r.fillText(g(e, "seconds").replace(/\.0+ /, " "), Y.left - 8, d(e));
		r.textAlign = "center";
		for (let e of ke(o, s, Math.floor(i.width / 70))) r.fillText(e.label, u(e.at), i.height - 12);
		r.save(), r.strokeStyle = t("bad"), r.setLineDash([5, 4]), Le(r, [Y.left, d(P)], [i.width - Y.right, d(P)]), r.restore(), r.fillStyle = t("bad"), r.textAlign = "left", r.fillText("bloated", Y.left + 6, d(P) - 9);
		for (let t of [...e].reverse()) {
			r.strokeStyle = r.fillStyle = t.colour(), r.lineWidth = t === e[0] ? 2.5 : 1.5, r.beginPath(), t.points.forEach((e, i) => {
				let o = n === "steps" && i > 0 && e.at_s - t.points[i - 1].at_s > 1.5 * a;
				i === 0 || o ? r.moveTo(u(e.at_s), d(e.lag_p50_s)) : r.lineTo(u(e.at_s), d(e.lag_p50_s));
			}), r.stroke();
			for (let e of t.points) r.beginPath(), r.arc(u(e.at_s), d(e.lag_p50_s), 2.5, 0, 7), r.fill();
		}
	});
	return u.follow((t) => {
		if (!t) {
			u.note.textContent = "";
			return;
		}
		let { x: r } = l(u), i = (e) => Math.abs(r(e.at_s) - t.x), o = (e) => e.reduce((e, t) => i(t) < i(e) ? t : e), s = (e) => n === "tests" || i(e) <= r(a / 2) - r(0), c = (e) => [o(e)].find(s), d = e.map((e) => ({
			one: e,
			point: c(e.points)
		})).filter(({ point: e }) => e !== void 0), f = d[0]?.point ? `${n === "steps" ? "Until " : ""}${(/* @__PURE__ */ new Date(d[0].point.at_s * 1e3)).toLocaleString()}: ` : "";
		u.note.textContent = f + d.map(({ one: e, point: t }) => `${e.name} ${k(t?.lag_p50_s ?? null)}${n === "steps" ? ` (p90 ${k(t?.lag_p90_s ?? null)})` : ""}`).join(", ");
	}), u;
}
function Ie(e) {
	let t = e.slice(1).map((t, n) => t.at_s - e[n].at_s);
	return t.length > 0 ? Math.min(...t) : 86400;
}
function Le(e, t, n) {
	e.beginPath(), e.moveTo(...t), e.lineTo(...n), e.stroke();
}
// src/fleet/site.ts
var Re = 200;
function ze(e) {
	return [
		(/* @__PURE__ */ new Date(e.at_s * 1e3)).toLocaleString(),
		{
			text: k(e.lag_up_s),
			state: F(e.lag_up_s)
		},
		{
			text: k(e.lag_down_s),
			state: F(e.lag_down_s)
		},
		k(e.idle_p50_s),
		A(e.goodput_up_bits_per_second),
		A(e.goodput_down_bits_per_second),
		j(e.buffer_up_bytes),
		j(e.buffer_down_bytes)
	];
}
function Be(e) {
	return e.flatMap((e) => {
		let t = N(e);
		return t === null ? [] : [{
			at_s: e.at_s,
			sites: 1,
			lag_p50_s: t,
			lag_p90_s: t
		}];
	});
}
function Ve(e, n) {
	let { site: i, tests: a, results: o } = e, c = N(i), l = c === null ? "No site was tested." : `${i.site} is ${c >= .2 ? "" : "not "}bloated.`, u = Object.entries(i.labels).map(([e, t]) => `${e} ${t}`), d = [r("h1", {}, l), r("p", { class: "note" }, [...u, ...c === null ? [] : [`median lag ${k(c)}`]].join(", "))], f = Be(a);
	if (f.length > 1) {
		let e = Fe([{
			name: "lag",
			colour: () => t("ink"),
			points: f
		}], "tests");
		d.push(r("section", { class: "card" }, r("h2", {}, "Lag of each test"), e.element));
	}
	if (a.length > 0) {
		let e = [
			"test",
			"lag up",
			"lag down",
			"idle",
			"up",
			"down",
			"buffer up",
			"buffer down"
		], t = [...a].reverse().slice(0, Re).map(ze);
		d.push(r("section", { class: "card" }, r("h2", {}, "Tests"), V(`Tests of ${i.site}`, e, t)));
	}
	if (o.length > 0) {
		let e = s(n), t = ({ name: t, verdict: n }) => r("li", {}, r("a", { href: `/results/${encodeURIComponent(i.site)}/${encodeURIComponent(t)}?${e}` }, t), ` ${n}`);
		d.push(r("section", { class: "card" }, r("h2", {}, "Results"), r("ul", {}, ...[...o].reverse().map(t))));
	}
	return d;
}
// src/fleet/sites.ts
function He(e, t) {
	return r("a", { href: D({
		...t,
		view: "site",
		site: e
	}) }, e);
}
function Ue(e, t) {
	return [
		{ text: He(e.site, t) },
		I(e),
		{
			text: k(e.lag_up_s),
			state: F(e.lag_up_s)
		},
		{
			text: k(e.lag_down_s),
			state: F(e.lag_down_s)
		},
		k(e.idle_p50_s),
		A(e.goodput_up_bits_per_second),
		A(e.goodput_down_bits_per_second),
		h(e.tests)
	];
}
function We(e, t, n) {
	let i = [...n.only.filter(([e]) => e !== t), [t, e.value]];
	return [
		{ text: r("a", { href: D({
			...n,
			only: i
		}) }, e.value || "without") },
		h(e.sites),
		{
			text: k(e.lag_p50_s),
			state: F(e.lag_p50_s)
		},
		{
			text: k(e.lag_p90_s),
			state: F(e.lag_p90_s)
		},
		oe(e.bloated_ratio)
	];
}
function Ge(e, t) {
	let { sites: n, by: i, outliers: a, tested: o, bloated: s, found: c } = e, l = [r("h1", {}, o === 0 ? "No site was tested." : `${h(s)} of ${M(o, "site", "sites")} ${s === 1 ? "is" : "are"} bloated.`)];
	if (i) {
		let e = i.groups.map((e) => We(e, i.label, t)), n = [
			i.label,
			"sites",
			"median lag",
			"p90 lag",
			"bloated"
		];
		l.push(r("section", { class: "card" }, r("h2", {}, `By ${i.label}`), V(`Sites by ${i.label}`, n, e)));
	}
	if (a.length > 0) {
		let e = new Map(n.map((e) => [e.site, e])), i = r("ul", {}, ...a.slice(0, 20).map((n) => {
			let i = e.get(n);
			return r("li", {}, He(n, t), i ? ` ${k(N(i))}, ${I(i)}` : "");
		}));
		l.push(r("section", { class: "card" }, r("h2", {}, "Unlike the others of their group"), i));
	}
	if (n.length > 0) {
		let e = [
			"site",
			"labels",
			"lag up",
			"lag down",
			"idle",
			"up",
			"down",
			"tests"
		], i = n.map((e) => Ue(e, t)), a = c - n.length, o = a > 0 ? [r("p", { class: "note" }, `${h(a)} more: search, or filter by a label.`)] : [];
		l.push(r("section", { class: "card" }, r("h2", {}, "Sites by lag"), V("Sites by lag", e, i, [1]), ...o));
	}
	return l;
}
// src/fleet/together.ts
var X = 12;
function Ke({ together: e, slow: t, known: n }, i) {
	let a = [r("h1", {}, n === 0 ? "No site was tested." : `${h(t)} of ${M(n, "site", "sites")} slowed down together.`)], o = (e) => r("span", { class: "names" }, ...e.slice(0, X).flatMap((e) => [r("a", { href: D({
		...i,
		view: "site",
		site: e
	}) }, e), ", "]).slice(0, -1), e.length > X ? ` and ${h(e.length - X)} more` : ""), s = (e) => [
		`${Oe(e.from_s, 600)} to ${Oe(e.to_s, 600).split(", ")[1]}`,
		`${e.kind} ${e.value}`,
		`${h(e.sites.length)} of ${M(e.sites.length + e.unaffected, "site", "sites")}`,
		{ text: o(e.sites) }
	];
	return e.length > 0 && a.push(r("section", { class: "card" }, V("Sites that slowed down together", [
		"when",
		"they share",
		"slow",
		"sites"
	], [...e].reverse().map(s), [1, 3]))), a.push(r("p", { class: "note" }, "A site is slow while its latency is 20 ms or more above its lowest of a day. A router, a host or a label is named if it explains most of the slow sites.")), a;
}
// src/fleet/main.ts
var qe = document.getElementById("fleet"), Je = document.getElementById("views"), Z = new be((e) => void (location.hash = D({
	...E(location.hash),
	...e
}))), Q = r("div", { id: "stage" }), Ye = {
	sites: "Sites",
	buffers: "Buffers",
	trend: "Trend",
	changes: "Changes",
	together: "Together"
}, Xe = new AbortController();
function Ze(e) {
	Je.replaceChildren(...C.map((t) => {
		let n = e.view === t || e.view === "site" && t === "sites", i = t === "changes" ? e.to : void 0;
		return r("a", {
			href: D({
				...e,
				view: t,
				site: "",
				to: i
			}),
			...n ? { "aria-current": "page" } : {}
		}, Ye[t]);
	}));
}
async function Qe(e, t) {
	let n = Date.now() / 1e3, i = O(e, n), [a, o] = [e.by, c(e.only)];
	switch (e.view) {
		case "buffers": return de(await l("buffers", {
			...i,
			by: a,
			only: o,
			direction: e.direction
		}, t), e);
		case "trend": return Pe(await l("trend", {
			...i,
			by: a,
			only: o
		}, t), e);
		case "together": return Ke(await l("together", {
			...i,
			only: o
		}, t), e);
		case "site": return Ve(await l("site", {
			...i,
			name: e.site
		}, t), i);
		case "changes": {
			if (e.to === void 0) return [r("h1", {}, "Choose when something changed."), r("p", { class: "note" }, "For example a fix, or another plan.")];
			let i = Math.max(1, Math.round(e.days));
			return ye(await l("changes", {
				at: e.to,
				now: O({
					...e,
					to: void 0
				}, n).to,
				days: i,
				only: o
			}, t), e);
		}
		case "sites": {
			let n = await l("sites", {
				...i,
				by: a,
				only: o,
				search: e.search
			}, t);
			return Z.learn(n.values), Z.show(e), Ge(n, e);
		}
	}
}
async function $() {
	Xe.abort();
	let e = Xe = new AbortController(), t = E(location.hash);
	document.title = t.view === "site" ? `${t.site} - Fathom fleet` : `${Ye[t.view]} - Fathom fleet`, Ze(t), Z.show(t), Q.setAttribute("aria-busy", "true");
	try {
		let n = await Qe(t, e.signal);
		e.signal.aborted || Q.replaceChildren(...n);
	} catch (t) {
		if (e.signal.aborted) return;
		let n = t instanceof o ? t.message : String(t);
		Q.replaceChildren(r("h1", {}, "No answer"), r("p", {
			class: "trouble",
			role: "alert"
		}, n));
	} finally {
		e.signal.aborted || Q.removeAttribute("aria-busy");
	}
}
async function $e() {
	let e = E(location.hash);
	if (e.view === "sites") return;
	let t = await l("sites", {
		...O({
			...e,
			to: void 0
		}, Date.now() / 1e3),
		limit: 1
	}, new AbortController().signal).catch(() => void 0);
	t && Z.learn(t.values), Z.show(E(location.hash));
}
qe.replaceChildren(Z.element, Q), a(), $(), $e(), addEventListener("hashchange", () => void $()), n(() => void $());
