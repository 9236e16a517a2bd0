#!/usr/bin/env python3
"""Compares `fathom trace` with the truth, and tcptrace and tshark on the same files.

A lab line with a known queue is filled and captured at its ends and on both sides of the bottleneck
(cells.py has the matrix, ends.py the traffic). Rate, buffer and drops are the line's own;
retransmissions are the sending kernels' counts. Captures are made once and kept in --cache. Exit
code 1 if a limit is missed: rate 1 %, buffer 2 % (or a packet), every claim about side, direction
and AQM correct, every retransmission counted.

Needs root, tcptrace and tshark (bench/packages). Takes about 15 minutes without captures; --quick
makes six cells.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import cells
import peers
from known import Truth
from common import FATHOM

RATE_LIMIT, BUFFER_LIMIT = 0.01, 0.02
# Concurrent cells; those of fast lines run alone.
AT_ONCE = 2


class Reported:
    """The result of `fathom trace --json`. All its field names are here."""
    CLASSES = ("fast", "probe", "timeout", "spurious", "unknown")

    def __init__(self, run):
        capture = run["capture"]
        queue = next(iter(capture["queues"]), {})
        self.place, self.ends = queue.get("place"), (queue.get("from"), queue.get("to"))
        self.rate = (queue.get("rate_bits_per_second") or {}).get("value")
        self.buffer = (queue.get("buffer_bytes") or {}).get("value")
        self.management = (queue.get("management") or {}).get("kind")
        self.delay_ms = queue["delay"]["max_s"] * 1e3 if queue else None
        sides = [side["retransmissions"] for flow in capture["flows"] for side in flow["sent"]]
        self.classes = {name: sum(side[f"{name}_packets"] for side in sides) for name in self.CLASSES}

    @property
    def again(self):
        return sum(self.classes.values())


def trace(path):
    done = subprocess.run([FATHOM, "trace", path, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{FATHOM} trace {path} --json: exit {done.returncode}\n{done.stderr}")
    return Reported(json.loads(done.stdout))


def error(reported, true):
    return None if reported is None or true is None else reported / true - 1


def percent(share):
    return "-" if share is None else f"{share:+.2%}"


class Tally:
    """Results of all rows."""

    def __init__(self):
        self.errors = collections.defaultdict(list)
        self.matrices = collections.defaultdict(collections.Counter)
        self.counts = collections.defaultdict(lambda: [0, 0, 0])
        self.faults, self.spoilt, self.classes = [], set(), []

    def estimate(self, name, where, reported, true, limit):
        off = error(reported, true)
        if off is not None:
            self.errors[name].append((abs(off), where))
            if abs(off) > limit:
                self.faults.append(f"{where}: {name} {percent(off)}")
        return percent(off)

    def claim(self, name, where, reported, true, accepted=()):
        """Correct if it is the truth or one of `accepted`; a missing claim is not an error."""
        self.matrices[name][true, reported or "no claim"] += 1
        if reported is None:
            return "-"
        if reported == true or reported in accepted:
            return reported
        self.faults.append(f"{where}: {name} is {reported}, not {true}")
        return f"{reported}!"

    def count(self, tool, where, reported, true):
        row = self.counts[tool]
        row[0] += 1
        row[1] += reported == true
        row[2] += abs(reported - true)
        if tool == "fathom" and reported != true:
            self.faults.append(f"{where}: {reported} retransmissions, not {true}")

    def classify(self, where, reported, kernel):
        """The kernels know why they retransmitted, but in other classes: RACK's count as SACK's,
        probes as the timer's, and spurious ones are in either.
        """
        off = (max(0, reported["fast"] - kernel["fast"]) + max(0, reported["timeout"] - kernel["timer"])
               + max(0, kernel["fast"] - kernel["in vain"] - reported["fast"] - reported["probe"]))
        self.classes.append(off)
        if off:
            self.faults.append(f"{where}: {off} of {kernel['all']} retransmissions classified differently from the kernel")


def rows(cell, truth, tally, with_peers):
    """The lines of a cell's table."""
    for point, file in cell.points().items():
        where, path = f"{cell} {point}", os.path.join(truth.directory, file)
        reported, again, unseen = trace(path), truth.again_seen(file), truth.again_at(file) - truth.again_seen(file)
        side = tally.claim("side", where, reported.place, truth.place(point), truth.accepted_places(point))
        way = "right" if reported.ends == (cell.sender, cell.receiver) else "wrong" if reported.place else None
        direction = tally.claim("direction", where, way, "right")
        managed = tally.claim("management", where, reported.management, truth.management, ("none_seen",))
        rate = tally.estimate("rate", where, reported.rate, truth.rate, RATE_LIMIT)
        # The size of a queue of whole packets is known to within one packet.
        packet = (cells.MTU_BYTES + cells.OVERHEAD_BYTES) / cells.BUFFER[cell.mbit]
        buffer = tally.estimate("buffer", where, reported.buffer, truth.buffer, max(BUFFER_LIMIT, packet))
        tally.count("fathom", where, reported.again, again)
        if point == "sender":
            tally.classify(where, reported.classes, truth.kernel_classes())
        classes = "/".join(str(reported.classes[name]) for name in Reported.CLASSES)
        delay = "-" if reported.delay_ms is None else f"{reported.delay_ms:.0f}"
        hidden = f"  and {unseen} that look like new data" if unseen else ""
        yield (f"{where:<36}{rate:>9}{buffer:>9}  {side:<16}{direction:<7}{managed:<15}"
               f"{reported.again:>7}/{again:<7}{classes:<16}{delay:>6}/{truth.delay_ms:.0f}{hidden}")
        if with_peers and point in ("sender", "receiver"):
            for name, tool in peers.TOOLS.items():
                seen = tool(path)
                tally.count(name, where, seen["again"], again)
                yield (f"    {name:<32}{'-':>9}{'-':>9}  {'-':<16}{'-':<7}{'-':<15}{seen['again']:>7}/{again:<7}"
                       f"{seen['out_of_order']:>5} reordered {seen['delay_ms']:>6.0f}/{truth.delay_ms:.0f}")


