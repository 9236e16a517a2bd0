#!/usr/bin/env python3
"""Creates the captures in testdata/trace/lab for ordinary tests: 1 Mbit/s for a quarter of a
minute, headers only, with their truth.

Real TCP in real time gives a different capture each time, so tests compare the captures with
truth.txt. Needs root.
"""
import argparse
import gzip
import ipaddress
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from cells import Cell, make
from known import Truth

SECONDS, PROBE_EVERY_S = 15, 0.25
HEADER = """# Captures of a lab line with 1 Mbit/s at its bottleneck, and their truth; made by bench/trace/small.py. A dash: not to be known.
#
# place: of the queue, seen from the capture; from, to: of the packets in it
# rate: bit/s, of IP packets and 14 bytes each; buffer, held: bytes, the limit if it was reached, and the most that was in it
# drops: of the queue; again: TCP segments sent again that got as far as the capture; fast, timer: of all that were sent, those that
# the sending kernel put down to SACK, and the others
"""
COLUMNS = ("file", "place", "from", "to", "management", "rate", "buffer", "held", "drops", "again", "fast", "timer")


def chosen():
    """Name, cell, and capture point."""
    def cell(way, queue, **more):
        return Cell(way, queue, 1, seconds=SECONDS, probe_every=PROBE_EVERY_S, **more)
    up = cell("up", "tail")
    yield from (("up-sender", up, "sender"), ("up-behind", up, "behind"), ("up-receiver", up, "receiver"))
    yield "down-receiver", cell("down", "tail"), "receiver"
    yield "codel-sender", cell("up", "codel"), "sender"
    yield "fq_codel-sender", cell("up", "fq_codel"), "sender"
    yield "no-timestamps-sender", cell("up", "tail", stamps=False), "sender"
    yield "ipv6-sender", cell("up", "tail", ip=6), "sender"
    yield "host-sender", cell("host", "tail"), "sender"


def row(name, cell, point, truth):
    kernel = truth.kernel_classes()
    return (name, truth.place(point), ipaddress.ip_address(cell.sender), ipaddress.ip_address(cell.receiver), truth.management,
            round(truth.rate), truth.buffer or "-", truth.held, truth.drops, truth.again_at(cell.points()[point]),
            kernel["fast"], kernel["timer"])


def pack(source, target):
    """Without a time in its header, so that the same capture gives the same file."""
    with open(source, "rb") as read, open(target, "wb") as write, gzip.GzipFile("", "wb", 9, write, 0) as packed:
        shutil.copyfileobj(read, packed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", default=os.path.join(HERE, "../../testdata/trace/lab"))
    args = parser.parse_args()
    os.makedirs(args.target, exist_ok=True)
    rows = [COLUMNS]
    with tempfile.TemporaryDirectory() as cache:
        for name, cell, point in chosen():
            truth = Truth(cell, make(cell, cache))
            pack(os.path.join(truth.directory, cell.points()[point]), os.path.join(args.target, f"{name}.pcap.gz"))
            rows.append(tuple(str(value) for value in row(name, cell, point, truth)))
            print(*rows[-1], flush=True)
    widths = [max(len(each[i]) for each in rows) for i in range(len(COLUMNS))]
    with open(os.path.join(args.target, "truth.txt"), "w") as file:
        file.write(HEADER)
        file.writelines("  ".join(value.ljust(width) for value, width in zip(each, widths)).rstrip() + "\n" for each in rows)


if __name__ == "__main__":
    main()
