#!/usr/bin/env python3
"""Compares simulations from Python with those of the command line: packets per CPU second, in the
same run. Limit: 95 % of the command line.

A dumbbell: 4 CUBIC bulk flows, 100 Mbit/s, 20 ms round trip, FQ-CoDel, 5 minutes. Both make the
JSON of the run. The time of the command line is that of the whole process; that of Python is that
of the calls, in all threads of a running interpreter. Then the same for a capture, with one thread.

    python.py

Installs the package in target/bench-python (a few minutes, once) unless this Python has it. The
program is that of `cargo build --release`, as the package is: `make release` also optimizes with a
profile of real work. FATHOM names another one.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from common import FATHOM
from sim_speed import scenario

try:
    import fathom
except ImportError:
    TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    ENVIRONMENT = os.path.join(TOP, "target/bench-python")
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    subprocess.run([f"{ENVIRONMENT}/bin/pip", "install", "--quiet", TOP], check=True)
    # With its path: Python finds its environment by the first argument.
    os.execv(f"{ENVIRONMENT}/bin/python", [f"{ENVIRONMENT}/bin/python", *sys.argv])

ROUNDS, SECONDS = 9, 300
LEAST = 0.95
CAPTURE = os.path.join(os.path.dirname(__file__), "../testdata/trace/kernel/one.pcap.gz")
# A capture takes milliseconds; a round analyzes it so many times.
CAPTURES = 20


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario(4, seconds=SECONDS))
        file.flush()
        packets = fathom.simulate(file.name).packets
        print(f"4 flows, 100 Mbit/s, {SECONDS} s: {packets:,} packets")
        ratio = compare(
            lambda: command("sim", file.name, "--json"),
            lambda: fathom.simulate(file.name).to_json(),
            packets,
            "packets",
        )
    print(f"a capture, {CAPTURES} times")
    compare(
        lambda: [command("trace", CAPTURE, "--threads", "1", "--json") for _ in range(CAPTURES)],
        lambda: [fathom.trace(CAPTURE, threads=1).to_json() for _ in range(CAPTURES)],
        CAPTURES,
        "captures",
    )
    if ratio < LEAST:
        sys.exit(f"missed: {ratio:.1%} of the packets per CPU second of the command line (at least {LEAST:.0%})")


def compare(by_command, by_python, count, noun):
    """Prints the speed of both; returns the ratio of the median speeds."""
    rounds = []
    for _ in range(ROUNDS):
        rounds.append(
            (
                cpu_s(by_command, resource.RUSAGE_CHILDREN),
                cpu_s(by_python, resource.RUSAGE_SELF),
            )
        )
    speeds = [[count / seconds for seconds in column] for column in zip(*rounds)]
    for name, speed in zip(("command line", "Python"), speeds):
        median, best = statistics.median(speed), max(speed)
        print(f"{name:14} {median:14,.0f} {noun} per CPU second (median), {best:,.0f} (best)")
    ratio = statistics.median(speeds[1]) / statistics.median(speeds[0])
    print(f"Python has {ratio:.1%} of the command line (medians), {max(speeds[1]) / max(speeds[0]):.1%} (best)")
    return ratio


def cpu_s(call, whose):
    before = resource.getrusage(whose)
    call()
    after = resource.getrusage(whose)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command(*words):
    """Runs `fathom`. Exit codes 1, 4 and 5 are verdicts on the line, not failures."""
    code = subprocess.run([FATHOM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if code not in (0, 1, 4, 5):
        sys.exit(f"fathom {' '.join(words)}: exit {code}")


if __name__ == "__main__":
    main()
