var e = [
	"between",
	"idle",
	"down",
	"up",
	"both",
	"drain",
	"over",
	"paused"
], t = (t) => {
	if (t.byteLength !== 32) return;
	let n = new DataView(t), r = e[n.getUint8(1)];
	if (n.getUint8(0) !== 1 || r === void 0) return;
	let i = (e) => n.getUint32(e);
	return {
		stage: r,
		phase: n.getUint16(2),
		sequence: i(4),
		elapsedMs: i(8),
		answeredMs: i(12),
		delayUs: i(16),
		downKbit: i(20),
		upKbit: i(24),
		movedKilobytes: i(28)
	};
}, n = (e) => {
	let t = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(48));
	return t.setUint8(0, 1), t.setUint8(1, Number(e.isHidden)), [
		e.sequence,
		e.received,
		e.lateUs
	].forEach((e, n) => t.setUint32(4 + 4 * n, e)), [
		e.receivedUs,
		e.sentUs,
		e.downBytes,
		e.countedUs
	].forEach((e, n) => t.setBigUint64(16 + 8 * n, BigInt(Math.max(0, Math.round(e))))), t.buffer;
}, r = () => (performance.timeOrigin + performance.now()) * 1e3, i = 10, a = 4294967295, o = class {
	channel;
	pass;
	received = 0;
	count = {
		bytes: 0,
		atUs: 0
	};
	late = 0;
	isHidden = !1;
	waiting = [];
	timer;
	constructor(e, t) {
		this.channel = e, this.pass = t, e.binaryType = "arraybuffer", e.onmessage = ({ data: e }) => this.take(e);
		let n = r() + i * 1e3;
		this.timer = setInterval(() => {
			let e = r();
			this.late = Math.max(this.late, e - n), n = Math.max(n, e) + i * 1e3, this.answer();
		}, i);
	}
	setCount(e) {
		this.count = e;
	}
	setHidden(e) {
		this.isHidden = e;
	}
	close() {
		clearInterval(this.timer), this.channel.onmessage = null;
	}
	take(e) {
		let n = r(), i = e instanceof ArrayBuffer ? t(e) : void 0;
		i && (this.received += 1, this.waiting.push({
			sequence: i.sequence,
			received: this.received,
			receivedUs: n
		}), this.answer(), this.pass(i));
	}
	answer() {
		let e = this.channel.bufferedAmount === 0 ? this.waiting.shift() : void 0;
		e && (this.channel.send(n({
			...e,
			lateUs: Math.min(a, Math.max(0, Math.round(this.late))),
			sentUs: r(),
			downBytes: this.count.bytes,
			countedUs: this.count.atUs,
			isHidden: this.isHidden
		})), this.late = 0);
	}
};
// src/speed/probe.ts
onmessage = ({ data: e }) => {
	let { loads: t } = e, n = "url" in e ? new WebSocket(e.url) : e.channel, r = new o(n, (e) => {
		t.postMessage(e.stage), postMessage(e);
	});
	onmessage = ({ data: e }) => r.setHidden(e), t.onmessage = (e) => r.setCount(e.data), n.onopen = () => postMessage("open"), n.onerror = () => postMessage("failed"), n.onclose = () => postMessage("closed");
};
