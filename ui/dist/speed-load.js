// src/speed/messages.ts
var e = () => (performance.timeOrigin + performance.now()) * 1e3, t = 4, n = 100, r = 200, i = 1 << 20, a = 32, o = 65536, s = "", c = "between", l = new AbortController(), u = 0, d = () => {
	let e = new Uint8Array(i);
	for (let t = 0; t < i; t += o) crypto.getRandomValues(e.subarray(t, t + o));
	return new Blob(Array.from({ length: a }, () => e));
}, f, p = async (e) => {
	let t = await fetch(s, {
		signal: e,
		cache: "no-store"
	}), n = t.ok ? t.body?.getReader() : void 0;
	if (!n) throw Error(`status ${t.status}`);
	for (;;) {
		let { done: e, value: t } = await n.read();
		if (e) return;
		u += t.length;
	}
}, m = async (e) => {
	f ??= d();
	let t = await fetch(s, {
		method: "POST",
		body: f,
		signal: e,
		cache: "no-store"
	});
	if (!t.ok) throw Error(`status ${t.status}`);
}, h = async (e, t) => {
	for (; !t.aborted;) await e(t).catch(() => t.aborted || new Promise((e) => setTimeout(e, r)));
}, g = (e) => e === "down" ? Array.from({ length: t }, () => p) : e === "up" ? Array.from({ length: t }, () => m) : e === "both" ? Array.from({ length: 6 }, (e, t) => t % 2 ? m : p) : [], _ = (e) => {
	if (e === c) return;
	c = e, l.abort(), l = new AbortController();
	let { signal: t } = l;
	g(e).forEach((e) => void h(e, t));
};
onmessage = ({ data: t }) => {
	s = t.url;
	let { probes: r } = t;
	r.onmessage = (e) => _(e.data), setInterval(() => r.postMessage({
		bytes: u,
		atUs: e()
	}), n);
};
