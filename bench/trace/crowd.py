#!/usr/bin/env python3
"""`fathom trace` on captures of 200 concurrent uploads with heavy loss, plus short flows: rate and
buffer of a known line.

A lab line (many.py) with a byte FIFO that is full most of the time, captured at the client, on both
sides of the bottleneck and at the server. Captures are made once and kept in --cache. Limits: rate
1 %, buffer 2 %, both reported for each capture; side and AQM correct where reported. Each value is
printed with its reported uncertainty. Exit code 1 if a limit is missed. Needs root and iperf3;
takes about three minutes.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import many
from common import FATHOM

# Mbit/s, bytes of the buffer, congestion control of the uploads.
CELLS = [(50, 1_000_000, "cubic"), (50, 1_000_000, "bbr"), (200, 5_000_000, "cubic"), (200, 5_000_000, "bbr")]
POINTS = {"client": "after_capture", "hop1-near": "before_capture", "hop1-far": "before_capture", "server": "before_capture"}
RATE_LIMIT, BUFFER_LIMIT, SECONDS = 0.01, 0.02, 20


def reported(path):
    """The largest queue of a capture."""
    done = subprocess.run([FATHOM, "trace", path, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{FATHOM} trace {path} --json: exit {done.returncode}\n{done.stderr}")
    return next(iter(json.loads(done.stdout)["capture"]["queues"]), {})


def off(value, true, limit):
    """The error as text, and whether it exceeds the limit. A missing value does too: the queue was
    full all the time.
    """
    if not value:
        return "-", True
    error, may_be = value["value"] / true - 1, value["error"] / value["value"]
    return f"{error:+.2%} ({may_be:.2%})", abs(error) > limit


def judge(name, point, queue, truth, drops):
    rate, rate_is_off = off(queue.get("rate_bits_per_second"), truth[0] * 1e6, RATE_LIMIT)
    buffer, buffer_is_off = off(queue.get("buffer_bytes"), truth[1], BUFFER_LIMIT)
    place, management = queue.get("place"), (queue.get("management") or {}).get("kind")
    wrong = place not in (POINTS[point], "round_trip", None) or management not in ("tail_drop", None)
    is_beyond = rate_is_off or buffer_is_off or wrong
    print(f"{name:<22}{point:<11}{drops:>9}{rate:>18}{buffer:>18}  {place or '-':<16}{management or '-':<14}{'BEYOND' if is_beyond else ''}", flush=True)
    return is_beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default="/var/tmp/fathom-bench-trace")
    args = parser.parse_args()
    print(f"{'line':<22}{'captured':<11}{'dropped':>9}{'rate (bound)':>18}{'buffer (bound)':>18}  {'side':<16}AQM")
    beyond = 0
    for mbit, buffer_bytes, control in CELLS:
        name = f"{mbit}-{buffer_bytes}-{control}"
        folder = os.path.join(args.cache, f"crowd-{name}")
        if not os.path.exists(os.path.join(folder, "truth.json")):
            many.record(folder, f"{mbit}mbit", buffer_bytes, SECONDS, control)
        with open(os.path.join(folder, "truth.json")) as file:
            queues = json.load(file)["queues"]
        drops = sum(queue["dropped_packets"] for queue in queues)
        for point in POINTS:
            beyond += judge(name, point, reported(os.path.join(folder, f"{point}.pcap")), (mbit, buffer_bytes), drops)
    print(f"\n{beyond} outside the limits")
    return beyond > 0


if __name__ == "__main__":
    raise SystemExit(main())