def study(cell, args, tally):
    truth = Truth(cell, cells.make(cell, args.cache))
    if truth.is_spoilt:
        tally.spoilt.add(str(cell))
    lines = list(rows(cell, truth, tally, not args.no_peers))
    kernel = truth.kernel_classes()
    seen = sum(len(frames) for frames in truth.again.values())
    lines.append(f"    the kernels: {kernel['all']} retransmitted ({seen} in the captures), {kernel['fast']} by SACK, {kernel['timer']} by probe "
                 f"or timer; {kernel['in vain']} D-SACK; {truth.drops} drops, at most {truth.held / 1e3:.0f} kB queued; line late by {truth.late_ms:.1f} ms")
    if truth.missing:
        lines.append(f"    {truth.missing} packets are missing in the captures: the disk was too slow")
    return lines


def summary(tally):
    for name, matrix in tally.matrices.items():
        print(f"\n{name}: truth and reported value")
        for (true, reported), count in sorted(matrix.items()):
            print(f"    {true:<18}{reported:<18}{count:>5}")
    print()
    for name, errors in tally.errors.items():
        off = sorted(share for share, _ in errors)
        print(f"{name}: {len(off)} estimates, median error {statistics.median(off):.2%}, 95 % within "
              f"{off[int(0.95 * (len(off) - 1))]:.2%}, largest {max(errors)[0]:.2%} ({max(errors)[1]})")
    for tool, (files, right, off) in tally.counts.items():
        print(f"{tool}: retransmissions counted correctly in {right} of {files} captures, {off} off in total")
    print(f"fathom: classes equal to the kernels' in {tally.classes.count(0)} of {len(tally.classes)} captures at the sender, "
          f"{sum(tally.classes)} retransmissions off in total")
    spoilt = [fault for fault in tally.faults if fault.split()[0] in tally.spoilt]
    faults = [fault for fault in tally.faults if fault not in spoilt]
    for what, those in (("beyond the limits", faults), ("where the machine was too busy to be the line", spoilt)):
        print(f"\n{len(those)} {what}" + "".join(f"\n    {fault}" for fault in those))
    return bool(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default="/var/tmp/fathom-bench-trace")
    parser.add_argument("--quick", action="store_true", help="six cells")
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    chosen = [cell for cell in (cells.quick() if args.quick else cells.matrix()) if args.only in str(cell)]
    tally = Tally()
    print(f"{'cell, captured at':<36}{'rate':>9}{'buffer':>9}  {'side':<16}{'dir':<7}{'AQM':<15}"
          f"{'retransmitted':>13}  {'/'.join(Reported.CLASSES)}; delay in ms: reported/true")
    for at_once, is_short in ((AT_ONCE, False), (1, True)):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for lines in pool.map(lambda cell: study(cell, args, tally), [cell for cell in chosen if cell.is_short == is_short]):
                print("\n".join(lines), flush=True)
    return summary(tally)


if __name__ == "__main__":
    raise SystemExit(main())
