#!/usr/bin/env python3
"""Runs the whole measurements of @cloudflare/speedtest and @m-lab/ndt7 in a headless Chromium, over emulated lines,
against `fathom serve --with web`, next to `fathom test` of the same server.

Latency is the median that each tool reports: idle, then under load in each direction. Of ndt7 it is the last smoothed
round-trip time of the server's TCP, and the minimum for idle.

  bench/browsers.py [LINE ...]     as root, after ui/verify; exit code 1 if a rate is not 80 to 100 % of the line's
"""
import json
import os
import subprocess
import sys

from common import FATHOM

LINES = {"dsl": (16e6, 1e6), "cable": (100e6, 10e6)}
FAR, PORT = "198.19.0.2", 8003
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ui/check/speedtests.mjs")
CLIENTS = [("fathom", "http"), ("cloudflare", "http"), ("cloudflare", "https"), ("ndt7", "http")]
# Wires carry headers too.
SHARES = (0.8, 1.0)


def over(line, command):
    """The JSON document that a command prints in one line at the near end of a line."""
    far = f"{FATHOM} serve --port 0 --with web --web-port {PORT} >&2"
    whole = [FATHOM, "lab", "-q", "--line", line, "--far", far, "--", "sh", "-c", command]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=300)
    documents = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    if not documents:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return documents[0]


def measure(line, client, scheme):
    """Rates in bit/s and latencies in s."""
    url = f"{scheme}://{FAR}:{PORT}"
    if client != "fathom":
        return over(line, f"node {SCRIPT} {client} {url}")
    wait = f"until curl -s -o /dev/null {url}/nq/small; do sleep 0.1; done"
    document = over(line, f"{wait}; {FATHOM} test {url}/ --json --no-save --phases idle,down,up | tr -d '\\n'")
    phases = {phase["phase"]: phase for phase in document["summary"]["phases"]}
    return {
        "download": phases["down"]["goodput_down_bits_per_second"],
        "upload": phases["up"]["goodput_up_bits_per_second"],
        **{name: phases[name]["latency"]["p50_s"] for name in ("idle", "down", "up")},
    }


def main():
    failed = 0
    print(f"{'line':8}{'client':20}{'down':>8}{'up':>8} Mbit/s{'idle':>8}{'down':>8}{'up':>8} ms")
    for line in sys.argv[1:] or LINES:
        for client, scheme in CLIENTS:
            result = measure(line, client, scheme)
            rates = [result[name] for name in ("download", "upload")]
            latencies = [result[name] for name in ("idle", "down", "up")]
            failed += any(not SHARES[0] <= rate / of <= SHARES[1] for rate, of in zip(rates, LINES[line]))
            text = "".join(f"{rate / 1e6:8.2f}" for rate in rates) + " " * 7
            text += "".join(f"{latency * 1e3:8.1f}" for latency in latencies)
            print(f"{line:8}{client + ', ' + scheme:20}{text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
