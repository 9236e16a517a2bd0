// src/dom.ts
function e(e, t = {}, ...n) {
	let r = document.createElement(e);
	for (let [e, n] of Object.entries(t)) r.setAttribute(e, n);
	return r.append(...n), r;
}
function t(t, n, r) {
	let i = e("button", {
		type: "button",
		"aria-label": n,
		title: n
	}, t);
	return i.addEventListener("click", r), i;
}
// src/theme.ts
function n() {
	let e = document.documentElement, t = document.getElementById("theme"), n = matchMedia("(prefers-color-scheme: dark)"), r = localStorage.getItem("theme");
	(r === "dark" || r === "light") && (e.dataset.theme = r);
	let i = () => e.dataset.theme ? e.dataset.theme === "dark" : n.matches, a = () => void (t.textContent = i() ? "Light" : "Dark");
	t.hidden = !1, t.addEventListener("click", () => {
		e.dataset.theme = i() ? "light" : "dark", localStorage.setItem("theme", e.dataset.theme), a();
	}), n.addEventListener("change", a), a();
}
function r(e, t) {
	return {
		left: Math.min(e.x, t.x),
		right: Math.max(e.x, t.x),
		from: Math.min(e.y, t.y),
		to: Math.max(e.y, t.y)
	};
}
function i(e, t) {
	let n = /* @__PURE__ */ new Map(), i, a = !1, o = (t) => {
		let n = e.getBoundingClientRect();
		return {
			x: t.clientX - n.left,
			y: t.clientY - n.top
		};
	};
	e.addEventListener("wheel", (e) => {
		e.preventDefault();
		let n = e.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 33, r = e.shiftKey && e.deltaY || e.deltaX;
		Math.abs(r) > Math.abs(e.deltaY) || e.shiftKey ? t.pan(r * n) : t.zoom(o(e).x, 1.0022 ** (e.deltaY * n));
	}, { passive: !1 }), e.addEventListener("pointerdown", (e) => {
		if (e.button !== 0 || e.target.closest("button")) return;
		let t = o(e);
		n.set(e.pointerId, t), n.size === 1 ? (i = {
			...t,
			selects: e.shiftKey
		}, a = !1) : a = !0;
	}), e.addEventListener("pointermove", (s) => {
		let c = o(s), l = n.get(s.pointerId);
		if (!l || !i) return t.point(c.x, c.y);
		if (n.size === 1 && Math.abs(c.x - i.x) < 4 && !a) return;
		a || e.setPointerCapture(s.pointerId), a = !0;
		let u = [...n].filter(([e]) => e !== s.pointerId).map(([, e]) => e);
		if (n.set(s.pointerId, c), u.length > 0) {
			let e = u[0], [n, r] = [Math.abs(l.x - e.x), Math.abs(c.x - e.x)], i = (c.x + e.x) / 2;
			n > 8 && r > 8 && t.zoom(i, n / r), t.pan((l.x - c.x) / 2);
		} else i.selects ? t.selecting(r(i, c)) : t.pan(l.x - c.x);
	});
	let s = (e) => {
		if (!n.delete(e.pointerId) || n.size > 0 || !i) return;
		let s = o(e), c = i;
		i = void 0, e.type === "pointercancel" ? t.selecting(void 0) : a ? c.selects && t.select(r(c, s)) : t.press(s.x, s.y);
	};
	e.addEventListener("pointerup", s), e.addEventListener("pointercancel", s), e.addEventListener("pointerleave", () => n.size === 0 && t.leave()), e.addEventListener("dblclick", (e) => {
		e.target.closest("button") || t.all();
	});
}
// src/watch/wire.ts
var a = [
	.01,
	.05,
	.1,
	.25,
	.5,
	.75,
	.9,
	.95,
	.99
], o = a.indexOf(.5), s = 827151174, c = 827739974, l = 40, u = [
	"seconds",
	"rate",
	"bytes"
], d = -32768, f = -32767, p = 256;
function m(e) {
	return e === d ? NaN : e === f ? 0 : 2 ** (e / p);
}
function h(e, t, n) {
	return Float32Array.from(new Int16Array(e, t, n), m);
}
function ee(e) {
	if (e.byteLength < l) throw RangeError("the server's response is truncated");
	let t = new DataView(e), [n, r, i, o] = [
		0,
		4,
		8,
		12
	].map((e) => t.getUint32(e, !0)), c = l + r * (20 + 2 * (i + 2));
	if (n !== s || i !== a.length || e.byteLength !== c) throw RangeError("the server has another version than this page: reload the page");
	let d = (t) => new Uint32Array(e, l + 4 * t * r, r), f = (t) => h(e, l + 20 * r + 2 * t * r, r);
	return {
		unit: u[o] ?? "plain",
		from: t.getFloat64(16, !0),
		to: t.getFloat64(24, !0),
		held: t.getFloat64(32, !0),
		count: r,
		sent: d(0),
		answered: d(1),
		late: d(2),
		lost: d(3),
		failed: d(4),
		min: f(0),
		quantiles: a.map((e, t) => f(t + 1)),
		max: f(a.length + 1)
	};
}
function te(e) {
	return e === "" ? /* @__PURE__ */ new Map() : ne(Uint8Array.from(atob(e), (e) => e.charCodeAt(0)).buffer);
}
function ne(e) {
	let t = new DataView(e);
	if (e.byteLength < 32 || t.getUint32(0, !0) !== c) throw RangeError("the server has another version than this page: reload the page");
	let [n, r] = [t.getUint32(4, !0), t.getUint32(8, !0)], i = /* @__PURE__ */ new Map(), a = new Uint32Array(e, 32, n);
	for (let t = 0, o = 32 + 4 * n; t < n; t++, o += 6 * r) {
		let n = Float32Array.from(new Int16Array(e, o + 4 * r, r), (e) => e < 0 ? NaN : e / 1e4);
		i.set(a[t], {
			median: h(e, o, r),
			max: h(e, o + 2 * r, r),
			lost: n
		});
	}
	return i;
}
// src/watch/api.ts
var re = class extends Error {};
async function ie(e, t) {
	let n;
	try {
		n = await fetch(e, t ? { signal: t } : {});
	} catch (e) {
		throw t?.aborted ? e : new re("The server cannot be reached.");
	}
	if (n.status === 401 && location.assign("/login"), !n.ok) throw new re((await n.json().catch(() => ({}))).error ?? `The server responded with status ${n.status}.`);
	return n;
}
async function g(e, t) {
	return await (await ie(e, t)).json();
}
function _(e) {
	return String(Math.max(0, Math.round(e * 1e6) / 1e6));
}
function v(e, t) {
	return `from=${_(e)}&to=${_(t)}`;
}
var y = {
	targets: () => g("/api/v1/targets"),
	series: () => g("/api/v1/series").then((e) => e.series),
	events: (e, t) => g(`/api/v1/events?${v(e, t)}`).then((e) => e.events),
	findings: (e, t, n, r) => g(`/api/v1/findings?${v(e, t)}&utc_offset_s=${n}&utc_offset_from=${r}`).then((e) => e.findings),
	heatmap: (e, t, n, r) => g(`/api/v1/heatmap?series=${e}&${v(t, n)}&utc_offset_s=${r}`).then((e) => e.cells),
	compare: (e, t, n) => g(`/api/v1/compare?series=${e}&${v(...t)}&from2=${_(n[0])}&to2=${_(n[1])}`),
	overview: async (e, t, n) => ne(await (await ie(`/api/v1/overview?${v(e, t)}&cols=${n}&format=binary`)).arrayBuffer()),
	smoke: async (e, t, n, r, i) => ee(await (await ie(`${ae(e, t, n, r)}&format=binary`, i)).arrayBuffer())
};
function ae(e, t, n, r) {
	return `/api/v1/smoke?series=${e}&${v(t, n)}&cols=${r}`;
}
// src/axis.ts
var oe = [
	.1,
	.2,
	.5,
	1,
	2,
	5,
	10,
	15,
	30
], se = [
	1,
	2,
	5,
	10,
	15,
	30
], ce = [
	1,
	2,
	3,
	6,
	12
], le = [
	1,
	2,
	7,
	14
], ue = [
	1,
	2,
	3,
	6,
	12,
	24,
	60,
	120
], de = (e) => String(e).padStart(2, "0"), fe = [
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
], pe = [
	"Sun",
	"Mon",
	"Tue",
	"Wed",
	"Thu",
	"Fri",
	"Sat"
];
function b(e, t) {
	let n = /* @__PURE__ */ new Date(e * 1e3), r = `${de(n.getHours())}:${de(n.getMinutes())}`;
	return t ? `${r}:${de(n.getSeconds())}` : r;
}
function x(e) {
	let t = /* @__PURE__ */ new Date(e * 1e3);
	return `${pe[t.getDay()]} ${t.getDate()} ${fe[t.getMonth()]}`;
}
function S(e, t) {
	let n = /* @__PURE__ */ new Date(e * 1e3), r = `${x(e)} ${n.getFullYear()}`;
	if (t >= 86400) return r;
	let i = t < 1 ? `.${String(n.getMilliseconds()).padStart(3, "0")}` : "";
	return `${r}, ${b(e, t < 60)}${i}`;
}
function C(e) {
	let [t, n] = [
		[31557600, "year"],
		[86400, "day"],
		[3600, "hour"],
		[60, "minute"],
		[1, "second"]
	].find(([t]) => e >= t * .9995) ?? [1, "second"], r = e / t, i = r >= 9.95 || Math.abs(r - Math.round(r)) < .02 ? r.toFixed(0) : r.toFixed(1);
	return `${i} ${n}${i === "1" ? "" : "s"}`;
}
function me(e, t, n) {
	let r = (t - e) / Math.max(n, 1), i = oe.find((e) => e >= r);
	if (i) return he(e, t, i);
	let a = se.find((e) => e * 60 >= r);
	if (a) return he(e, t, a * 60);
	let o = ce.find((e) => e * 3600 >= r);
	if (o) return ge(e, t, o);
	let s = le.find((e) => e * 86400 >= r);
	return s ? _e(e, t, s) : ve(e, t, ue.find((e) => e * 2629800 >= r) ?? 120);
}
function he(e, t, n) {
	let r = [];
	for (let i = Math.ceil(e / n); i * n <= t; i++) {
		let e = Math.round(i * n * 1e3) / 1e3, t = /* @__PURE__ */ new Date(e * 1e3), a = t.getHours() === 0 && t.getMinutes() === 0 && t.getSeconds() === 0 && t.getMilliseconds() === 0, o = n < 1 ? `.${Math.floor(t.getMilliseconds() / 100)}` : "";
		r.push({
			at: e,
			label: a ? x(e) : b(e, n < 60) + o,
			major: a
		});
	}
	return r;
}
function ge(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	i.setMinutes(0, 0, 0);
	for (let a = i.getTime() / 1e3; a <= t; a += 3600) {
		let t = (/* @__PURE__ */ new Date(a * 1e3)).getHours();
		a < e || t % n !== 0 || r.push({
			at: a,
			label: t === 0 ? x(a) : b(a, !1),
			major: t === 0
		});
	}
	return r;
}
function _e(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	for (i.setHours(0, 0, 0, 0); i.getTime() / 1e3 <= t; i.setDate(i.getDate() + 1)) {
		let t = i.getTime() / 1e3, [a, o] = [i.getDate(), i.getDay()], s = n === 1 || (n === 2 ? a % 2 == 1 && a < 31 : o === 1 && (n === 7 || Math.floor((a - 1) / 7) % 2 == 0));
		t < e || !s || r.push({
			at: t,
			label: `${a} ${fe[i.getMonth()]}`,
			major: n < 7 ? o === 1 : a <= 7
		});
	}
	return r;
}
function ve(e, t, n) {
	let r = [], i = /* @__PURE__ */ new Date(e * 1e3);
	for (let a = i.getFullYear() * 12 + i.getMonth();; a++) {
		let [i, o] = [Math.floor(a / 12), a % 12], s = new Date(i, o, 1).getTime() / 1e3;
		if (s > t) return r;
		s < e || a % n !== 0 || r.push({
			at: s,
			label: o === 0 ? String(i) : fe[o],
			major: o === 0
		});
	}
}
// src/watch/badges.ts
function ye(t) {
	return t.map((t) => e("em", {
		class: "badge",
		title: `Alert: ${t}`
	}, t));
}
// src/colours.ts
var be = /* @__PURE__ */ new Map(), w = (e) => {
	let t = be.get(e);
	return t === void 0 && (t = getComputedStyle(document.documentElement).getPropertyValue(`--${e}`).trim() || "#888888", be.set(e, t)), t;
};
function xe(e) {
	let t = () => {
		be = /* @__PURE__ */ new Map(), e();
	};
	new MutationObserver(t).observe(document.documentElement, { attributeFilter: ["data-theme"] }), matchMedia("(prefers-color-scheme: dark)").addEventListener("change", t);
}
// src/format.ts
var Se = [
	[1e9, "Gbit/s"],
	[1e6, "Mbit/s"],
	[1e3, "kbit/s"],
	[1, "bit/s"]
], Ce = [
	[1e9, "GB"],
	[1e6, "MB"],
	[1e3, "kB"],
	[1, "B"]
], we = [
	[1, "s"],
	[.001, "ms"],
	[1e-6, "µs"],
	[1e-9, "ns"]
], Te = [[1, ""]];
function Ee(e, t) {
	let n = {
		seconds: we,
		bytes: Ce,
		rate: Se,
		plain: Te
	}[e], r = n.find(([e]) => Math.abs(t) >= e * .9995) ?? n[n.length - 1];
	return {
		factor: r[0],
		name: r[1]
	};
}
function T(e) {
	let t = Math.abs(e).toFixed(0), n = t.replace(/\B(?=(\d{3})+$)/g, ",");
	return e < 0 && t !== "0" ? `-${n}` : n;
}
function E(e, t) {
	if (!Number.isFinite(e)) return "–";
	let { factor: n, name: r } = e === 0 ? Ee(t, t === "seconds" ? .001 : 1) : Ee(t, t === "seconds" && Math.abs(e) < 9.995 && Math.abs(e) >= 9995e-7 ? .001 : e), i = e / n, a = Math.abs(i), o = a >= 99.95 || i === 0 || n === 1 && t !== "seconds" && Number.isInteger(i) ? T(i) : a >= 9.995 ? i.toFixed(1) : i.toFixed(2);
	return r === "" ? o : `${o} ${r}`;
}
function De(e, t, n) {
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
function Oe(e, t) {
	let n = e.length > 1 ? (e[1] - e[0]) / t : (e[0] ?? 1) / t, r = Math.min(Math.max(Math.ceil(-Math.log10(Math.abs(n) || 1) - 1e-9), 0), 9);
	return e.map((e) => {
		let n = e / t;
		return r === 0 ? T(n) : n.toFixed(r);
	});
}
// src/surface.ts
var D = "system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif";
// src/watch/label.ts
function O(e, t, n, r) {
	let i = e.measureText(t).width, a = e.textAlign === "right" ? i : e.textAlign === "center" ? i / 2 : 0, o = e.canvas.width / e.getTransform().a - i + a;
	e.fillText(t, Math.max(Math.min(n, o), a), r);
}
// src/watch/loss.ts
var k = [
	{
		upTo: .005,
		name: "less than 0.5 % lost",
		colour: "loss0",
		thickness: 1.6
	},
	{
		upTo: .02,
		name: "2 %",
		colour: "loss1",
		thickness: 3
	},
	{
		upTo: .1,
		name: "10 %",
		colour: "loss2",
		thickness: 4.5
	},
	{
		upTo: .999999,
		name: "more",
		colour: "loss3",
		thickness: 6
	}
];
function ke(e) {
	let t = k.findIndex((t) => e <= t.upTo);
	return t < 0 ? k.length - 1 : t;
}
function A(e) {
	if (!Number.isFinite(e)) return "–";
	if (e === 0) return "0 %";
	let t = e * 100;
	return `${t >= 10 ? t.toFixed(0) : t >= .1 ? t.toFixed(1) : t.toFixed(2)} %`;
}
// src/watch/compare.ts
var Ae = [
	["the period before", void 0],
	["a day earlier", 86400],
	["a week earlier", 604800],
	["4 weeks earlier", 2419200]
], je = 240, Me = [
	[.5, "Median"],
	[.9, "p90"],
	[.95, "p95"],
	[.99, "p99"],
	[.999, "p99.9"]
], Ne = class {
	element = e("section", {
		class: "card compare",
		hidden: ""
	});
	choice = e("select", { "aria-label": "Period to compare with" });
	canvas = e("canvas", { role: "img" });
	table = e("div", { class: "scroll" });
	words = e("p", {
		class: "told",
		role: "status"
	});
	pin = t("Pin this period", "Pin the period shown above to compare other periods with it", () => this.keep());
	series;
	view;
	kept;
	sides;
	asked = "";
	isOpen = !1;
	constructor() {
		this.choice.append(...Ae.map(([t], n) => e("option", { value: String(n) }, t))), this.choice.addEventListener("change", () => this.refresh());
		let t = e("details", {}, e("summary", {}, e("h2", {}, "Compare two periods"))), n = e("div", { class: "tools" }, e("label", {}, "Compare the period above with ", this.choice), this.pin);
		t.append(n, this.words, this.canvas, this.table), t.addEventListener("toggle", () => {
			this.isOpen = t.open, this.refresh();
		}), this.element.append(t), new ResizeObserver(() => this.draw()).observe(this.element);
	}
	of(e, t) {
		this.series = e, this.element.hidden = e === void 0, this.canvas.setAttribute("aria-label", `${t}: distribution of the delays in both periods; see the table for values`);
	}
	around(e) {
		this.view = e, this.refresh();
	}
	keep() {
		this.kept = this.view, this.choice.querySelector("option[value=\"kept\"]")?.remove();
		let { from: t, to: n } = this.kept;
		this.choice.append(e("option", { value: "kept" }, `the pinned period (${S(t, 60)}, ${C(n - t)})`)), this.choice.value = "kept", this.refresh();
	}
	other(e) {
		if (this.choice.value === "kept" && this.kept) return this.kept;
		let t = Ae[Number(this.choice.value)]?.[1] ?? e.to - e.from;
		return {
			from: e.from - t,
			to: e.to - t
		};
	}
	refresh() {
		let { series: e, view: t } = this;
		if (!this.isOpen || e === void 0 || !t) return;
		let n = this.other(t), r = [e, ...[
			t.from,
			t.to,
			n.from,
			n.to
		].map((e) => Math.round(e / 10))].join(" ");
		r !== this.asked && (this.asked = r, this.load(e, t, n));
	}
	async load(e, t, n) {
		try {
			let { first: r, second: i } = await y.compare(e, [t.from, t.to], [Math.max(0, n.from), Math.max(1, n.to)]);
			this.sides = [r, i];
		} catch (e) {
			this.asked = "", this.words.textContent = e instanceof Error ? e.message : String(e);
			return;
		}
		this.tell(), this.draw();
	}
	tell() {
		let [t, n] = this.sides, r = (e, t) => e.quantiles_s.find(([e]) => e === t)?.[1] ?? NaN, i = [
			"",
			"Period above",
			"Other period",
			"Difference"
		], a = (e, t) => !Number.isFinite(e) || !Number.isFinite(t) ? "–" : `${e >= t ? "+" : "−"}${E(Math.abs(e - t), "seconds")}`, o = [
			[
				"From",
				S(t.from_s, 1),
				S(n.from_s, 1),
				C(Math.abs(t.from_s - n.from_s))
			],
			[
				"Probes",
				T(t.tally.sent),
				T(n.tally.sent),
				""
			],
			[
				"Lost",
				A(t.loss_ratio ?? NaN),
				A(n.loss_ratio ?? NaN),
				""
			],
			[
				"Late",
				T(t.tally.late),
				T(n.tally.late),
				""
			],
			...Me.map(([e, i]) => [
				i,
				E(r(t, e), "seconds"),
				E(r(n, e), "seconds"),
				a(r(t, e), r(n, e))
			]),
			[
				"Max",
				E(t.max_s ?? NaN, "seconds"),
				E(n.max_s ?? NaN, "seconds"),
				a(t.max_s ?? NaN, n.max_s ?? NaN)
			]
		], s = e("tr", {}, ...i.map((t) => e("th", { scope: "col" }, t))), c = o.map(([t, ...n]) => e("tr", {}, e("th", { scope: "row" }, t), ...n.map((t) => e("td", {}, t))));
		this.table.replaceChildren(e("table", {}, e("thead", {}, s), e("tbody", {}, ...c)));
		let [l, u] = [r(t, .95), r(n, .95)];
		!Number.isFinite(l) || !Number.isFinite(u) ? this.words.textContent = "One of the two periods has no replies." : Math.abs(Math.log(l / u)) < .05 ? this.words.textContent = `95 % of the replies took at most ${E(l, "seconds")} in both periods.` : this.words.textContent = `95 % of the replies took at most ${E(l, "seconds")}; in the other period ${E(u, "seconds")}.`;
	}
	draw() {
		let e = this.canvas.getContext("2d"), t = this.canvas.parentElement?.clientWidth ?? 0;
		if (!this.isOpen || !e || !this.sides || t < 100) return;
		let n = Math.min(devicePixelRatio, 2);
		[this.canvas.width, this.canvas.height] = [Math.round(t * n), Math.round(je * n)], [this.canvas.style.width, this.canvas.style.height] = [`${t}px`, `${je}px`], e.setTransform(n, 0, 0, n, 0, 0);
		let r = this.sides.map((e) => e.ecdf_s.filter(([e]) => e > 0)), i = r.flat().map(([e]) => e);
		if (i.length === 0) return;
		let [a, o] = [Math.min(...i) * .9, Math.max(...i) * 1.1], [s, c, l, u] = [
			52,
			t - 12,
			10,
			214
		], d = (e) => s + (c - s) * Math.log(e / a) / Math.log(o / a), f = (e) => u - (u - l) * e;
		Pe(e, {
			low: a,
			high: o,
			left: s,
			right: c,
			top: l,
			bottom: u
		}, d, f), r.forEach((t, n) => {
			e.strokeStyle = w(n === 0 ? "loss0" : "up"), e.lineWidth = 2, e.setLineDash(n === 0 ? [] : [6, 4]), e.beginPath(), e.moveTo(s, f(0));
			let r = 0;
			for (let [n, i] of t) e.lineTo(d(n), f(r)), e.lineTo(d(n), f(i)), r = i;
			e.lineTo(c, f(r)), e.stroke();
		}), e.setLineDash([]);
	}
};
function Pe(e, t, n, r) {
	e.font = `11px ${D}`, e.textBaseline = "middle";
	for (let n of [
		0,
		.25,
		.5,
		.75,
		1
	]) e.fillStyle = w("hair"), e.fillRect(t.left, Math.round(r(n)), t.right - t.left, 1), e.fillStyle = w("dim"), e.textAlign = "right", O(e, `${n * 100} %`, t.left - 6, r(n));
	e.textAlign = "center";
	let i = Math.log10(t.high / t.low), a = i > 2.5 ? [1] : i > 1 ? [
		1,
		2,
		5
	] : [
		1,
		1.5,
		2,
		3,
		4,
		5,
		6,
		8
	];
	for (let r = Math.floor(Math.log10(t.low)); r <= Math.log10(t.high); r++) for (let i of a) {
		let a = i * 10 ** r;
		a < t.low || a > t.high || (e.fillStyle = w("hair"), e.fillRect(Math.round(n(a)), t.top, 1, t.bottom - t.top), e.fillStyle = w("dim"), O(e, E(a, "seconds"), n(a), t.bottom + 13));
	}
	e.textAlign = "right", [["loss0", "period above"], ["up", "other period (dashed)"]].forEach(([n, r], i) => {
		e.fillStyle = w(n), e.fillText(r, t.right - 8, t.bottom - 28 + 15 * i);
	});
}
// src/watch/events.ts
var Fe = 100, Ie = class {
	element = e("div", { class: "ribbon" });
	canvas = e("canvas", { "aria-hidden": "true" });
	label = e("span", { class: "cursor-time" });
	width = 0;
	axis = {
		left: 0,
		width: 1
	};
	view = {
		from: 0,
		to: 1
	};
	events = [];
	constructor(e) {
		this.element.append(this.canvas, this.label), this.element.addEventListener("click", (t) => {
			let n = t.clientX - this.element.getBoundingClientRect().left, r = this.events.map((e) => ({
				event: e,
				off: Math.abs(this.place(e.at_s) - n)
			})).filter(({ off: e }) => e < 12).sort((e, t) => e.off - t.off)[0];
			r && (t.stopPropagation(), e(r.event));
		});
	}
	measure() {
		let e = Math.min(devicePixelRatio, 2);
		this.width = this.element.clientWidth, this.canvas.width = Math.round(this.width * e), this.canvas.height = Math.round(this.element.clientHeight * e), this.canvas.getContext("2d")?.setTransform(e, 0, 0, e, 0, 0);
	}
	place(e) {
		return this.axis.left + (e - this.view.from) / (this.view.to - this.view.from) * this.axis.width;
	}
	draw(e, t, n, r) {
		let i = this.canvas.getContext("2d");
		if (!i || !r) return;
		this.axis = r, this.view = {
			from: t,
			to: n
		}, this.events = e.filter((e) => e.at_s <= n && (e.until_s ?? e.at_s) >= t), this.element.classList.toggle("has", this.events.length > 0), i.clearRect(0, 0, this.width, 30);
		let a = r.left + r.width;
		for (let e of this.events) {
			let t = Math.max(this.place(e.at_s), r.left), n = Math.min(this.place(e.until_s ?? e.at_s), a);
			i.fillStyle = w(e.kind === "alert" ? "bad" : "both"), i.globalAlpha = .3, n > t + 1 && i.fillRect(t, 6, n - t, 8), i.globalAlpha = 1, this.place(e.at_s) < r.left || (i.beginPath(), i.moveTo(t, 3), i.lineTo(t + 4.5, 10), i.lineTo(t, 17), i.lineTo(t - 4.5, 10), i.fill());
		}
	}
	cursor(e, t) {
		if (this.label.hidden = e === void 0, e === void 0) return;
		this.label.textContent = t;
		let n = this.label.offsetWidth / 2;
		this.label.style.left = `${Math.min(Math.max(this.place(e), n), Math.max(this.width - n, n))}px`;
	}
}, Le = class {
	look;
	element = e("section", {
		class: "card events",
		hidden: ""
	});
	shown = "";
	constructor(e) {
		this.look = e;
	}
	show(t, n) {
		let r = JSON.stringify([t, n]);
		if (r === this.shown) return;
		this.shown = r, this.element.hidden = t.length === 0;
		let i = [...t].sort((e, t) => n ? t.at_s - e.at_s : e.at_s - t.at_s).slice(0, Fe).map((t) => {
			let n = e("button", { type: "button" }, S(t.at_s, 1));
			n.addEventListener("click", () => this.look(t));
			let r = t.until_s === null ? "" : ` (${C(t.until_s - t.at_s)})`, i = `/reports/${encodeURIComponent(t.report ?? "")}`, a = t.report ? [" ", e("a", {
				href: i,
				target: "_blank"
			}, "report")] : [];
			return e("li", {}, n, e("b", t.kind === "alert" ? { class: "bad" } : {}, t.kind), `${t.text}${r}`, ...a);
		}), a = t.length > Fe ? [e("p", {}, `${t.length - Fe} more: zoom in.`)] : [];
		this.element.replaceChildren(e("h2", {}, "Events"), e("ul", {}, ...i), ...a);
	}
}, j = 86400, Re = 42, ze = 371, M = 9, N = 44, Be = [
	["p95_s", "95th percentile"],
	["median_s", "Median"],
	["max_s", "Maximum"],
	["loss", "Loss"]
], P = [
	"#00204d",
	"#123570",
	"#3b496c",
	"#575d6d",
	"#707173",
	"#8a8779",
	"#a69d75",
	"#c4b56c",
	"#e4cf5b",
	"#ffea46"
], Ve = class {
	go;
	element = e("section", {
		class: "card heat",
		hidden: ""
	});
	canvas = e("canvas", {
		tabindex: "0",
		role: "application"
	});
	told = e("p", {
		class: "told",
		role: "status"
	});
	measure = e("select", { "aria-label": "Value shown by the color" });
	key = e("p", { class: "legend" });
	title = e("h2");
	series;
	cells = /* @__PURE__ */ new Map();
	firstDay = 0;
	days = 0;
	loaded = "";
	cell = {
		day: 0,
		hour: 0
	};
	constructor(t) {
		this.go = t, this.measure.append(...Be.map(([t, n]) => e("option", { value: t }, n))), this.measure.addEventListener("change", () => this.draw());
		let n = e("div", { class: "tools" }, this.title, e("span", { class: "gap" }), this.measure);
		this.element.append(n, e("div", { class: "scroll" }, this.canvas), this.told, this.key), this.canvas.addEventListener("pointermove", (e) => this.point(e)), this.canvas.addEventListener("click", (e) => {
			this.point(e), this.open();
		}), this.canvas.addEventListener("keydown", (e) => this.press(e)), new ResizeObserver(() => this.draw()).observe(this.element);
	}
	of(e, t) {
		this.series !== e && (this.loaded = ""), this.series = e, this.element.hidden = e === void 0, this.title.textContent = "Hours of the day", this.canvas.setAttribute("aria-label", `${t}: each hour of each day. The arrow keys move between hours and announce their values, Enter shows the hour above.`);
	}
	around(e) {
		if (this.series === void 0) return;
		let t = Math.min(Math.max(Math.ceil((e.to - e.from) / j), Re), ze), n = /* @__PURE__ */ new Date(Math.min(e.to, Date.now() / 1e3) * 1e3);
		n.setHours(24, 0, 0, 0);
		let r = new Date(n);
		r.setDate(r.getDate() - t);
		let i = `${this.series} ${r.getTime()} ${n.getTime()} ${Math.floor(Date.now() / 6e5)}`;
		i !== this.loaded && (this.loaded = i, this.days === 0 && (this.told.textContent = "Loading …"), this.load(r.getTime() / 1e3, n.getTime() / 1e3, t));
	}
	async load(e, t, n) {
		let r = this.series;
		try {
			let n = await Promise.all(We(e, t).map(({ start: e, end: t, offset: n }) => y.heatmap(r, e, t, n)));
			if (r !== this.series) return;
			this.cells = new Map(n.flat().map((e) => [`${e.day} ${e.hour}`, e]));
		} catch {
			this.loaded = "";
			return;
		}
		this.days = n, this.firstDay = Math.floor((t - F(t - 1) - 1) / j) - n + 1, this.cell = {
			day: n - 1,
			hour: (/* @__PURE__ */ new Date()).getHours()
		}, this.told.textContent = this.cells.size > 0 ? "Point at an hour for its values; click to show it above." : "No data in these weeks.", this.draw();
	}
	value(e) {
		if (!e) return NaN;
		let t = this.measure.value;
		return t === "loss" ? e.lost / e.sent : e[t] ?? NaN;
	}
	draw() {
		let e = this.element.clientWidth - 40, t = this.canvas.getContext("2d");
		if (!t || e < 100 || this.days === 0) return;
		let n = Math.max((e - N) / this.days, 2.2), r = N + n * this.days, i = Math.min(devicePixelRatio, 2);
		[this.canvas.width, this.canvas.height] = [Math.round(r * i), Math.round(236 * i)], [this.canvas.style.width, this.canvas.style.height] = [`${r}px`, "236px"], t.setTransform(i, 0, 0, i, 0, 0);
		let a = [...this.cells.values()].map((e) => this.value(e)).filter((e) => !Number.isNaN(e)).sort((e, t) => e - t), [o, s] = this.bounds(a);
		for (let e = 0; e < this.days; e++) for (let r = 0; r < 24; r++) {
			let i = this.cells.get(`${this.firstDay + e} ${r}`), a = this.value(i);
			t.fillStyle = i && Number.isNaN(a) ? w("loss4") : Number.isNaN(a) ? w("hair") : Ue(He(a, o, s));
			let c = +(n > 5);
			t.fillRect(N + e * n, r * M, n - c, M - (Number.isNaN(a) && !i ? 8 : 1));
		}
		this.labels(t, n), this.outline(t, n), this.explain(o, s);
	}
	bounds(e) {
		if (this.measure.value === "loss") return [0, Math.max(e.at(-1) ?? 0, .01)];
		let t = e[Math.floor(e.length * .02)] ?? .001;
		return [t, Math.max(e[Math.floor(e.length * .995)] ?? 0, t * 2)];
	}
	labels(e, t) {
		e.font = `11px ${D}`, e.fillStyle = w("dim"), e.textBaseline = "middle", e.textAlign = "right";
		for (let t = 0; t < 24; t += 6) e.fillText(`${String(t).padStart(2, "0")}:00`, 38, t * M + 5);
		e.textAlign = "left";
		let n = Math.ceil(70 / t / 7) * 7;
		for (let r = 0; r < this.days; r++) {
			let i = (this.firstDay + r) * j;
			(this.firstDay + r - 4) % n == 0 && r * t + 60 < this.days * t && e.fillText(x(i + (/* @__PURE__ */ new Date(i * 1e3)).getTimezoneOffset() * 60).slice(4), N + r * t, 226);
		}
	}
	outline(e, t) {
		document.activeElement === this.canvas && (e.strokeStyle = w("ink"), e.lineWidth = 2, e.strokeRect(N + this.cell.day * t - 1, this.cell.hour * M - 1, t + 1, 10));
	}
	explain(t, n) {
		let r = this.measure.value === "loss", i = (e) => r ? A(e) : E(e, "seconds"), a = P.map((t) => {
			let n = e("i", { class: "key" });
			return n.style.background = t, n;
		});
		this.key.replaceChildren(`${i(t)} `, e("span", { class: "ramp" }, ...a), ` ${i(n)}`, e("span", {}, e("i", { class: "key loss4" }), "all lost"));
	}
	point(e) {
		let t = this.canvas.getBoundingClientRect(), n = (t.width - N) / this.days, r = Math.floor((e.clientX - t.left - N) / n), i = Math.floor((e.clientY - t.top) / M);
		r >= 0 && r < this.days && i >= 0 && i < 24 && (this.cell = {
			day: r,
			hour: i
		}, this.tell());
	}
	begin() {
		let e = /* @__PURE__ */ new Date((this.firstDay + this.cell.day) * j * 1e3);
		return new Date(e.getUTCFullYear(), e.getUTCMonth(), e.getUTCDate(), this.cell.hour).getTime() / 1e3;
	}
	tell() {
		let e = this.cells.get(`${this.firstDay + this.cell.day} ${this.cell.hour}`), t = `${String(this.cell.hour).padStart(2, "0")}:00 to ${String(this.cell.hour + 1).padStart(2, "0")}:00`, n = `${x(this.begin())}, ${t}: `, r = (e) => E(e ?? NaN, "seconds");
		this.told.textContent = e ? `${n}median ${r(e.median_s)}, p95 ${r(e.p95_s)}, max ${r(e.max_s)}, ${A(e.lost / e.sent)} lost` : `${n}no data`;
	}
	open() {
		let e = this.begin();
		this.go(e - 600, e + 4200), window.scrollTo({ top: 0 });
	}
	press(e) {
		let t = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, -1],
			ArrowDown: [0, 1]
		}[e.key];
		e.key === "Enter" && this.open(), t && (e.preventDefault(), this.cell = {
			day: Math.min(Math.max(this.cell.day + t[0], 0), this.days - 1),
			hour: Math.min(Math.max(this.cell.hour + t[1], 0), 23)
		}, this.tell(), this.draw());
	}
};
function He(e, t, n) {
	return Math.min(t <= 0 ? e / n : Math.max(Math.log(e / t) / Math.log(n / t), 0), 1);
}
function Ue(e) {
	return P[Math.min(Math.floor(e * P.length), P.length - 1)];
}
function F(e) {
	return (/* @__PURE__ */ new Date(e * 1e3)).getTimezoneOffset() * 60;
}
function We(e, t) {
	let n = [], r = e;
	for (let i = e; i < t; i += 3600) {
		let e = Math.min(i + 3600, t);
		e < t && F(e) === F(r) || (n.push({
			start: r,
			end: e,
			offset: -F(r)
		}), r = e);
	}
	return n;
}
// src/watch/levels.ts
var I = [
	.1,
	.2,
	.5,
	1,
	2,
	5,
	10,
	20,
	60,
	120,
	300,
	600,
	1200,
	3600,
	7200,
	14400,
	28800,
	86400,
	172800,
	432e3,
	864e3
];
function L(e) {
	let t = I.findIndex((t) => t >= e * .999);
	return t < 0 ? I.length - 1 : t;
}
function R(e) {
	return I[e] * 256;
}
function z(e, t, n) {
	let r = R(e), i = Math.floor(t / r);
	return {
		first: i,
		last: Math.max(i, Math.ceil(n / r) - 1)
	};
}
// src/watch/tiles.ts
var Ge = 600, Ke = 4, qe = 1e3, Je = 900, Ye = 3e3;
function B(e) {
	return `${e.series}/${e.level}/${e.index}`;
}
var Xe = class {
	load;
	changed;
	now;
	known = /* @__PURE__ */ new Map();
	loading = /* @__PURE__ */ new Map();
	failed = /* @__PURE__ */ new Map();
	queue = [];
	trouble = "";
	constructor(e, t, n = Date.now) {
		this.load = e, this.changed = t, this.now = n;
	}
	want(e, t, n, r) {
		let i = L(r), a = [], o = [], { first: s, last: c } = z(i, t, n);
		for (let r of e) {
			for (let e = s; e <= c; e++) a.push({
				series: r,
				level: i,
				index: e
			});
			o.push({
				series: r,
				level: i,
				index: s - 1
			}, {
				series: r,
				level: i,
				index: c + 1
			});
			let [e, l] = [Math.max(i - 1, 0), Math.min(i + 1, I.length - 1)], u = z(e, (t + n) / 2, (t + n) / 2).first;
			o.push({
				series: r,
				level: e,
				index: u
			}, {
				series: r,
				level: l,
				index: z(l, t, n).first
			});
		}
		let l = [...a, ...o].filter((e) => e.index >= 0 && this.isStale(e)), u = new Set([...a, ...o].map(B));
		for (let [e, t] of this.loading) u.has(e) || t.abort();
		this.queue = l.filter((e) => !this.loading.has(B(e))), this.next();
	}
	isStale(e) {
		let t = this.now(), n = R(e.level);
		if (e.index * n > t / 1e3) return !1;
		let r = B(e);
		if (t - (this.failed.get(r) ?? -Infinity) < Ye) return !1;
		let i = this.known.get(r);
		return !i || !((e.index + 1) * n + Je < i.asked / 1e3) && t - i.asked > Math.max(qe, i.width * 1e3);
	}
	next() {
		for (; this.loading.size < Ke;) {
			let e = this.queue.shift();
			if (!e) return;
			this.fetch(e);
		}
	}
	async fetch(e) {
		let [t, n, r] = [
			B(e),
			R(e.level),
			this.now()
		], i = new AbortController();
		this.loading.set(t, i);
		try {
			let a = e.index * n, o = await this.load(e.series, a, a + n, 256, i.signal);
			this.keep(t, {
				...Ze(o),
				width: I[e.level],
				asked: r
			}), this.failed.delete(t), this.trouble = "";
		} catch (e) {
			i.signal.aborted || (this.failed.set(t, this.now()), this.trouble = e instanceof Error ? e.message : String(e));
		}
		this.loading.delete(t), this.changed(), this.next();
	}
	keep(e, t) {
		this.known.delete(e), this.known.set(e, t);
		for (let e of this.known.keys()) {
			if (this.known.size <= Ge) return;
			this.known.delete(e);
		}
	}
	get isLoading() {
		return this.loading.size > 0;
	}
	pieces(e, t, n, r) {
		let i = L(r), { first: a, last: o } = z(i, t, n), s = R(i), c = [];
		for (let r = a; r <= o; r++) {
			let [a, o] = [Math.max(t, r * s), Math.min(n, (r + 1) * s)];
			c.push(...this.best(e, i, a, o));
		}
		return c;
	}
	best(e, t, n, r) {
		for (let i = t; i < I.length; i++) {
			let t = this.at(e, i, n, r);
			if (t.length > 0) return t;
		}
		for (let i = t - 1; i >= Math.max(0, t - 3); i--) {
			let t = this.at(e, i, n, r);
			if (t.length > 0) return t;
		}
		return [];
	}
	at(e, t, n, r) {
		let { first: i, last: a } = z(t, n, r), o = [];
		for (let s = i; s <= a; s++) {
			let i = this.known.get(B({
				series: e,
				level: t,
				index: s
			}));
			if (!i) continue;
			let { columns: a, width: c } = i, l = Math.max(0, Math.floor((n - a.from) / c + 1e-6)), u = Math.min(a.count, Math.ceil((r - a.from) / c - 1e-6));
			u > l && o.push({
				tile: i,
				first: l,
				last: u
			});
		}
		return o;
	}
};
function Ze(e) {
	let t = [];
	for (let n = 0; n < e.count; n++) e.sent[n] + e.failed[n] > 0 && t.push(n);
	let n = t.slice(1).map((e, n) => e - t[n]);
	n.sort((e, t) => e - t);
	let r = e.held * e.count / (e.to - e.from);
	return {
		columns: e,
		filled: t,
		pace: Math.max(n[n.length >> 1] ?? 1, r)
	};
}
// src/watch/hops.ts
var Qe = [
	.002,
	.005,
	.01,
	.02,
	.06,
	.2,
	1
], $e = .1, et = { kind: "none" }, tt = { kind: "lost" };
function nt(e) {
	let t = /^hop (\d+)$/.exec(e)?.[1];
	return t === void 0 ? void 0 : Number(t);
}
function rt(e) {
	return Qe.filter((t) => e >= t).length;
}
function it(e) {
	let t = [];
	return [...e].reverse().map((e) => {
		let n = at(e);
		return ot(e).map((e, r) => {
			if (e === void 0) return et;
			if (Number.isNaN(e)) return tt;
			let i = Math.min(Math.max(e - n, 0), t[r] ?? Infinity);
			return t[r] = i, {
				kind: "delay",
				median: e,
				added: i
			};
		});
	}).reverse();
}
function at(e) {
	let t = e.quantiles[o].filter((e) => !Number.isNaN(e)).sort();
	return t[Math.floor(t.length * $e)] ?? 0;
}
function ot(e) {
	let { filled: t, pace: n } = Ze(e), r = Array(e.count).fill(void 0);
	return t.forEach((i, a) => {
		let s = Math.min(t[a + 1] ?? e.count, i + Math.ceil(n) + 1, e.count);
		r.fill(e.quantiles[o][i], i, s);
	}), r;
}
// src/watch/path.ts
var V = 18, st = 172, ct = 24, lt = 480, H = 8, ut = 20, U = 200, dt = [
	["good", .18],
	["good", .4],
	["good", .65],
	["good", 1],
	["fair", 1],
	["bad", .6],
	["bad", .8],
	["bad", 1]
], ft = class {
	addressOf;
	element = e("section", {
		class: "card path",
		hidden: ""
	});
	canvas = e("canvas", {
		tabindex: "0",
		role: "application"
	});
	told = e("p", {
		class: "told",
		role: "status"
	});
	hops = [];
	rows = [];
	view;
	loads = [];
	asked = "";
	loading = new AbortController();
	left = st;
	cell;
	constructor(t) {
		this.addressOf = t;
		let n = e("div", { class: "scroll" }, this.canvas);
		this.element.append(e("h2", {}, "Queueing delay by hop"), n, this.told, ht()), this.canvas.addEventListener("pointermove", (e) => this.point(e)), this.canvas.addEventListener("keydown", (e) => this.press(e)), new ResizeObserver(() => this.draw()).observe(this.element);
	}
	of(e, t) {
		let n = t.filter((t) => t.target === e && nt(t.probe) !== void 0);
		n.sort((e, t) => (nt(e.probe) ?? 0) - (nt(t.probe) ?? 0)), this.hops = n.map(({ series: e, probe: t }) => ({
			series: e,
			name: t
		})), this.element.hidden = n.length === 0, this.canvas.setAttribute("aria-label", `${e}: queueing delay of each hop over time. The arrow keys move between hops and times and announce their values.`), this.asked = "", this.loading.abort(), this.rows = [], this.cell = void 0;
	}
	around(e, t) {
		if (this.loads = t.filter((e) => e.report !== null && e.until_s !== null), this.hops.length === 0) return;
		let n = (e.to - e.from) / U, r = Math.max(n, 5), i = {
			from: Math.floor(e.from / r) * r,
			to: Math.ceil(e.to / r) * r
		}, a = `${this.hops.map((e) => e.series).join()} ${i.from} ${i.to}`;
		if (a === this.asked) return this.draw();
		this.asked = a, this.loading.abort(), this.loading = new AbortController(), this.load(i, this.loading.signal);
	}
	async load(e, t) {
		try {
			let n = await Promise.all(this.hops.map((n) => y.smoke(n.series, e.from, e.to, U, t)));
			if (t.aborted) return;
			this.rows = it(n);
		} catch (e) {
			if (t.aborted) return;
			this.asked = "", this.told.textContent = e instanceof Error ? e.message : String(e);
			return;
		}
		this.view = e, this.tell(), this.draw();
	}
	draw() {
		let e = this.canvas.getContext("2d"), t = this.element.clientWidth - 36;
		if (this.left = t < lt ? ct : st, !e || !this.view || this.rows.length === 0 || t < this.left + 50) return;
		let n = H + this.rows.length * V + ut, r = Math.min(devicePixelRatio, 2);
		[this.canvas.width, this.canvas.height] = [Math.round(t * r), Math.round(n * r)], [this.canvas.style.width, this.canvas.style.height] = [`${t}px`, `${n}px`], e.setTransform(r, 0, 0, r, 0, 0);
		let i = (t - this.left) / U, a = (e) => Math.round(this.left + e * i);
		this.rows.forEach((t, n) => t.forEach((t, r) => mt(e, t, a(r), H + n * V, a(r + 1) - a(r)))), this.labels(e), this.times(e, this.view, t, n), document.activeElement === this.canvas && this.cell && (e.strokeStyle = w("ink"), e.lineWidth = 2, e.strokeRect(this.left + this.cell.column * i - 1, H + this.cell.row * V, i + 2, 17));
	}
	labels(e) {
		e.font = `12px ${D}`, e.fillStyle = w("ink"), e.textBaseline = "middle", e.textAlign = "left";
		let t = (e) => this.left === ct ? pt(e) : this.label(e);
		this.hops.forEach((n, r) => e.fillText(t(n), 0, H + r * V + V / 2, this.left - 8));
	}
	label(e) {
		return `${pt(e)} ${this.addressOf(e.series)}`.trim();
	}
	times(e, { from: t, to: n }, r, i) {
		let a = (e) => this.left + (Math.min(Math.max(e, t), n) - t) / (n - t) * (r - this.left);
		e.fillStyle = w("both");
		for (let { at_s: r, until_s: i } of this.loads) r < n && (i ?? r) > t && e.fillRect(a(r), 0, Math.max(a(i ?? r) - a(r), 3), 5);
		e.font = `11px ${D}`, e.fillStyle = w("dim"), e.textAlign = "center";
		for (let o of me(t, n, Math.max(2, (r - this.left) / 84))) {
			let t = a(o.at);
			t > this.left + 20 && t < r - 20 && e.fillText(o.label, t, i - ut / 2);
		}
	}
	point(e) {
		let t = this.canvas.getBoundingClientRect(), n = Math.floor((e.clientX - t.left - this.left) / (t.width - this.left) * U), r = Math.floor((e.clientY - t.top - H) / V);
		n < 0 || n >= U || r < 0 || r >= this.rows.length || (this.cell = {
			column: n,
			row: r
		}, this.tell());
	}
	press(e) {
		let t = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, -1],
			ArrowDown: [0, 1]
		}[e.key];
		if (!t || this.rows.length === 0) return;
		e.preventDefault();
		let n = (e, t) => Math.min(Math.max(e, 0), t - 1), { column: r, row: i } = this.cell ?? {
			column: 0,
			row: 0
		};
		this.cell = {
			column: n(r + t[0], U),
			row: n(i + t[1], this.rows.length)
		}, this.tell(), this.draw();
	}
	tell() {
		let e = this.cell && this.rows[this.cell.row]?.[this.cell.column];
		if (!this.view || !this.cell || !e) {
			this.told.textContent = "Point at a hop for its values.";
			return;
		}
		let t = (this.view.to - this.view.from) / U, n = e.kind === "delay" ? `median ${E(e.median, "seconds")}, queueing delay ${E(e.added, "seconds")}` : {
			none: "no data",
			lost: "no reply",
			delay: ""
		}[e.kind];
		this.told.textContent = `${S(this.view.from + this.cell.column * t, t)}, hop ${this.label(this.hops[this.cell.row])}: ${n}`;
	}
};
function pt(e) {
	return e.name.replace("hop ", "");
}
function mt(e, t, n, r, i) {
	if (t.kind === "none") return;
	let [a, o] = t.kind === "lost" ? ["hair", 1] : dt[rt(t.added)];
	e.fillStyle = w(a), e.globalAlpha = o, e.fillRect(n, r, i, 16), e.globalAlpha = 1;
}
function ht() {
	let t = [...Qe.map((e) => `< ${e * 1e3}`), "more"], n = dt.map(([n, r], i) => {
		let a = e("i", { class: "key" });
		return a.style.background = `color-mix(in srgb, var(--${n}) ${r * 100}%, transparent)`, e("span", {}, a, t[i]);
	}), r = (t) => {
		let n = e("i", { class: "key" });
		return n.style.background = `var(--${t})`, n;
	};
	return e("p", { class: "legend" }, e("b", {}, "Milliseconds:"), ...n, e("span", {}, r("hair"), "no reply"), e("span", {}, r("both"), "speed test"));
}
function gt(e) {
	let [t, n = ""] = e.replace(/^#\/?/, "").split("?"), [r, i = ""] = t.split("/"), a = i.split(",").map(Number).filter((e) => Number.isInteger(e) && e >= 0);
	if (r !== "targets" || i === "" || a.length === 0) return { page: "overview" };
	let o = new URLSearchParams(n), s = (e) => {
		let t = Number(o.get(e) ?? NaN);
		return Number.isFinite(t) && t > 0 ? t : void 0;
	};
	return {
		page: "targets",
		series: [...new Set(a)],
		seconds: s("span") ?? 10800,
		to: s("to")
	};
}
function _t(e, t, n) {
	let r = t.to - t.from, i = n ? "" : `&to=${Number(t.to.toFixed(3))}`;
	return `#/targets/${e.join(",")}?span=${Number(r.toFixed(3))}${i}`;
}
// src/watch/scale.ts
var vt = 3, yt = [
	1,
	1.5,
	2,
	3,
	4,
	5,
	6,
	8,
	10
];
function bt(e) {
	let t = 10 ** Math.floor(Math.log10(e));
	return (yt.find((n) => n * t >= e * .999999) ?? 10) * t;
}
function xt(e, t, n) {
	let r = [], [i, o] = [0, Infinity];
	for (let { tile: t, first: n, last: s } of e) {
		let { max: e, min: c, quantiles: l } = t.columns, u = l[a.length - 1];
		for (let a of t.filled) a < n || a >= s || Number.isNaN(e[a]) || (r.push(u[a]), e[a] > i && (i = e[a]), c[a] > 0 && c[a] < o && (o = c[a]));
	}
	if (i <= 0) return {
		kind: t,
		low: t === "log" ? n / 100 : 0,
		high: n
	};
	if (t === "log") return {
		kind: t,
		low: 10 ** Math.floor(Math.log10(o)),
		high: bt(Math.max(i * 1.05, o * 10))
	};
	r.sort((e, t) => e - t);
	let s = r[Math.floor(.98 * (r.length - 1))] * 1.25, c = t === "fit" && i > vt * s;
	return {
		kind: t,
		low: 0,
		high: bt(Math.max(c ? s : i * 1.05, n))
	};
}
function W(e, t, n) {
	let r = e.kind === "log" ? (t) => Math.log(Math.max(t, e.low) / e.low) / Math.log(e.high / e.low) : (t) => t / e.high;
	return (e) => t + n * (1 - Math.min(Math.max(r(e), 0), 1));
}
function St(e, t) {
	if (e.kind !== "log") return [];
	let n = [], r = Math.log10(e.high / e.low) * 3 <= t ? [
		1,
		2,
		5
	] : [1];
	for (let t = Math.floor(Math.log10(e.low)); t <= Math.log10(e.high); t++) for (let i of r) {
		let r = i * 10 ** t;
		r >= e.low * .999 && r <= e.high * 1.001 && n.push(r);
	}
	return n;
}
// src/watch/paint.ts
var Ct = [
	[
		0,
		8,
		"smoke1"
	],
	[
		1,
		7,
		"smoke2"
	],
	[
		2,
		6,
		"smoke3"
	],
	[
		3,
		5,
		"smoke4"
	]
], wt = 1.6;
function G(e, t, n) {
	let { rect: r, from: i, to: a } = t, o = r.width / (a - i), s = Math.min(devicePixelRatio, 2), c = (e) => Math.round(e * s) / s;
	for (let { tile: t, first: a, last: l } of e) {
		let { columns: e, width: u, filled: d, pace: f } = t, p = f * wt;
		for (let t = Tt(d, a); t < d.length && d[t] < l; t++) {
			let a = d[t], l = t + 1 < d.length ? d[t + 1] : Infinity, f = Math.max(1, Math.min(l - a, p)), m = r.left + (e.from + a * u - i) * o, h = c(m);
			n(e, a, h, Math.max(c(m + f * u * o) - h, 1 / s));
		}
	}
}
function Tt(e, t) {
	let [n, r] = [0, e.length];
	for (; n < r;) {
		let i = n + r >> 1;
		e[i] < t ? n = i + 1 : r = i;
	}
	return n;
}
function Et(e, t, n, r) {
	let { rect: i, scale: a } = n, o = W(a, i.top, i.height);
	e.save(), e.beginPath(), e.rect(i.left, i.top - 6, i.width, i.height + 6 + 4 + n.rug.height), e.clip();
	for (let [i, a, s] of Ct) e.fillStyle = r(s), G(t, n, ({ quantiles: t }, n, r, s) => {
		let c = o(t[a][n]);
		e.fillRect(r, c, s, o(t[i][n]) - c);
	});
	Dt(e, t, n, r), Ot(e, t, n, r), jt(e, t, n, r), e.restore();
}
function Dt(e, t, n, r) {
	let { rect: i, scale: o } = n, s = W(o, i.top, i.height);
	e.fillStyle = r("envelope");
	let c = [];
	G(t, n, ({ max: t, quantiles: n }, r, i, l) => {
		if (Number.isNaN(t[r])) return;
		let u = s(t[r]);
		e.globalAlpha = .5, e.fillRect(i, u, l, s(n[a.length - 1][r]) - u), e.globalAlpha = 1, e.fillRect(i, u - .5, l, 1), t[r] > o.high && c.push(i + l / 2);
	}), e.fillStyle = r("cut");
	let l = -Infinity;
	for (let t of c) t - l < 5 || (l = t, e.beginPath(), e.moveTo(t, i.top - 5), e.lineTo(t - 3.5, i.top + 1), e.lineTo(t + 3.5, i.top + 1), e.fill());
}
function Ot(e, t, n, r) {
	let i = W(n.scale, n.rect.top, n.rect.height);
	kt(e, t, n, r("ink")), k.forEach(({ colour: a, thickness: s }, c) => {
		e.fillStyle = r(a), G(t, n, (t, n, r, a) => {
			let l = t.quantiles[o][n];
			Number.isNaN(l) || ke(At(t, n)) !== c || e.fillRect(r, i(l) - s / 2, Math.max(a, s), s);
		});
	});
}
function kt(e, t, n, r) {
	let i = W(n.scale, n.rect.top, n.rect.height);
	e.fillStyle = r, e.globalAlpha = .35;
	let [a, s] = [NaN, -Infinity];
	G(t, n, ({ quantiles: t }, n, r, c) => {
		let l = i(t[o][n]);
		r - s < 1 && !Number.isNaN(l - a) && e.fillRect(r - .5, Math.min(a, l), 1, Math.abs(a - l)), [a, s] = [l, r + c];
	}), e.globalAlpha = 1;
}
function At(e, t) {
	return e.sent[t] > 0 ? e.lost[t] / e.sent[t] : 0;
}
function jt(e, t, n, r) {
	let { rect: i, rug: a } = n, o = Mt(e, r("loss4"));
	G(t, n, (t, n, s, c) => {
		let l = At(t, n);
		if (l === 1 && (e.fillStyle = o, e.fillRect(s, i.top, Math.max(c, 1), i.height)), l > 0) {
			e.fillStyle = r(l === 1 ? "loss4" : k[ke(l)].colour);
			let t = Math.max(3, a.height * Math.min(1, Math.sqrt(l)));
			e.fillRect(s, a.top + a.height - t, Math.max(c, 1.5), t);
		} else t.sent[n] === 0 && (e.fillStyle = r("unasked"), e.fillRect(s, a.top + a.height - 2, Math.max(c, 1), 2));
	});
}
var K;
function Mt(e, t) {
	if (K?.colour === t) return K.pattern;
	let n = document.createElement("canvas");
	n.width = n.height = 8;
	let r = n.getContext("2d");
	r.globalAlpha = .12, r.fillStyle = t, r.fillRect(0, 0, 8, 8), r.globalAlpha = .75, r.strokeStyle = t, r.lineWidth = 1.2;
	for (let e of [
		-8,
		0,
		8
	]) r.beginPath(), r.moveTo(e, 8), r.lineTo(e + 8, 0), r.stroke();
	return K = {
		colour: t,
		pattern: e.createPattern(n, "repeat") ?? t
	}, K.pattern;
}
function Nt(e, t, n, r) {
	let { rect: i, scale: a } = n, s = W(a, i.top, i.height), c = i.top + i.height;
	e.save(), e.beginPath(), e.rect(i.left, i.top - 1, i.width, i.height + 1), e.clip(), e.fillStyle = r, G(t, n, ({ quantiles: t, max: n }, r, i, a) => {
		let l = s(t[o][r]);
		e.globalAlpha = .35, e.fillRect(i, l, a, c - l), e.globalAlpha = 1, e.fillRect(i, s(n[r]) - .75, Math.max(a, 1), 1.5);
	}), e.restore();
}
function Pt(e, t, n, r, i) {
	let { rect: a, scale: o, from: s, to: c } = t;
	e.font = `11px ${D}`, e.textBaseline = "middle";
	let l = W(o, a.top, a.height), u = o.kind === "log" ? St(o, a.height / 26) : De(0, o.high, Math.max(2, a.height / 34)), { factor: d, name: f } = Ee(t.unit, t.unit === "seconds" && o.high < 10 && o.high >= .001 ? .001 : o.high), p = o.kind === "log" ? u.map((e) => String(Number((e / d).toPrecision(3)))) : Oe(u, d);
	u.forEach((t, n) => {
		let r = Math.round(l(t)) + .5;
		e.fillStyle = i("hair"), e.fillRect(a.left, r - .5, a.width, 1), e.fillStyle = i("dim"), e.textAlign = "right", O(e, n === u.length - 1 ? `${p[n]} ${f}` : p[n] ?? "", a.left - 6, r);
	});
	let m = t.rug.top + t.rug.height;
	e.textAlign = "center";
	for (let t of n) {
		let n = a.left + (t.at - s) / (c - s) * a.width;
		if (e.fillStyle = i(t.major ? "grid" : "hair"), e.fillRect(Math.round(n), a.top, 1, m - a.top), !r) continue;
		e.fillStyle = i(t.major ? "ink" : "dim");
		let o = e.measureText(t.label).width / 2;
		n - o > a.left - 30 && n + o < a.left + a.width + 12 && O(e, t.label, n, m + 12);
	}
	e.fillStyle = i("grid"), e.fillRect(a.left, a.top + a.height, a.width, 1);
}
var Ft = 10, It = 10, Lt = 14, Rt = 22, zt = 2, Bt = {
	seconds: 2e-4,
	rate: 1e3,
	bytes: 1500,
	plain: 1
}, Vt = class {
	series;
	name;
	unit;
	element;
	heading = e("div", { class: "plot-head" });
	told = e("span", { class: "told" });
	stage = e("div", { class: "plot-stage" });
	base = e("canvas", { role: "img" });
	above = e("canvas", { "aria-hidden": "true" });
	pieces = [];
	scene;
	width = 0;
	height = 0;
	isLast = !1;
	constructor(t, n, r, i) {
		this.series = t, this.name = n, this.unit = r, this.heading.append(e("b", {}, n), this.told, ...i), this.describe(n), this.stage.append(this.base, this.above), this.element = e("section", {
			class: r === "seconds" ? "plot" : "plot level",
			"aria-label": n
		}, this.heading, this.stage);
	}
	measure() {
		let { width: e, height: t } = this.stage.getBoundingClientRect(), n = Math.min(devicePixelRatio, zt);
		[this.width, this.height] = [e, t];
		for (let r of [this.base, this.above]) {
			let [i, a] = [Math.round(e * n), Math.round(t * n)];
			(r.width !== i || r.height !== a) && ([r.width, r.height] = [i, a]), r.getContext("2d")?.setTransform(n, 0, 0, n, 0, 0);
		}
		return e > 0;
	}
	get axis() {
		return {
			left: 58,
			width: Math.max(this.width - 58 - Ft, 1)
		};
	}
	draw(e, t, n, r, i) {
		let { from: a, to: o } = t, s = this.base.getContext("2d");
		if (!s || this.width === 0) return;
		let c = this.unit === "seconds" ? Lt : 0, l = Math.max(this.height - It - c - (c ? 4 : 0) - (this.isLast ? Rt : 4), 20), u = {
			left: this.axis.left,
			top: It,
			width: this.axis.width,
			height: l
		}, d = {
			rect: u,
			rug: {
				...u,
				top: It + l + (c ? 4 : 0),
				height: c
			},
			from: a,
			to: o,
			scale: xt(e, this.unit === "seconds" ? n : "whole", Bt[this.unit]),
			unit: this.unit
		};
		[this.pieces, this.scene] = [e, d], s.clearRect(0, 0, this.width, this.height), Pt(s, d, r, this.isLast, w), this.unit === "seconds" ? Et(s, e, d, w) : Nt(s, e, d, w("up")), this.pieces.some(({ tile: e, first: t, last: n }) => e.filled.some((e) => e >= t && e < n)) || this.sayEmpty(s, u, i);
	}
	sayEmpty(e, t, n) {
		e.fillStyle = w("dim"), e.textAlign = "center", e.fillText(this.pieces.length > 0 ? "No data in this period." : n, t.left + t.width / 2, t.top + t.height / 2);
	}
	at(e) {
		let { scene: t } = this;
		if (!t) return;
		let n = t.rect.left + (e - t.from) / (t.to - t.from) * t.rect.width, r;
		return G(this.pieces, t, (e, t, i, a) => {
			n >= i && n < i + Math.max(a, 1) && (r = Ht(e, t));
		}), r;
	}
	readings() {
		let e = [];
		return this.scene && G(this.pieces, this.scene, (t, n) => e.push(Ht(t, n))), e;
	}
	cursor(e) {
		let t = this.above.getContext("2d");
		if (!t || !this.scene) return;
		if (t.clearRect(0, 0, this.width, this.height), e === void 0) {
			this.told.textContent = "";
			return;
		}
		let { rect: n, rug: r, from: i, to: a, scale: o } = this.scene, s = n.left + (e - i) / (a - i) * n.width;
		if (s < n.left || s > n.left + n.width) return;
		t.fillStyle = w("ink"), t.globalAlpha = .5, t.fillRect(Math.round(s), n.top, 1, r.top + r.height - n.top), t.globalAlpha = 1;
		let c = this.at(e);
		c && !Number.isNaN(c.median) && (t.beginPath(), t.arc(Math.round(s) + .5, W(o, n.top, n.height)(c.median), 3.5, 0, 7), t.fill()), this.told.textContent = c ? Ut(c, this.unit) : "no data";
	}
	describe(e) {
		this.base.setAttribute("aria-label", e);
	}
};
function Ht(e, t) {
	let { sent: n, lost: r, late: i, failed: s, min: c, max: l, quantiles: u } = e, d = (e.to - e.from) / e.count, f = (e) => u[a.indexOf(e)][t], p = {
		sent: n[t],
		lost: r[t],
		late: i[t],
		failed: s[t]
	}, m = {
		min: c[t],
		median: u[o][t],
		p95: f(.95),
		p99: f(.99),
		max: l[t]
	};
	return {
		at: e.from + t * d,
		width: d,
		...p,
		...m
	};
}
function Ut(e, t) {
	let { sent: n, lost: r, late: i, failed: a, median: o, p95: s, max: c } = e;
	if (t !== "seconds") return n === 1 ? E(o, t) : `median ${E(o, t)}, max ${E(c, t)}`;
	let l = [];
	return n === 1 && !Number.isNaN(o) ? l.push(E(o, t)) : Number.isNaN(o) || l.push(`median ${E(o, t)}, p95 ${E(s, t)}, max ${E(c, t)}`), r > 0 ? l.push(Wt(r, n)) : n > 1 && l.push(`none of ${T(n)} lost`), i > 0 && l.push(`${T(i)} late`), a > 0 && l.push(`${T(a)} not sent`), l.filter((e) => e !== "").join(", ");
}
function Wt(e, t) {
	return e < t ? `${T(e)} of ${T(t)} lost (${A(e / t)})` : t === 1 ? "lost" : `all ${T(t)} lost`;
}
var Gt = [
	"Time",
	"Sent",
	"Lost",
	"Min",
	"Median",
	"p95",
	"p99",
	"Max"
];
function Kt(e, t) {
	let { at: n, width: r, sent: i, lost: a, min: o, median: s, p95: c, p99: l, max: u } = e, d = i > 0 ? `${T(a)} (${A(a / i)})` : "–";
	return [
		S(n, r),
		T(i),
		d,
		...[
			o,
			s,
			c,
			l,
			u
		].map((e) => E(e, t))
	];
}
// src/watch/view.ts
var qt = 10, Jt = 631152e3, Yt = .01;
function q(e, t) {
	let n = t + e * Yt;
	return {
		from: n - e,
		to: n
	};
}
function J(e, t) {
	let n = Math.min(Math.max(e.to - e.from, qt), Jt), r = (e.from + e.to) / 2, i = Math.min(r + n / 2, t + n * Yt);
	return {
		from: Math.max(i - n, 0),
		to: i
	};
}
function Xt(e, t, n, r) {
	let i = e.to - e.from, a = Math.min(Math.max(i * n, qt), Jt), o = t - (t - e.from) / i * a;
	return J({
		from: o,
		to: o + a
	}, r);
}
function Zt(e, t, n) {
	return J({
		from: e.from + t,
		to: e.to + t
	}, n);
}
function Qt(e, t) {
	return e.to >= t - (e.to - e.from) * .005;
}
// src/watch/detail.ts
var $t = .12, Y = .6, en = [
	["10 min", 600],
	["1 h", 3600],
	["3 h", 10800],
	["1 day", 86400],
	["1 week", 604800],
	["1 month", 2629800],
	["1 year", 31557600]
], tn = "Delay over time. The left and right arrow keys move, up and down zoom. Shift with left or right moves the cursor and announces its values. N goes to the present. The mouse wheel or a pinch zooms, dragging moves, dragging with Shift zooms to a selection.", nn = 200, rn = {
	seconds: "seconds",
	bits_per_second: "rate",
	bytes: "bytes"
}, X = () => Date.now() / 1e3, an = class {
	watch;
	element = e("section", { class: "detail" });
	view = q(3600, X());
	live = !0;
	shown = [];
	all = [];
	plots = [];
	events = [];
	eventsOf = "";
	kind = "fit";
	cursor;
	pinned = !1;
	selection;
	raisedNames = "";
	isDue = !1;
	timer = 0;
	addressTimer = 0;
	tiles = new Xe(y.smoke, () => this.due());
	title = e("h1");
	when = e("p", { class: "when" });
	spans = en.map(([e, n]) => ({
		seconds: n,
		element: t(e, `Show the last ${e}`, () => this.showLast(n))
	}));
	now = t("Now", "Go to the present and follow it", () => this.goLive());
	scale = e("select", { "aria-label": "Delay scale" });
	adder = e("select", { "aria-label": "Add another series" });
	stage = e("div", {
		class: "stage",
		tabindex: "0",
		role: "application",
		"aria-label": tn
	});
	box = e("div", {
		class: "selection",
		hidden: ""
	});
	raised = e("p", {
		class: "raised",
		"aria-live": "polite",
		"aria-label": "Raised alerts",
		hidden: ""
	});
	ribbon = new Ie((e) => this.lookAt(e));
	trouble = e("p", {
		class: "trouble",
		role: "alert",
		hidden: ""
	});
	said = e("p", {
		class: "unseen",
		role: "status",
		"aria-live": "polite"
	});
	links = e("p", { class: "links" });
	table = e("details", { class: "card table" });
	eventList = new Le((e) => this.lookAt(e));
	heat = new Ve((e, t) => this.show({
		from: e,
		to: t
	}));
	path = new ft((e) => [...this.watch.targets.values()].find((t) => t.series === e)?.address ?? "");
	compare = new Ne();
	constructor(e) {
		this.watch = e, this.build(), this.listen();
	}
	build() {
		this.scale.append(...[
			["fit", "Linear, rare peaks clipped"],
			["whole", "Linear, up to the maximum"],
			["log", "Logarithmic"]
		].map(([t, n]) => e("option", { value: t }, n)));
		let n = e("div", {
			class: "tools",
			role: "toolbar",
			"aria-label": "View"
		});
		n.append(this.now, ...this.spans.map(({ element: e }) => e), e("span", { class: "gap" })), n.append(t("−", "Zoom out", () => this.zoomBy(1 / Y)), t("+", "Zoom in", () => this.zoomBy(Y)), this.scale, this.adder);
		let r = e("div", { class: "detail-head" }, e("div", {}, this.title, this.when, this.raised)), i = e("div", { class: "card over-time" }, n, this.trouble, this.stage, ln(), this.links, this.said);
		this.table.append(e("summary", {}, "View as a table")), this.element.append(r, i, this.table, this.path.element, this.eventList.element, this.heat.element, this.compare.element);
	}
	listen() {
		i(this.stage, {
			zoom: (e, t) => this.show(Xt(this.view, this.timeAt(e), t, X())),
			pan: (e) => this.show(Zt(this.view, e * this.secondsPerPixel, X())),
			select: ({ left: e, right: t }) => {
				this.selection = void 0, this.show(J({
					from: this.timeAt(e),
					to: this.timeAt(t)
				}, X()));
			},
			selecting: (e) => {
				this.selection = e, this.due();
			},
			point: (e) => this.pinned || this.point(this.timeAt(e)),
			leave: () => this.pinned || this.point(void 0),
			press: (e) => this.press(this.timeAt(e)),
			all: () => this.show(Xt(this.view, (this.view.from + this.view.to) / 2, 3, X()))
		}), this.stage.addEventListener("keydown", (e) => this.key(e)), this.scale.addEventListener("change", () => {
			this.kind = this.scale.value, this.due();
		}), this.adder.addEventListener("change", () => this.choose([...this.shown, Number(this.adder.value)])), this.table.addEventListener("toggle", () => this.showTable()), new ResizeObserver(() => this.layout()).observe(this.stage), xe(() => {
			this.due(), this.path.draw(), this.heat.draw(), this.compare.draw();
		});
	}
	async enter(e) {
		let t = this.shown.join() === e.series.join() && this.plots.length > 0;
		this.live = e.to === void 0, this.view = J(e.to === void 0 ? q(e.seconds, X()) : {
			from: e.to - e.seconds,
			to: e.to
		}, X()), this.shown = e.series, clearInterval(this.timer), this.timer = window.setInterval(() => this.tick(), 1e3), t || (this.rebuild(), this.all = await y.series().catch(() => this.all), this.rebuild()), this.due();
	}
	leave() {
		clearInterval(this.timer);
	}
	nameOf(e) {
		let t = this.all.find((t) => t.series === e), n = [...this.watch.targets.values()].find((t) => t.series === e);
		return t ? `${t.target} · ${t.probe}` : n ? `${n.name} · ${n.probe}` : `series ${e}`;
	}
	rebuild() {
		let n = [...this.shown, ...cn(this.all, this.shown)];
		this.plots = n.map((e) => {
			let n = rn[this.all.find((t) => t.series === e)?.unit ?? "seconds"], r = t("×", `Remove ${this.nameOf(e)}`, () => this.choose(this.shown.filter((t) => t !== e)));
			return new Vt(e, this.nameOf(e), n, this.shown.length > 1 && this.shown.includes(e) ? [r] : []);
		});
		let r = this.plots.at(-1);
		r && (r.isLast = !0), this.stage.classList.toggle("many", this.shown.length > 1), this.stage.replaceChildren(...this.plots.map((e) => e.element), this.ribbon.element, this.box);
		let i = this.shown.map((e) => this.nameOf(e));
		this.title.textContent = i.length > 2 ? `${i.length} series` : i.join(" and "), document.title = `${this.title.textContent} – Fathom watch`, this.showRaised();
		let a = this.all.filter((e) => !this.shown.includes(e.series));
		this.adder.replaceChildren(e("option", { value: "" }, "Add a series …"), ...a.map((t) => e("option", { value: String(t.series) }, `${t.target} · ${t.probe}`))), this.adder.hidden = a.length === 0;
		let o = this.all.find((e) => e.series === this.shown[0]);
		this.path.of(o?.target ?? "", this.all), this.heat.of(o?.unit === "seconds" ? o.series : void 0, i[0]), this.compare.of(o?.unit === "seconds" ? o.series : void 0, i[0]), this.layout();
	}
	choose(e) {
		location.hash = _t(e, this.view, this.live);
	}
	layout() {
		this.plots.forEach((e) => e.measure()), this.ribbon.measure(), this.due();
	}
	showRaised() {
		let e = [...this.watch.targets.values()].filter((e) => this.shown.includes(e.series)), t = [...new Set(e.flatMap((e) => e.alerts))];
		t.join() !== this.raisedNames && (this.raisedNames = t.join(), this.raised.hidden = t.length === 0, this.raised.replaceChildren(...ye(t)));
	}
	tick() {
		document.hidden || (this.showRaised(), this.live && (this.view = q(this.view.to - this.view.from, X())), this.due());
	}
	due() {
		this.isDue || (this.isDue = !0, requestAnimationFrame(() => this.draw()));
	}
	draw() {
		this.isDue = !1;
		let e = performance.now(), { from: t, to: n } = this.view, r = this.secondsPerPixel;
		this.tiles.want(this.plots.map((e) => e.series), t, n, r);
		let i = this.plots[0]?.axis.width ?? 0, a = me(t, n, Math.max(2, i / 84)), o = 0;
		for (let e of this.plots) {
			let i = this.tiles.pieces(e.series, t, n, r);
			o += i.reduce((e, t) => e + t.last - t.first, 0), e.draw(i, this.view, this.kind, a, this.tiles.trouble === "" ? "Loading …" : "");
		}
		this.ribbon.draw(this.events, t, n, this.plots[0]?.axis), this.drawCursor(), this.drawSelection(), this.tell(), Object.assign(this.stage.dataset, {
			ms: (performance.now() - e).toFixed(2),
			view: `${t} ${n}`,
			columns: String(o),
			loading: String(this.tiles.isLoading)
		}), this.settle();
	}
	settle() {
		clearTimeout(this.addressTimer), this.addressTimer = window.setTimeout(() => {
			history.replaceState(null, "", _t(this.shown, this.view, this.live)), this.showTable(), this.describe(), this.loadEvents(), this.path.around(this.view, this.events), this.heat.around(this.view), this.compare.around(this.view);
		}, 250);
	}
	async loadEvents() {
		let e = this.view.to - this.view.from, t = Math.max(60, e / 4), [n, r] = [Math.floor(this.view.from / t) * t - t, Math.ceil(this.view.to / t) * t + t], i = `${this.shown.join()} ${n} ${r} ${Math.floor(X() / 60)}`;
		if (i !== this.eventsOf) {
			this.eventsOf = i;
			try {
				let e = await y.events(Math.max(0, n), r);
				this.events = e.filter(({ series: e }) => e === null || this.shown.includes(e));
			} catch {
				this.eventsOf = "";
				return;
			}
			this.due();
		}
	}
	tell() {
		let { from: e, to: t } = this.view, n = I[L(this.secondsPerPixel)], r = t - e, i = r < 3600, a = this.live ? "until now" : `to ${x(e) === x(t) && r < 86400 ? b(t, i) : S(t, Math.min(n, 3600))}`, o = `${r < 86400 && (this.live || x(e) === x(t)) ? `${x(e)}, ${b(e, i)}` : S(e, Math.min(n, 3600))} ${a} (${C(r)})`;
		this.when.textContent !== o && (this.when.textContent = o), this.now.setAttribute("aria-pressed", String(this.live));
		for (let { seconds: e, element: t } of this.spans) t.setAttribute("aria-pressed", String(Math.abs(r / e - 1) < .01));
		this.trouble.hidden = this.tiles.trouble === "", this.trouble.textContent !== this.tiles.trouble && (this.trouble.textContent = this.tiles.trouble), this.link();
		let s = this.events.filter((n) => n.at_s <= t && (n.until_s ?? n.at_s) >= e);
		this.eventList.show(s, this.live);
	}
	link() {
		let [t] = this.shown, { from: n, to: r } = this.view, i = `${t} ${Math.round(n)} ${Math.round(r)}`;
		if (this.links.dataset.of === i) return;
		this.links.dataset.of = i;
		let a = ae(t, n, r, 1200), o = `/api/v1/samples?series=${t}&${v(n, r)}`, s = (t, n) => e("a", { href: t }, n);
		this.links.replaceChildren("This period as ", s(`${a}&format=csv`, "CSV"), " or ", s(a, "JSON"), "; every probe as ", s(`${o}&format=csv`, "CSV"), " or ", s(o, "JSON"), ".");
	}
	drawCursor() {
		let e = this.cursor !== void 0 && this.cursor >= this.view.from && this.cursor <= this.view.to;
		this.plots.forEach((t) => t.cursor(e ? this.cursor : void 0));
		let t = e && this.cursor !== void 0 ? S(this.cursor, I[L(this.secondsPerPixel)]) : "";
		this.stage.dataset.cursor = t, this.ribbon.cursor(e ? this.cursor : void 0, t);
	}
	drawSelection() {
		this.box.hidden = this.selection === void 0, this.selection && (this.box.style.left = `${this.selection.left}px`, this.box.style.width = `${this.selection.right - this.selection.left}px`);
	}
	describe() {
		for (let e of this.plots) {
			let t = e.readings().filter((e) => e.sent > 0), n = t.reduce((e, t) => e + t.sent, 0), r = t.reduce((e, t) => e + t.lost, 0), i = t.filter((e) => !Number.isNaN(e.max)).sort((e, t) => t.max - e.max)[0], a = i ? `Slowest at ${S(i.at, i.width)}: ${Ut(i, e.unit)}.` : "";
			e.describe(`${e.name}, ${this.when.textContent ?? ""}: ${n} probes, ${r} lost. ${a}`);
		}
	}
	showTable() {
		if (!this.table.open) return;
		let t = this.plots[0], n = t?.readings() ?? [], r = Math.ceil(n.length / nn), i = n.filter((e, t) => t % r === 0).map((n) => e("tr", {}, ...Kt(n, t.unit).map((t) => e("td", {}, t)))), a = e("thead", {}, e("tr", {}, ...Gt.map((t) => e("th", { scope: "col" }, t)))), o = e("div", { class: "scroll" }, e("table", {}, e("caption", {}, `${t?.name ?? ""}${r > 1 ? `: 1 of ${r} columns; the CSV has all` : ""}`), a, e("tbody", {}, ...i)));
		this.table.replaceChildren(e("summary", {}, "View as a table"), o);
	}
	show(e) {
		let t = X();
		this.view = J(e, t), this.live = Qt(this.view, t), this.due();
	}
	showLast(e) {
		if (this.live) this.show(q(e, X()));
		else {
			let t = this.pinned && this.cursor !== void 0 ? this.cursor : (this.view.from + this.view.to) / 2;
			this.show({
				from: t - e / 2,
				to: t + e / 2
			});
		}
	}
	goLive() {
		this.show(q(this.view.to - this.view.from, X()));
	}
	lookAt(e) {
		let t = e.until_s ?? e.at_s, n = Math.max((t - e.at_s) * .5, (this.view.to - this.view.from) / 4);
		this.pinned = !0, this.cursor = e.at_s, this.show({
			from: e.at_s - n,
			to: t + n
		}), this.said.textContent = `${S(e.at_s, 1)}: ${e.text}`, this.stage.scrollIntoView({ block: "nearest" });
	}
	zoomBy(e) {
		let { from: t, to: n } = this.view, r = this.cursor !== void 0 && this.cursor > t && this.cursor < n ? this.cursor : this.live ? n : (t + n) / 2;
		this.show(Xt(this.view, r, e, X()));
	}
	get secondsPerPixel() {
		return (this.view.to - this.view.from) / (this.plots[0]?.axis.width ?? 1);
	}
	timeAt(e) {
		return this.view.from + (e - (this.plots[0]?.axis.left ?? 0)) * this.secondsPerPixel;
	}
	point(e) {
		this.cursor = e, this.isDue || this.drawCursor();
	}
	press(e) {
		this.pinned = !this.pinned, this.point(e);
	}
	step(e) {
		let t = (this.plots[0]?.readings() ?? []).map((e) => e.at + e.width / 2), n = this.cursor ?? (e > 0 ? this.view.from : this.view.to), r = e > 0 ? t.find((e) => e > n + 1e-6) : t.reverse().find((e) => e < n - 1e-6);
		if (r === void 0) return;
		this.pinned = !0, this.point(r);
		let i = this.plots.map((e) => {
			let t = e.at(r);
			return (this.plots.length > 1 ? `${e.name}: ` : "") + (t ? Ut(t, e.unit) : "no data");
		});
		this.said.textContent = `${S(r, I[L(this.secondsPerPixel)])}. ${i.join(". ")}`;
	}
	key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		let t = this.view.to - this.view.from, n = (e) => this.show(Zt(this.view, e * t, X())), r = {
			ArrowLeft: () => e.shiftKey ? this.step(-1) : n(-.12),
			ArrowRight: () => e.shiftKey ? this.step(1) : n($t),
			ArrowUp: () => this.zoomBy(Y),
			ArrowDown: () => this.zoomBy(1 / Y),
			PageUp: () => n(-1),
			PageDown: () => n(1),
			"+": () => this.zoomBy(Y),
			"=": () => this.zoomBy(Y),
			"-": () => this.zoomBy(1 / Y),
			n: () => this.goLive(),
			End: () => this.goLive(),
			Escape: () => {
				this.pinned = !1, this.point(void 0);
			}
		}[e.key];
		r && (e.preventDefault(), r());
	}
}, on = "this host", sn = 6;
function cn(e, t) {
	return e.filter((e) => e.unit !== "seconds" && e.target === on && !t.includes(e.series)).slice(0, sn).map((e) => e.series);
}
function ln() {
	let t = (t, n) => e("span", {}, e("i", { class: `key ${t}` }), n), n = k.map(({ colour: e, name: n }) => t(e, n));
	return e("p", { class: "legend" }, e("b", {}, "Median:"), ...n, t("loss4", "all lost"), e("b", {}, "Other delays:"), t("smoke", "1st to 99th percentile (darker: 25th to 75th)"), t("envelope", "maximum"), t("cut", "above the scale"));
}
// src/watch/live.ts
var un = class {
	changed;
	source;
	targets = /* @__PURE__ */ new Map();
	troubles = [];
	connected = !1;
	isWhole = !1;
	constructor(e) {
		this.changed = e;
	}
	begin(e) {
		for (let t of e.targets) this.targets.set(Z(t), t);
	}
	start() {
		addEventListener("pagehide", () => this.source?.close()), addEventListener("pageshow", (e) => e.persisted && this.connect()), this.connect();
	}
	connect() {
		this.source = new EventSource("/api/v1/live"), this.source.addEventListener("targets", (e) => this.hear(JSON.parse(e.data))), this.source.addEventListener("open", () => this.turn(!0)), this.source.addEventListener("error", () => {
			this.turn(!1), this.source?.readyState === EventSource.CLOSED && setTimeout(() => this.connect(), 5e3);
		});
	}
	turn(e) {
		this.connected = e, this.changed();
	}
	hear(e) {
		e.all && this.targets.clear(), this.isWhole ||= e.all;
		for (let t of e.gone) this.targets.delete(t);
		for (let t of e.targets) this.targets.set(Z(t), t);
		e.troubles && (this.troubles = e.troubles), this.changed();
	}
};
function dn(e) {
	let t = e.getElementById("first")?.textContent;
	return t ? JSON.parse(t) : void 0;
}
function Z(e) {
	return `${e.name}\n${e.probe}`;
}
// src/watch/findings.ts
var fn = 86400, pn = 90 * fn, mn = 1500, hn = 36e5, gn = class {
	element = e("section", {
		class: "card findings",
		"aria-label": "Findings of the last 90 days",
		hidden: ""
	});
	timer = 0;
	asked = 0;
	enter() {
		clearTimeout(this.timer), this.timer = window.setTimeout(() => void this.refresh(), mn);
	}
	leave() {
		clearTimeout(this.timer);
	}
	async refresh() {
		if (this.timer = window.setTimeout(() => void this.refresh(), hn), Date.now() - this.asked < hn) return;
		this.asked = Date.now();
		let e = Math.floor(Date.now() / 1e3 / 3600) * 3600;
		try {
			let t = We(e - pn, e), n = t.slice(1).map(({ start: e }) => e);
			this.show(await y.findings(e - pn, e, t.map(({ offset: e }) => e).join(), n.join()));
		} catch {
			this.asked = 0;
		}
	}
	show(t) {
		this.element.hidden = t.length === 0;
		let n = e("ul", {}, ...t.map((e) => this.one(e)));
		this.element.replaceChildren(e("h2", {}, `Findings of the last ${pn / fn} days`), n);
	}
	one(t) {
		let n = t.figures.map(({ name: t, value: n }) => e("tr", {}, e("th", { scope: "row" }, t), e("td", {}, n))), r = e("p", { class: "seen" }, "Visible at ", ...t.stretches.map(({ from_s: n, to_s: r }) => {
			let i = Math.max((r - n) * 3, 3600), a = Math.min((n + r) / 2 + i / 2, Date.now() / 1e3);
			return e("a", { href: _t([t.series], {
				from: a - i,
				to: a
			}, !1) }, S(n, 60));
		}).flatMap((e, t) => t > 0 ? [", ", e] : [e])), i = t.probe === "icmp" ? t.target : `${t.target} · ${t.probe}`, a = e("details", {}, e("summary", {}, "Evidence"), e("table", {}, e("tbody", {}, ...n)), e("p", {}, `Refuted by: ${t.refuted_by}.`));
		return e("li", {}, e("p", {}, e("b", {}, i), " ", t.text, " ", e("small", {}, `certainty: ${t.certainty}`)), r, a);
	}
};
// src/watch/spark.ts
function _n(e, [t, n], r) {
	let i = Math.min(devicePixelRatio, 2);
	if (t === 0) return;
	let [a, o] = [Math.round(t * i), Math.round(n * i)];
	(e.width !== a || e.height !== o) && ([e.width, e.height] = [a, o]);
	let s = e.getContext("2d", { willReadFrequently: !0 });
	if (!s || (s.setTransform(i, 0, 0, i, 0, 0), s.clearRect(0, 0, t, n), !r)) return;
	let c = vn(r), l = t / r.median.length, u = (e) => 2 + (n - 7) * (1 - Math.min(e / c, 1));
	s.fillStyle = w("smoke3"), r.median.forEach((e, t) => {
		if (Number.isNaN(e)) return;
		let n = u(r.max[t]);
		s.fillRect(t * l, n, l + .3, Math.max(u(e) - n, 0));
	}), s.fillStyle = w("loss0"), r.median.forEach((e, t) => {
		Number.isNaN(e) || s.fillRect(t * l, u(e) - .8, l + .3, 1.6);
	}), r.lost.forEach((e, t) => {
		if (!(e > 0)) return;
		s.fillStyle = w(e === 1 ? "loss4" : "loss3");
		let r = e === 1 ? n : 3 + 6 * Math.sqrt(e);
		s.globalAlpha = e === 1 ? .45 : 1, s.fillRect(t * l, n - r, Math.max(l, 1), r), s.globalAlpha = 1;
	});
}
function vn(e) {
	let t = [...e.max].filter((e) => !Number.isNaN(e)).sort((e, t) => e - t), n = [...e.median].filter((e) => !Number.isNaN(e)), r = t[Math.floor(.95 * (t.length - 1))] ?? 0;
	return Math.max(2e-4, r * 1.1, 1.5 * n.reduce((e, t) => Math.max(e, t), 0));
}
// src/watch/overview.ts
var yn = 86400, bn = 144, xn = yn / bn, Sn = 48, Cn = {
	failing: {
		rank: 0,
		mark: "✕",
		name: "failing"
	},
	trouble: {
		rank: 1,
		mark: "!",
		name: "trouble"
	},
	unknown: {
		rank: 2,
		mark: "?",
		name: "unknown"
	},
	fine: {
		rank: 3,
		mark: "✓",
		name: "fine"
	}
}, wn = new Intl.Collator("en", { numeric: !0 }), Tn = (e) => Cn[e.state] ?? Cn.unknown, En = e("li", {}, e("a", { class: "row" }, e("span", {
	class: "mark",
	"aria-hidden": "true"
}), e("span", { class: "name" }, e("b"), e("small")), e("canvas", { "aria-hidden": "true" }), ...[
	"median",
	"p95",
	"lost"
].map((t) => e("span", { class: "figure" }, e("small", {}, t), "–")), e("span", { class: "state" }, e("i")))), Dn = class {
	element = En.cloneNode(!0);
	link = this.element.firstChild;
	mark = this.link.children[0];
	name = this.link.children[1];
	canvas = this.link.children[2];
	median = this.link.children[3];
	p95 = this.link.children[4];
	loss = this.link.children[5];
	state = this.link.children[6];
	shown = "";
	target;
	constructor(e) {
		this.target = e, this.show(e);
	}
	show(t) {
		this.target = t;
		let n = JSON.stringify(t);
		if (n === this.shown) return;
		this.shown = n;
		let { mark: r, name: i } = Tn(t), a = t.host === t.name ? t.probe : `${t.probe} · ${t.host}`;
		this.link.href = `#/targets/${t.series}`, this.link.dataset.state = t.state, this.mark.textContent = r, this.name.firstChild.textContent = t.name, this.name.lastChild.textContent = t.group ? `${t.group} · ${a}` : a;
		let o = t.sent > 0 ? t.lost / t.sent : NaN;
		On(this.median, t.median_s === null ? "–" : E(t.median_s, "seconds")), On(this.p95, t.p95_s === null ? "–" : E(t.p95_s, "seconds")), On(this.loss, A(o)), this.loss.classList.toggle("bad", o > 0);
		let s = [...this.reasons().map((t) => e("span", {}, t)), ...ye(t.alerts)];
		this.state.firstChild.textContent = i, (s.length > 0 || this.state.childElementCount > 1) && this.state.replaceChildren(this.state.firstChild, ...s);
	}
	reasons() {
		let { failing_since_s: e, reason: t } = this.target, n = [];
		if (e !== null) {
			let r = Date.now() / 1e3 - e;
			n.push(`since ${r < 86400 ? b(e, !1) : S(e, 60)}${t ? `: ${t}` : ""}`);
		} else t && n.push(t);
		return n;
	}
};
function On(e, t) {
	e.lastChild.data = t;
}
var kn = class {
	live;
	element = e("section", {
		class: "overview",
		"aria-label": "All targets"
	});
	filter = e("input", {
		type: "search",
		placeholder: "Filter by name, group, host or state",
		"aria-label": "Filter targets",
		autocomplete: "off",
		spellcheck: "false"
	});
	summary = e("p", {
		class: "summary",
		role: "status"
	});
	list = e("ul", { class: "rows" });
	none = e("div", {
		class: "card none",
		hidden: ""
	});
	choose = e("button", {
		type: "button",
		hidden: ""
	}, "Show together");
	rows = /* @__PURE__ */ new Map();
	findings = new gn();
	order = "";
	sparks = /* @__PURE__ */ new Map();
	seen = /* @__PURE__ */ new Set();
	watcher;
	timer = 0;
	rest = 0;
	isWhole = !1;
	constructor(t, n = "") {
		this.live = t, this.sparks = te(n);
		let r = /* @__PURE__ */ new Map();
		this.watcher = new IntersectionObserver((e) => {
			let t = [];
			for (let { target: n, isIntersecting: i } of e) {
				let e = r.get(n) ?? [...this.rows.values()].find((e) => e.element === n);
				e && (r.set(n, e), i ? this.seen.add(e) : this.seen.delete(e), i && t.push(e));
			}
			this.paint(t);
		}), this.filter.addEventListener("input", () => this.show()), this.choose.addEventListener("click", () => location.hash = `#/targets/${this.matching().slice(0, 12).map((e) => e.series).join(",")}`);
		let i = e("div", { class: "tools" }, this.filter, this.choose, this.summary), a = e("div", {
			class: "row heads",
			"aria-hidden": "true"
		});
		a.append(...[
			"",
			"Target",
			"Last 24 hours",
			"Median",
			"p95",
			"Lost",
			"State"
		].map((t) => e("span", {}, t))), this.element.append(e("h1", {}, "All targets"), i, a, this.list, this.none, this.findings.element);
	}
	enter() {
		this.show(), this.seen.size === 0 && this.paint([...this.rows.values()]), this.layout(), requestAnimationFrame(() => setTimeout(() => void this.refresh(), 0)), this.findings.enter(), clearInterval(this.timer), this.timer = window.setInterval(() => void this.refresh(), 3e4), new ResizeObserver(() => this.layout()).observe(this.list);
	}
	leave() {
		this.findings.leave(), clearInterval(this.timer);
	}
	layout() {
		this.paint([...this.seen]);
	}
	async refresh() {
		if (this.live.targets.size === 0 && this.sparks.size > 0) return;
		let e = Math.ceil(Date.now() / 1e3 / xn) * xn;
		try {
			this.sparks = await y.overview(e - yn, e, bn);
		} catch {
			return;
		}
		this.layout();
	}
	matching() {
		let e = this.filter.value.toLowerCase().split(/\s+/).filter((e) => e !== ""), t = (t) => {
			if (e.length === 0) return !0;
			let n = [
				t.name,
				t.group,
				t.host,
				t.address,
				t.probe,
				Tn(t).name,
				t.reason,
				...t.alerts
			].join(" ").toLowerCase();
			return e.every((e) => n.includes(e));
		};
		return An([...this.live.targets.values()].filter(t));
	}
	show() {
		let e = this.matching(), t = Math.ceil(innerHeight / Sn), n = this.isWhole ? e : e.slice(0, t);
		!this.isWhole && n.length > 0 && this.showRest();
		for (let e of n) {
			let t = this.rows.get(Z(e));
			t ? t.show(e) : this.add(e);
		}
		let r = n.map(Z).join("\0");
		r !== this.order && (this.order = r, this.list.replaceChildren(...n.map((e) => this.rows.get(Z(e)).element)));
		for (let [e, t] of this.rows) this.live.targets.has(e) || (this.rows.delete(e), this.seen.delete(t), this.watcher.unobserve(t.element));
		this.tell(e);
	}
	showRest() {
		clearTimeout(this.rest), requestAnimationFrame(() => {
			this.rest = window.setTimeout(() => {
				this.isWhole = !0, this.show();
			}, 0);
		});
	}
	add(e) {
		let t = new Dn(e);
		this.rows.set(Z(e), t), this.watcher.observe(t.element);
	}
	tell(t) {
		let n = [...this.live.targets.values()], r = (e) => n.filter((t) => t.state === e).length, i = [
			"failing",
			"trouble",
			"unknown",
			"fine"
		].map((e) => [r(e), Cn[e].name]).filter(([e]) => e > 0).map(([e, t]) => `${T(e)} ${t}`), a = `${T(n.length)} target${n.length === 1 ? "" : "s"}: ${i.join(", ")}`, o = t.length < n.length ? `${a}. ${T(t.length)} shown.` : `${a}.`, s = this.live.isWhole && n.length > 0;
		this.summary.textContent !== o && (this.summary.textContent = s ? o : ""), this.choose.hidden = t.length < 2 || t.length > 12, this.none.hidden = t.length > 0, t.length > 0 || this.none.replaceChildren(n.length > 0 ? e("p", {}, "No target matches the filter.") : e("p", {}, this.live.connected ? "No targets yet. Add targets to the configuration of fathom watch; they appear here immediately." : "Waiting for the server …"));
	}
	paint(e) {
		let t = e.map(({ canvas: e }) => [e.clientWidth, e.clientHeight]);
		e.forEach((e, n) => _n(e.canvas, t[n], this.sparks.get(e.target.series)));
	}
};
function An(e) {
	let t = (e) => e.state === "fine" || e.sent === 0 ? 0 : e.lost / e.sent, n = (e) => `${e.group} ${e.name} ${e.probe}`;
	return e.map((e) => ({
		target: e,
		rank: Tn(e).rank,
		lost: Math.round(t(e) * 20),
		name: n(e)
	})).sort((e, t) => e.rank - t.rank || t.lost - e.lost || wn.compare(e.name, t.name)).map(({ target: e }) => e);
}
// src/watch/main.ts
var jn = document.getElementById("watch"), Mn = document.getElementById("connection"), Nn = document.getElementById("troubles"), Q = new un(() => Ln()), Pn = dn(document);
Pn && Q.begin(Pn);
var Fn = new kn(Q, Pn?.sparks), $, In = 0;
function Ln() {
	Fn.show(), In = Q.connected ? 0 : In || Date.now(), zn(), Rn();
}
function Rn() {
	let t = Q.troubles.map((e) => `Since ${(/* @__PURE__ */ new Date(e.since_s * 1e3)).toLocaleString()}: ${e.text}`);
	Nn.hidden = t.length === 0, Nn.textContent !== t.join("") && Nn.replaceChildren(...t.map((t) => e("p", {}, t)));
}
function zn() {
	let e = In > 0 && Date.now() - In > 1500, t = e ? "The server cannot be reached; the data shown is out of date." : "";
	Mn.classList.toggle("lost", e), Mn.textContent !== t && (Mn.textContent = t);
}
function Bn() {
	let t = gt(location.hash);
	t.page === "overview" ? ($?.leave(), document.title = "Fathom watch", jn.replaceChildren(Fn.element), Fn.enter()) : (Fn.leave(), $ ??= new an(Q), $.element.parentElement !== jn && jn.replaceChildren(e("p", { class: "back" }, e("a", { href: "#/" }, "‹ All targets")), $.element), $.enter(t));
}
n(), Bn(), requestAnimationFrame(() => setTimeout(() => Q.start(), 0)), addEventListener("hashchange", Bn), setInterval(zn, 1e3);
