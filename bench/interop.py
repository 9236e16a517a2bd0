#!/usr/bin/env python3
"""Tests the same emulated lines against servers of other protocols, and compares the latency under
load with that of a test against `fathom serve`.

Servers: iperf3 and irtt (Debian), a web server with a file (Python's http.server), one with the URLs
of LibreSpeed (in this file), and `fathom serve --with web` as a networkQuality server. `again` repeats the test against `fathom serve`: the spread of equal tests.
A difference of at most 2 % or 2 ms is equal. Of a download, the web servers choose the congestion
control; in the lab it is the same.

  bench/interop.py [LINE ...]     as root; needs iperf3 and irtt; exit code 1 if a median differs by more
"""
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from common import FATHOM

LINES = ["dsl", "cable", "fiber", "satellite", "gettys-2010", "seifried-2011"]
FAR, WEB_PORT, SPEED_PORT, OWN_PORT = "198.19.0.2", 8000, 8001, 8002
FILE_BYTES = 100_000_000
SERVERS = {
    "fathom serve": FAR,
    "again": FAR,
    "iperf3": f"iperf3://{FAR}",
    "HTTP file": f"http://{FAR}:{WEB_PORT}/file",
    "LibreSpeed": f"http://{FAR}:{SPEED_PORT}/",
    "networkQuality": f"http://{FAR}:{OWN_PORT}/",
    "irtt + iperf3": f"irtt://{FAR} --load iperf3://{FAR}",
}
RATIO, DIFFERENCE_S = 0.02, 0.002


class LibreSpeed(http.server.BaseHTTPRequestHandler):
    """`garbage.php` and `empty.php`."""

    protocol_version = "HTTP/1.1"

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
        if url.path == "/backend/garbage.php":
            self.answer(200, int(urllib.parse.parse_qs(url.query)["ckSize"][0]) << 20)
        else:
            self.answer(200 if url.path == "/backend/empty.php" else 404, 0)

    def do_POST(self):
        left = int(self.headers["Content-Length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 16)))
        self.answer(200, 0)


def serve():
    """Runs the LibreSpeed server until it is killed. Clients end their connections at any time."""
    server = http.server.ThreadingHTTPServer(("", SPEED_PORT), LibreSpeed)
    server.handle_error = lambda *_: None
    server.serve_forever()


def wait():
    """Waits until the web servers listen, at most 10 s."""
    until = time.monotonic() + 10
    for port in (WEB_PORT, SPEED_PORT, OWN_PORT):
        while time.monotonic() < until:
            try:
                socket.create_connection((FAR, port), 1).close()
                break
            except OSError:
                pass


def test(line, server, folder):
    """The summary of a test on a line."""
    far = (
        f"iperf3 -s >/dev/null 2>&1 & irtt server >/dev/null 2>&1 & "
        f"{FATHOM} serve --port 0 --with web --web-port {OWN_PORT} >/dev/null 2>&1 & exec 2>/dev/null; python3 -m http.server -d {folder} {WEB_PORT} >/dev/null & "
        f"exec python3 {os.path.abspath(__file__)} --serve"
    )
    test = f"{FATHOM} test {server} --json --no-save --phases idle,down,up,drain --max-phase 20s"
    # iperf3 listens before Python does, and a connection of this kind would count as a client.
    command = [FATHOM, "lab", "--line", line, "--far", far, "--", "sh", "-c", f"python3 {os.path.abspath(__file__)} --wait && exec {test}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["summary"]


def latency(summary, phase):
    """Median and 90th percentile of a phase, in s."""
    found = [p["latency"] for p in summary["phases"] if p["phase"] == phase]
    return (found[0]["p50_s"], found[0]["p90_s"]) if found else None


def main():
    lines, differs = sys.argv[1:] or LINES, 0
    print(f"{'line':14}{'server':16}{'download: p50':>14}{'p90':>8}{'upload: p50':>14}{'p90':>8}   ms; * differs from fathom serve")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(f"{folder}/file", "wb") as file:
            file.write(os.urandom(FILE_BYTES))
        for line in lines:
            reference = {}
            for name, server in SERVERS.items():
                summary, text = test(line, server, folder), f"{line:14}{name:16}"
                for phase in ("down", "up"):
                    seen = latency(summary, phase)
                    own = reference.setdefault(phase, seen)
                    for column, width in ((0, 14), (1, 8)):
                        if seen is None:
                            text += f"{'-':>{width}}"
                            continue
                        off = abs(seen[column] - own[column])
                        is_equal = off <= max(DIFFERENCE_S, RATIO * own[column])
                        differs += not is_equal and column == 1
                        text += f"{seen[column] * 1e3:>{width - 1}.1f}{' ' if is_equal else '*'}"
                print(text, flush=True)
    return 1 if differs else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    if sys.argv[1:] == ["--wait"]:
        sys.exit(wait())
    sys.exit(main())
