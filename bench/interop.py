#!/usr/bin/env python3
"""Tests the same emulated lines against servers of each protocol, and compares the latency under load with the true
delay of the queues and with a test against `fathom serve`.

Congestion control is not the same twice, so the queue of two tests differs, also against one server: `again` repeats
the first. Each test is therefore compared with the queues of the same phase, as the emulated line recorded them: what a
packet waited that was sent every 5 ms, and returned. Equal is a difference of at most 2 ms or 2 %.

fathom sends a probe every 50 ms. While a queue grows by 600 ms in half a second, few of them see what the median is
near to, so it depends on when the first was sent. `~` is a value that differs from the truth, but not from that of a
prober without any error: the range of those that begin 0, 5, ... 45 ms after the phase. It counts as a difference.

Servers: iperf3 and irtt (Debian), a web server with a file (Python's http.server), one with the URLs of LibreSpeed and
one with those of Cloudflare (in this file); `fathom serve --port 0 --with web,stamp` as a server of networkQuality (also with
TLS), ndt7 and STAMP. The load of irtt and STAMP is iperf3's.

  bench/interop.py [LINE ...]     as root; needs iperf3, irtt and openssl; exit code 1 if a latency differs by more
"""
import argparse
import bisect
import collections
import datetime
import http.server
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.parse

from common import FATHOM
from rpm import certificate

LINES = ["dsl", "cable", "fiber", "satellite", "gettys-2010", "seifried-2011"]
FAR, FILE_PORT, LIBRESPEED_PORT, CLOUDFLARE_PORT, OWN_PORT, STAMP_PORT = "198.19.0.2", 8000, 8001, 8002, 8003, 8004
FILE_BYTES = 100_000_000
SERVERS = {
    "fathom serve": FAR,
    "again": FAR,
    "iperf3": f"iperf3://{FAR}",
    "HTTP file": f"http://{FAR}:{FILE_PORT}/file",
    "LibreSpeed": f"http://{FAR}:{LIBRESPEED_PORT}/",
    "Cloudflare": f"http://{FAR}:{CLOUDFLARE_PORT}/",
    "networkQuality": f"http://{FAR}:{OWN_PORT}/",
    "networkQuality, TLS": f"https://{FAR}:{OWN_PORT}/",
    "ndt7": f"ndt7+ws://{FAR}:{OWN_PORT}",
    "irtt": f"irtt://{FAR} --load iperf3://{FAR}",
    "STAMP": f"stamp://{FAR}:{STAMP_PORT} --load iperf3://{FAR}",
}
RATIO, DIFFERENCE_S = 0.02, 0.002
EVERY_S, PROBERS = 0.005, 10


class Files(http.server.BaseHTTPRequestHandler):
    """Sends as many bytes as a request asks for, and discards what it gets."""

    protocol_version = "HTTP/1.1"
    download, upload, parameter, unit = "", "", "", 1

    def log_message(self, *_):
        pass

    def answer(self, status, size):
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        block = bytes(1 << 16)
        while size > 0:
            size -= self.wfile.write(block[: min(size, len(block))])

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)
        if url.path == self.download and self.parameter in query:
            self.answer(200, int(query[self.parameter][0]) * self.unit)
        else:
            self.answer(200 if url.path in (self.download, self.upload) else 404, 0)

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 16)))
        self.answer(200, 0)


class LibreSpeed(Files):
    download, upload, parameter, unit = "/backend/garbage.php", "/backend/empty.php", "ckSize", 1 << 20


class Cloudflare(Files):
    download, upload, parameter = "/__down", "/__up", "bytes"


def serve():
    """Runs both servers until they are killed. Clients end their connections at any time."""
    for port, handler in ((LIBRESPEED_PORT, LibreSpeed), (CLOUDFLARE_PORT, Cloudflare)):
        server = http.server.ThreadingHTTPServer(("", port), handler)
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever).start()


def wait():
    """Waits until the web servers listen, at most 10 s."""
    until = time.monotonic() + 10
    for port in (FILE_PORT, LIBRESPEED_PORT, CLOUDFLARE_PORT, OWN_PORT):
        while time.monotonic() < until:
            try:
                socket.create_connection((FAR, port), 1).close()
                break
            except OSError:
                pass


def seconds(moment):
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def test(line, server, command, folder, authority, key):
    """The result of a test on a line, with a command at its far end, and what the line recorded."""
    script, truth = os.path.abspath(__file__), os.path.join(folder, f"{line}.json")
    own = f"{FATHOM} serve --port 0 --with web --web-port {OWN_PORT} --certificate {key[0]} --key {key[1]}"
    # iperf3 would count a connection that only tries its port as a client, so it listens before the others.
    far = (
        f"iperf3 -s >/dev/null 2>&1 & irtt server >/dev/null 2>&1 & {own} >/dev/null & exec 2>/dev/null; "
        f"stamp-suite --is-reflector --local-port {STAMP_PORT} >/dev/null & {command} "
        f"python3 -m http.server -d {folder} {FILE_PORT} >/dev/null & exec python3 {script} --serve"
    )
    test = f"env SSL_CERT_FILE={authority} {FATHOM} test {server} --json --no-save --phases idle,down,up,drain --max-phase 20s"
    near = f"python3 {script} --wait && exec {test}"
    command = [FATHOM, "lab", "-q", "--line", line, "-o", truth, "--far", far, "--", "sh", "-c", near]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    with open(truth) as file:
        return json.loads(done.stdout), json.load(file)


