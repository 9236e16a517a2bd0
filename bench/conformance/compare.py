#!/usr/bin/env python3
"""Compares every recorded cell with `fathom sim` of the same cell: kernel, simulator, and whether
they agree.

    compare.py [--seeds 6] [--only WORDS] [TABLE]       FATHOM names the binary (default target/release/fathom)

They agree if the range of our seeds and that of the recordings overlap, or are within 5 % or 1 ms
(counts: 5), because random drops, hashes and ping times vary. Exit code 1 if any cell differs.
Probes are those of `fathom sim`, UDP and ICMP in turn from the start; the test
`core/emulate/sim/tests/it/conformance.rs` pings as in the recording, and more cells agree in drops.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import cells
from common import percentile, series, simulated

IDLE_S, OMITTED_S, MEASURED_S = 1, 10, 50
SHARE = 0.05
# Name, unit in which it is printed, and the difference that never counts.
NUMBERS = {"p50": 1.0, "p95": 1.0, "p100": 1.0, "goodput": 0.0, "drops": 5.0, "marks": 5.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=f"{HERE}/../../testdata/kernel/cells.txt")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--only", default="", help="only cells that contain all these words, such as 'q=pie n=1'")
    args = parser.parse_args()
    rows = [row for row in cells.read(args.table) if all(word in str(row.cell).split() for word in args.only.split())]
    print(f"{'kernel / ours':<54}" + "".join(f"{name:>18}" for name in NUMBERS))
    recorded = {}
    for row in rows:
        recorded.setdefault(row.cell, []).append(row)
    agreed = sum(compare(again, args.seeds) for again in recorded.values())
    print(f"\n{agreed} of {len(recorded)} cells agree in all numbers (within 5 %, 1 ms, 5 packets, or among {args.seeds} seeds)")
    sys.exit(agreed < len(recorded))


def compare(rows, seeds):
    """All recordings of one cell; the first is printed."""
    row = rows[0]
    ours = [measure(row, seed) for seed in range(seeds)]
    columns, differing = [], []
    for name, floor in NUMBERS.items():
        values = sorted(numbers[name] for numbers in ours)
        middle = values[len(values) // 2]
        kernel = [{**row.pings, "goodput": row.goodput, "drops": row.drops, "marks": row.marks}[name] for row in rows]
        low, high = min(kernel), max(kernel)
        if values[0] > high + max(SHARE * high, floor) or values[-1] < low - max(SHARE * low, floor):
            differing.append(f"{name} {min((middle - number for number in kernel), key=abs):+.3g}")
        columns.append(f"{kernel[0]:.4g} / {middle:.4g}")
    verdict = "agrees" if not differing else "differs: " + ", ".join(differing)
    print(f"{str(row.cell):<54}" + "".join(f"{column:>18}" for column in columns) + f"  {verdict}", flush=True)
    return not differing


def measure(row, seed):
    run = simulated(scenario(row), seed)
    start, end = IDLE_S + OMITTED_S, IDLE_S + OMITTED_S + MEASURED_S
    pings = [rtt * 1e3 for at, rtt in series(run, "icmp_rtt_s") if start <= at < end]
    goodput = [bits for at, bits in series(run, "goodput_bits_per_second", direction="up", flow=None) if start < at <= end]
    last = lambda metric: (series(run, metric, direction="up") or [(0, 0)])[-1][1]
    return {
        "p50": percentile(pings, 0.5),
        "p95": percentile(pings, 0.95),
        "p100": max(pings),
        "goodput": sum(goodput) / len(goodput) / 1e6,
        "drops": last("queue_drops_packets"),
        "marks": last("queue_marks_packets"),
    }


def scenario(row):
    """The shaper and leaf of the recording on a link with negligible delay; the whole RTT is on the
    path of the ACKs.
    """
    cell, queue = row.cell, row.cell.fathom(row.hz)
    if not queue.startswith("cake"):
        queue = f"htb default 1 class 1 rate {cell.rate} burst 1600b cburst 1600b {{ {queue} }}"
    return f"""name = "cell"
about = "{cell}"
source = "testdata/kernel/cells.txt"
[[hop]]
name = "router"
up = {{ rate = "1tbit", delay = "0s", queue = "{queue}" }}
down = {{ delay = "{cell.rtt}" }}
[run]
idle = "{IDLE_S}s"
duration = "{OMITTED_S + MEASURED_S}s"
drain = "0s"
# A probe of each of two kinds in this time: as many small packets as the recording's pings every 50 ms.
sample_every = "100ms"
[[workload]]
kind = "bulk"
direction = "up"
flows = {cell.n}
congestion_control = "{cell.cc}"
ecn = {str(bool(cell.ecn)).lower()}
# iperf3 sends 37 bytes first, which BBR's window of 10 grows by.
initial_window = {11 if cell.cc == "bbr" else 10}
"""


if __name__ == "__main__":
    main()
