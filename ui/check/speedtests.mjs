// Runs the speed test of another program in a headless browser against a web server of `fathom serve`, and prints its
// result as JSON (rates in bit/s, latency in s):
//     node check/speedtests.mjs cloudflare|cloudflare-short|ndt7|librespeed http[s]://HOST:PORT [--firefox]
// LibreSpeed is no package: LIBRESPEED is the directory with its speedtest.js and speedtest_worker.js.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";
import { Firefox } from "./firefox.mjs";

const [client, server, ...flags] = process.argv.slice(2);
const packages = new URL("../node_modules/", import.meta.url);
const librespeedFolder = pathToFileURL(`${process.env.LIBRESPEED ?? "."}/`).href;
const FILES = {
  "/speedtest.js": `${librespeedFolder}speedtest.js`,
  "/speedtest_worker.js": `${librespeedFolder}speedtest_worker.js`,
  "/cloudflare.js": "@cloudflare/speedtest/dist/speedtest.js",
  "/ndt7.js": "@m-lab/ndt7/src/ndt7.js",
  "/ndt7-download-worker.js": "@m-lab/ndt7/src/ndt7-download-worker.js",
  "/ndt7-upload-worker.js": "@m-lab/ndt7/src/ndt7-upload-worker.js",
};

/** Runs in the page. The measurements of the package without packet loss, for which no server exists here. */
const cloudflare = async (server, measurements) => {
  const { default: SpeedTest } = await import("/cloudflare.js");
  const urls = { downloadApiUrl: `${server}/__down`, uploadApiUrl: `${server}/__up` };
  const test = new SpeedTest({ ...urls, logAimApiUrl: null, measurements, autoStart: false });
  const results = await new Promise((done, fail) => {
    test.onFinish = done;
    test.onError = (error) => fail(new Error(error));
    test.play();
  });
  const { download, upload, latency, downLoadedLatency, upLoadedLatency } = results.getSummary();
  const [idle, down, up] = [latency, downLoadedLatency, upLoadedLatency].map((ms) => ms / 1e3);
  return { download, upload, idle, down, up };
};

/** Runs in the page. Latency is the round-trip time of the server's TCP. */
const ndt7 = async (server) => {
  const script = document.createElement("script");
  script.src = "/ndt7.js";
  await new Promise((done) => document.head.append(Object.assign(script, { onload: done })));
  const ends = {};
  const code = await window.ndt7.test(
    { server: new URL(server).host, protocol: server.startsWith("https:") ? "wss" : "ws", mlabDataPolicyInapplicable: true },
    { downloadComplete: (end) => (ends.down = end), uploadComplete: (end) => (ends.up = end) },
  );
  if (code !== 0) throw new Error(`ndt7 ended with ${code}`);
  const tcp = (end) => end.LastServerMeasurement.TCPInfo;
  return {
    download: ends.down.LastClientMeasurement.MeanClientMbps * 1e6,
    upload: (tcp(ends.up).BytesReceived * 8e6) / tcp(ends.up).ElapsedTime,
    idle: tcp(ends.down).MinRTT / 1e6,
    down: tcp(ends.down).RTT / 1e6,
    up: tcp(ends.up).RTT / 1e6,
  };
};

/** Runs in the page, as LibreSpeed's own page does. It measures no latency under load. */
const librespeed = async (server) => {
  const script = document.createElement("script");
  script.src = "/speedtest.js";
  await new Promise((done) => document.head.append(Object.assign(script, { onload: done })));
  const test = new Speedtest();
  const paths = { url_dl: "garbage.php", url_ul: "empty.php", url_ping: "empty.php", url_getIp: "getIP.php" };
  for (const [name, path] of Object.entries(paths)) test.setParameter(name, `${server}/backend/${path}`);
  test.setParameter("mpot", true);
  test.setParameter("telemetry_level", 0);
  const last = await new Promise((done) => {
    let data = {};
    test.onupdate = (update) => (data = update);
    test.onend = () => done(data);
    test.start();
  });
  return { download: last.dlStatus * 1e6, upload: last.ulStatus * 1e6, idle: last.pingStatus / 1e3 };
};

const sets = (type, list) => list.map(([bytes, count]) => ({ type, bytes, count }));
const latency = { type: "latency", numPackets: 20 };
/** Those of the package (README of @cloudflare/speedtest 1.14). */
const whole = [
  latency,
  ...sets("download", [[1e5, 9], [1e6, 8]]),
  ...sets("upload", [[1e5, 8], [1e6, 6]]),
  ...sets("download", [[1e7, 6]]),
  ...sets("upload", [[1e7, 4]]),
  ...sets("download", [[2.5e7, 4]]),
  ...sets("upload", [[2.5e7, 4]]),
  ...sets("download", [[1e8, 3]]),
  ...sets("upload", [[5e7, 3]]),
  ...sets("download", [[2.5e8, 2]]),
];
/** Two seconds each at 20 and 5 Mbit/s. */
const short = [latency, ...sets("download", [[5e6, 2]]), ...sets("upload", [[1.25e6, 2]])];
const runs = {
  cloudflare: [cloudflare, whole],
  "cloudflare-short": [cloudflare, short],
  ndt7: [ndt7],
  librespeed: [librespeed],
};
if (!runs[client] || !server) {
  console.error(`usage: node check/speedtests.mjs ${Object.keys(runs).join("|")} http[s]://HOST:PORT`);
  process.exit(2);
}

/** Whether the server accepts a connection. */
const listens = ({ hostname, port }) =>
  new Promise((done) => {
    const socket = connect(Number(port), hostname.replace(/[[\]]/g, ""));
    socket.on("connect", () => done(true)).on("error", () => done(false)).end();
  });
for (let tries = 0; tries < 200 && !(await listens(new URL(server))); tries++) {
  await new Promise((done) => setTimeout(done, 50));
}

const pages = createServer((request, response) => {
  const file = FILES[request.url.split("?")[0]];
  response.setHeader("content-type", file ? "text/javascript" : "text/html");
  response.end(file ? readFileSync(new URL(file, packages)) : "<!doctype html><title>speed test</title>");
});
await new Promise((done) => pages.listen(0, "127.0.0.1", done));
const browser = flags.includes("--firefox") ? await Firefox.open() : await Browser.open("--ignore-certificate-errors");
try {
  await browser.goto(`http://127.0.0.1:${pages.address().port}/`);
  const [run, measurements = null] = runs[client];
  const result = await browser.evaluate(`(${run})(${JSON.stringify(server)}, ${JSON.stringify(measurements)})`);
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
  pages.close();
}
