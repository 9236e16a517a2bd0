#!/usr/bin/env python3
"""`fathom buffer` over queues of the real kernel, with bbperf (PyPI) on some of them.

Draws lines by seed: rate, delay, and a queue in both directions: tbf, bfifo and pfifo behind htb, a
policer, RED, CoDel, FQ-CoDel, PIE, CAKE. Each is measured in a User-Mode Linux with virtual time
(`bench/conformance/build`), so that the load of this machine has no effect. A claim is right if it
names the rule and, with tail drop, what the buffer counts; the size within 5 %, and the rate within
2 %. Every other CoDel and PIE marks (ECN), as FQ-CoDel and CAKE do; no other queue does. "sent" is
the time in which datagrams are sent, without those far apart.

    buffer.py [--seed S] [--lines N] [--peers N] [--kernels N] [--keep DIR]

Each line has a kernel of its own and a directory in DIR. Those that are there are not measured
again, but judged again by `fathom report`.

bbperf reports the longest round trip and the bytes that follow from it; $BBPERF is its program.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import common

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("tbf", "bfifo", "pfifo", "police", "red", "codel", "fq_codel", "pie", "cake")
FRAME = 1442
RULES = {"police": "policer", "red": "red", "codel": "codel", "pie": "pie"}
# Of real time, for a line.
PATIENCE_S = 1800


def main():
    args = arguments()
    work = args.keep or tempfile.mkdtemp(prefix="fathom-buffer.")
    os.makedirs(work, exist_ok=True)
    rng = random.Random(args.seed)
    lines = [draw(rng, KINDS[n % len(KINDS)]) for n in range(args.lines)]
    sized = [n for n, line in enumerate(lines) if line["size"]][: args.peers]
    kernel = built()
    print(f"seed {args.seed}, {args.lines} lines of 2 directions")
    print(f"{'line':<44}{'dir':<6}{'rate':>7}{'rule':>14}{'limit':>9}{'size':>10}{'error':>8}{'marks':>8}{'sent':>8}   claim", flush=True)
    totals = {"made": 0, "right": 0, "all": 0, "sizes": 0, "sizes right": 0, "rates": 0, "rates right": 0}
    totals |= {"marking": 0, "marks": 0, "marks right": 0, "sent": []}
    with ThreadPoolExecutor(args.kernels) as pool:
        measured = [pool.submit(measure, kernel, f"{work}/{n}", line, n in sized) for n, line in enumerate(lines)]
        for n, line in enumerate(lines):
            measured[n].result()
            report(f"{work}/{n}", line, totals)
    print(f"kind: {totals['made']} claims of {totals['all']} possible, {totals['right']} right")
    print(f"size: {totals['sizes right']} of {totals['sizes']} within 5 %")
    print(f"rate: {totals['rates right']} of {totals['rates']} within 2 %")
    print(f"marks: {totals['marks']} claims, {totals['marks right']} right, of {totals['marking']} queues that mark")
    print(f"sent within a second: {sum(s < 1 for s in totals['sent'])} of {len(totals['sent'])} directions whose full buffer, or a policer, drops")
    if not args.keep:
        shutil.rmtree(work)
    sys.exit(totals["right"] < 0.95 * totals["made"] or totals["sizes right"] < 0.95 * totals["sizes"])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=63)
    parser.add_argument("--peers", type=int, default=3, help="lines that bbperf measures, too")
    parser.add_argument("--kernels", type=int, default=1, help="that run at the same time")
    parser.add_argument("--keep", metavar="DIR", help="keep the results")
    return parser.parse_args()


def log_uniform(rng, low, high):
    return low * (high / low) ** rng.random()


def draw(rng, kind):
    """A line, with the truth."""
    rate = int(log_uniform(rng, 2e6, 25e6))
    packets = int(log_uniform(rng, 30, min(200, 4 * rate / 8 / FRAME)))
    line = {"rate": rate, "half_ms": int(log_uniform(rng, 2, 40)), "kind": kind, "size": None, "arguments": ""}
    if kind == "tbf":
        line |= {"size": packets * FRAME, "limit": "bytes"}
        line["arguments"] = f"burst {rng.choice((3200, 16000))} limit {line['size']}"
    elif kind == "bfifo":
        line |= {"size": packets * FRAME, "limit": "bytes"}
        line["arguments"] = f"limit {line['size']}"
    elif kind == "pfifo":
        line |= {"size": packets, "limit": "packets", "arguments": f"limit {packets}"}
    elif kind == "police":
        line["bucket"] = int(log_uniform(rng, 15e3, 200e3))
        line["arguments"] = f"burst {line['bucket']}"
    elif kind == "red":
        least = int(log_uniform(rng, 15e3, 60e3))
        line["arguments"] = f"limit {12 * least} min {least} max {3 * least} avpkt 1000 burst {2 * least // 1000} probability 0.02 bandwidth {max(1, rate // 1000000)}mbit"
    elif kind in ("codel", "pie"):
        line["arguments"] = rng.choice(("", "ecn"))
    elif kind == "cake":
        line["arguments"] = "unlimited"
    line["marks"] = kind in ("fq_codel", "cake") or line["arguments"] == "ecn"
    return line


def built():
    """The kernel."""
    built = [f"{HERE}/conformance/build", "1000"]
    return os.environ.get("FATHOM_UML") or subprocess.run(built, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def measure(kernel, work, line, has_peer):
    """Measures a line, unless it was measured before."""
    if os.path.exists(f"{work}/done"):
        return
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/line", "w") as file:
        file.write(f"{line['rate']}bit {line['half_ms']}ms {int(has_peer)} {line['kind']} {line['arguments']}\n")
    command = [kernel, "mem=320M", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=fd:0,fd:1", "quiet"]
    command += [f"init={HERE}/buffer/inside.sh", "time-travel=inf-cpu", "--", work, common.FATHOM]
    command += [os.environ.get("BBPERF", "bbperf")]
    subprocess.run(["timeout", "--kill-after=10", str(PATIENCE_S), *command], stdin=subprocess.DEVNULL, capture_output=True)


def report(work, line, totals):
    name = f"{line['kind']} {line['arguments']}"[:32]
    head = f"{name:<33}{line['rate'] / 1e6:>6.2f} Mb/s"
    judged = subprocess.run([common.FATHOM, "report", f"{work}/buffer.json", "--json"], capture_output=True, text=True)
    result = json.loads(judged.stdout) if judged.stdout else {"findings": [], "bursts": []}
    findings = result["findings"]
    for way in ("up", "down"):
        found = [f["parameters"] for f in findings if f["kind"] == "measured_buffer" and f["direction"] == way]
        totals["all"] += 1
        sent_s = sum(sending_s(burst) for burst in result["bursts"] if burst["direction"] == way)
        if line["size"] or line["kind"] == "police":
            totals["sent"].append(sent_s)
        print(f"{head:<44}{way:<6}{row(line, found[0], totals, sent_s) if found else '   nothing found'}", flush=True)
    peer = f"{work}/peer.json"
    if os.path.exists(peer) and os.path.getsize(peer):
        print(f"{'':<44}bbperf up: {of_peer(peer)}; true: {true_bytes(line) / 1e3:.1f} kB", flush=True)


def true_bytes(line):
    return line["size"] * (FRAME if line["limit"] == "packets" else 1)


def sending_s(burst):
    sent_ns = burst["sent_ns"][burst.get("before", 0) :][: burst["count"]]
    return (sent_ns[-1] - sent_ns[0]) / 1e9


def row(line, found, totals, sent_s):
    rate = found["rate_bits_per_second"]["value"]
    totals["rates"] += 1
    is_rate_right = abs(rate / line["rate"] - 1) <= 0.02
    totals["rates right"] += is_rate_right
    rule = "fair_queueing" if found["is_per_flow"] else found.get("rule", "-")
    expected = RULES.get(line["kind"], "fair_queueing" if line["kind"] in ("fq_codel", "cake") else "tail_drop")
    limit, error, size = found.get("limit", "-"), "", ""
    is_right = rule == expected
    if line["size"] and not found["is_lower_bound"]:
        measured = found["packets"]["value"] if limit == "packets" else found["bytes"]["value"]
        is_right = is_right and limit == line["limit"]
        size, off = f"{measured:.0f}", measured / line["size"] - 1
        error = f"{100 * off:+.1f} %"
        totals["sizes"] += 1
        totals["sizes right"] += limit == line["limit"] and abs(off) <= 0.05
    elif line["kind"] == "police" and "bucket_bytes" in found:
        size, error = f"{found['bucket_bytes']:.0f}", f"{100 * (found['bucket_bytes'] / line['bucket'] - 1):+.1f} %"
    marks = found.get("marks")
    totals["marking"] += line["marks"]
    totals["marks"] += marks is not None
    is_of_rule = marks and marks.get("rule", "-") in ("-", RULES.get(line["kind"], "codel")) and "threshold_s" not in marks
    totals["marks right"] += bool(line["marks"] and is_of_rule)
    marked = marks.get("rule", "some") if marks else ""
    made = rule != "-"
    totals["made"] += made
    totals["right"] += made and is_right
    claim = ("right" if is_right else f"WRONG: {expected}") if made else "none"
    claim += "" if is_rate_right else ", rate wrong"
    return f"{rate / 1e6:>7.2f}{rule:>14}{limit:>9}{size:>10}{error:>8}{marked:>8}{sent_s:>6.2f} s   {claim}"


def of_peer(path):
    with open(path) as file:
        excess = json.load(file)["summary"]["excess_buffered_bytes"]
    return f"{excess['p50'] / 1e3:.1f} kB (median), {excess['p99'] / 1e3:.1f} kB (p99)"


if __name__ == "__main__":
    main()