class Queue:
    """What packets waited in a queue, by when they came."""

    def __init__(self, series):
        # The line records a packet when it leaves.
        self.waits = [value * 1e9 for value in series["values"]]
        self.times = [at - wait for at, wait in zip(series["at_ns"], self.waits)]

    def wait(self, at_ns):
        """Of a packet that comes then: between those of the packets before and after it. If they are far apart, the
        queue has drained since the one before."""
        after = bisect.bisect(self.times, at_ns)
        if after in (0, len(self.times)):
            return self.waits[max(after - 1, 0)] if self.waits else 0
        before = after - 1
        since, width = at_ns - self.times[before], self.times[after] - self.times[before]
        if width > 200e6:
            return max(self.waits[before] - since, 0)
        share = since / width
        return self.waits[before] * (1 - share) + self.waits[after] * share


class Line:
    """The queues of a line, and the time to each of them if all are empty, in ns."""

    def __init__(self, name, truth):
        with open(f"scenarios/{name}.toml", "rb") as file:
            hops = tomllib.load(file)["hop"]
        queues = {(s["scope"], s["direction"]): Queue(s) for s in truth["series"] if s["metric"] == "sojourn_s"}
        self.queues, way = [], 0
        for direction in ("up", "down"):
            for hop in hops if direction == "up" else reversed(hops):
                if (hop["name"], direction) in queues:
                    self.queues.append((way, queues[hop["name"], direction]))
                way += nanoseconds(hop[direction]["delay"])

    def wait(self, at_ns):
        """What a packet waits in all queues that is sent then, and the answer to it."""
        waited = 0
        for way, queue in self.queues:
            waited += queue.wait(at_ns + way + waited)
        return waited


def nanoseconds(delay):
    number, unit = re.fullmatch(r"([\d.]+)([mu]s)", delay).groups()
    return float(number) * {"ms": 1e6, "us": 1e3}[unit]


def quantiles(values):
    """The smallest values that as many do not exceed (RFC 2330, section 11.3)."""
    ordered = sorted(values)
    return [ordered[math.ceil(p * len(ordered)) - 1] for p in (0.5, 0.9)]


def increases(result, truth, name, scenario):
    """Median and 90th percentile of the latency of a phase, less the idle median, in s: each with the true one, and
    those of probers without error."""
    phases = {phase["phase"]: phase for phase in result["summary"]["phases"]}
    phase = phases.get(name, {})
    if "latency" not in phase:
        return None
    idle = phases["idle"]["latency"]["p50_s"]
    seen = [phase["latency"][key] - idle for key in ("p50_s", "p90_s")]
    begin = seconds(result["started"]) - seconds(truth["started"]) + phase["start_s"]
    times = [(begin + i * EVERY_S) * 1e9 for i in range(int(phase["duration_s"] / EVERY_S))]
    line = Line(scenario, truth)
    waits = [line.wait(at) / 1e9 for at in times]
    probers = zip(*(quantiles(waits[first::PROBERS]) for first in range(PROBERS)))
    return zip(seen, quantiles(waits), probers)


def mark(seen, true, probers):
    """How a value differs from the truth: not, as that of a prober without error may, or by more."""
    def is_equal(one, other):
        return abs(one - other) <= max(DIFFERENCE_S, RATIO * other)
    if is_equal(seen, true):
        return " "
    nearest = min(max(seen, min(probers)), max(probers))
    return "~" if is_equal(seen, nearest) else "*"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", nargs=3, action="append", default=[])
    parser.add_argument("lines", nargs="*", default=LINES)
    wanted = parser.parse_args()
    others = {name: (url, f"{command} >/dev/null &") for name, url, command in wanted.server}
    servers = {"fathom serve": (FAR, ""), **others} if others else {name: (url, "") for name, url in SERVERS.items()}
    marks = collections.Counter()
    head = "".join(f"{direction + ': p50':>15}{'true':>8}{'p90':>9}{'true':>8}" for direction in ("download", "upload"))
    print(f"{'line':15}{'server':20}{head}   ms more than idle; ~, * differ from the truth")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        authority, *key = certificate(folder, FAR)
        with open(f"{folder}/file", "wb") as file:
            file.write(os.urandom(FILE_BYTES))
        for line in wanted.lines:
            for name, (url, command) in servers.items():
                result, truth = test(line, url, command, folder, authority, key)
                text = f"{line:15}{name:20}"
                for phase in ("down", "up"):
                    found = increases(result, truth, phase, line)
                    if found is None:
                        text += f"{'-':>15}{'-':>8}{'-':>9}{'-':>8}"
                        continue
                    for (seen, true, probers), width in zip(found, (15, 9)):
                        how = mark(seen, true, probers)
                        marks[how] += 1
                        text += f"{seen * 1e3:>{width - 1}.1f}{how}{true * 1e3:>8.1f}"
                print(text, flush=True)
    print(f"{marks[' ']} of {marks.total()} equal the truth, {marks['~']} differ as a prober without error may")
    return 1 if marks["~"] or marks["*"] else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
        threading.Event().wait()
    if sys.argv[1:] == ["--wait"]:
        sys.exit(wait())
    sys.exit(main())
