#!/usr/bin/env python3
"""Compares the simulator with the lab: working latency and goodput of the same scenario in both.

Twenty-four scenarios with one bottleneck: rates of 3, 10 and 50 Mbit/s; tail drop with 100 ms,
CoDel, FQ-CoDel and PIE; one flow or four; CUBIC or Reno; up or down. `--quick` runs every fourth.
Results cover the load without its first 10 s, because slow start ends at random. A real-time lab
needs its CPUs: a cell during which the host of a virtual machine withheld more than 1 % of them is
repeated, at most twice; the last run counts, and that share is printed. The lab sends more probes
(TCP and HTTP in addition to UDP and ICMP), which takes a few percent of a slow line.
"""
import concurrent.futures
import itertools
import json
import subprocess
import sys
import tempfile

from common import FATHOM, percentile, phase, series

# Concurrent scenarios: none needs much CPU.
AT_ONCE = 3
SKIPPED_S = 10
# Maximum share of steal time, and maximum runs of a cell to stay below it.
MOST_STOLEN, RUNS = 0.01, 3
# Within 5 %, or this many ms, or the transmission time of a full packet.
SHARE, LEAST_MS = 0.05, 1.0

SCENARIO = """
name = "both"
about = "One bottleneck"
source = "bench/vs_lab.py"
[[hop]]
name = "line"
up = {{ rate = "{rate}mbit", delay = "10ms", queue = "{queue}" }}
down = {{ rate = "{rate}mbit", delay = "10ms", queue = "{queue}" }}
[load]
{way}_flows = {flows}
congestion_control = "{cc}"
duration = "60s"
"""


def cells():
    for rate, queue in itertools.product((3, 10, 50), ("fifo", "codel", "fq_codel", "pie")):
        text = f"fifo limit {rate * 12500}b" if queue == "fifo" else queue
        for way, flows, cc in (("up", 1, "cubic"), ("down", 4, "reno")):
            yield rate, text, way, flows, cc


def both(rate, queue, way, flows, cc):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(SCENARIO.format(rate=rate, queue=queue, way=way, flows=flows, cc=cc))
        file.flush()
        done = subprocess.run([FATHOM, "sim", file.name, "--vs-lab", "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def figures(run, way):
    """p50 and p95 of the working latency in ms, and Mbit/s delivered."""
    load = phase(run, way)
    start, end = load["start_ns"] / 1e9 + SKIPPED_S, load["end_ns"] / 1e9
    rtt = [v for at, v in series(run, "udp_rtt_s") if start <= at < end]
    goodput = [v for at, v in series(run, "goodput_bits_per_second", direction=way, flow=None) if start <= at < end]
    return percentile(rtt, 0.5) * 1e3, percentile(rtt, 0.95) * 1e3, sum(goodput) / len(goodput) / 1e6


def is_near(ours, theirs, least):
    return abs(ours - theirs) <= max(SHARE * theirs, least)


def undisturbed(cell):
    """The runs of a cell, and the share of steal time."""
    for _ in range(RUNS):
        before = ticks()
        runs = both(*cell)
        kept, all_ticks = (after - earlier for after, earlier in zip(ticks(), before))
        if kept <= MOST_STOLEN * all_ticks:
            break
    return runs, kept / all_ticks


def row(cell):
    """The table row, and whether all three values agree."""
    rate, queue, way, flows, cc = cell
    runs, stolen = undisturbed(cell)
    (p50, p95, goodput), (lab50, lab95, lab_goodput) = (figures(run, way) for run in runs)
    least = max(LEAST_MS, 1514 * 8 / rate / 1e3)
    near = is_near(p50, lab50, least) and is_near(p95, lab95, least) and is_near(goodput, lab_goodput, 0)
    name = f"{rate} Mbit/s {queue.replace(' limit', '')}, {flows} {cc} {way}"
    return near, (
        f"{name:<44} {p50:8.1f} {lab50:8.1f} {p95:8.1f} {lab95:8.1f} {goodput:8.2f} {lab_goodput:8.2f}"
        f"{stolen:8.1%}{'' if near else '  differs'}"
    )


def ticks():
    """Steal ticks of all CPUs since boot, and ticks of all states."""
    with open("/proc/stat") as file:
        states = [int(word) for word in file.readline().split()[1:9]]
    return states[7], sum(states)


def main():
    chosen = list(cells())[::4 if "--quick" in sys.argv else 1]
    print(f"{'scenario':<44} {'p50 ms sim/lab':>17} {'p95 ms sim/lab':>17} {'Mbit/s sim/lab':>17}{'stolen':>8}")
    held = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for near, text in pool.map(row, chosen):
            held += near
            print(text, flush=True)
    print(f"{held} of {len(chosen)} within 5 % (latency: or 1 ms, or one packet's time)")


if __name__ == "__main__":
    main()
