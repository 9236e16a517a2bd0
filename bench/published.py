#!/usr/bin/env python3
"""Compares published results of papers, RFCs and tests with the simulator: one line per claim.

Covers the gallery's scenarios from those sources (the seeds are the other half, printed by
`fathom sim gallery`), the mean windows of RFC 9438 and of Linux 6.12, and packetdrill's assertions.
Needs neither root nor a quiet machine, and gives the same result everywhere; recorded in
golden/figures/published.txt.
"""
import json
import os
import re
import subprocess
import sys

from common import FATHOM

TCP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "tcp")
# Sources of gallery scenarios, by the first word of their names.
PAPERS = ("codel", "dctcp", "incast", "l4s", "ledbat", "rfc7928", "sizing")


def formatted(value, unit):
    """A number in the format of the gallery's page."""
    if value is None:
        return "nothing"
    match unit:
        case "s" if abs(value) >= 10:
            return f"{value:.1f} s"
        case "s":
            return f"{value * 1e3:.4g} ms"
        case "bit/s":
            return f"{value / 1e6:.4g} Mbit/s"
        case "ratio":
            return f"{value * 100:.1f} %"
        case "1" | "packets":
            return f"{value:.0f}"
    return f"{value:.3g}"


def interval(claim):
    least, most = (formatted(value, claim["unit"]) for value in claim["expected"])
    if least == most:
        return least
    number, _, unit = least.partition(" ")
    return f"{number} to {most}" if unit and most.endswith(" " + unit) else f"{least} to {most}"


def gallery():
    """(scenario, claim, published, expected, ours), and whether ours is as expected."""
    done = subprocess.run([FATHOM, "sim", "gallery", "--json", "--no-save"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"fathom sim gallery: exit {done.returncode}\n{done.stderr}")
    for item in json.loads(done.stdout)["gallery"]["scenarios"]:
        if item["name"].split("-")[0] not in PAPERS:
            continue
        for claim in item["claims"]:
            row = item["name"], claim["says"], claim["published"], interval(claim), formatted(claim["got"], claim["unit"])
            yield row, claim["holds"]


def windows():
    """The rows of golden/tcp/response.txt, which a test keeps up to date."""
    with open(os.path.join(TCP, "response.txt")) as file:
        rows = [[cell.strip() for cell in line.split("|")] for line in file if line.strip() and line[0] != "#"]
    for source, control, loss, rtt, share, published, ours, ratio in rows:
        yield source, f"mean window of {control}, {loss} loss {share}, {rtt}", published, "", f"{ours} ({ratio})"


def packetdrill():
    """The number of packetdrill script steps that each golden file reproduces, and of facts after
    them; a test checks all.
    """
    for name in sorted(os.listdir(TCP)):
        with open(os.path.join(TCP, name)) as file:
            text = file.read()
        if "packetdrill" not in text.splitlines()[0]:
            continue
        steps = [line for line in text.splitlines() if "|" in line and not line.startswith("#")]
        count = sum(len(re.findall(r"cwnd|ssthresh|state|\bre?send\b", line.split("|", 1)[1])) for line in steps)
        yield "packetdrill", f"golden/tcp/{name}, {len(steps)} steps", f"{count} facts", "", "all equal"


def main():
    found = list(gallery())
    rows = [row for row, _ in found] + list(windows()) + list(packetdrill())
    print("# Published results and ours, by bench/published.py. \"expected\" is what the source or a calculation allows; notes are in the gallery.")
    held = sum(holds for _, holds in found)
    print(f"# {held} of {len(found)} claims of the gallery's papers are reproduced.")
    head = "# source or scenario", "claim", "published", "expected", "ours"
    # A long cell widens only its own line.
    widths = [min(48, max(len(row[i]) for row in [head, *rows])) for i in range(5)]
    for row in [head, *rows]:
        print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return held != len(found)


if __name__ == "__main__":
    sys.exit(main())
