#!/usr/bin/env python3
"""Fuzzes each parser for the same CPU time, and prints how many inputs that was and what was found.

Each target begins with its committed corpus. New inputs are kept in FOLDER (default: out/fuzz), so
that the next run continues from there; crashes are there too. A target is run in steps until its CPU
time (of the process, with that of its system calls) is used up, or until it crashes.

  bench/fuzz.py [--seconds N] [--into FOLDER] [TARGET ...]   needs cargo-fuzz and a nightly
                                                             toolchain; exit code 1 after a crash
"""
import argparse
import os
import re
import subprocess
import sys

MEMORY_MB = 2048


def build(root):
    subprocess.run(["cargo", "+nightly", "fuzz", "build"], cwd=root, check=True)
    triple = re.search(r"^host: (\S+)", subprocess.run(["rustc", "-vV"], capture_output=True, text=True).stdout, re.MULTILINE)[1]
    return os.path.join(os.environ.get("CARGO_TARGET_DIR", f"{root}/fuzz/target"), triple, "release")


def step(program, seconds, kept, corpus):
    """One run; returns its CPU time, inputs, largest memory in MB, and whether it crashed."""
    flags = [f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={kept}/crash-", "-print_final_stats=1"]
    with open(f"{kept}.log", "w+") as log:
        fuzzer = subprocess.Popen([program, *flags, kept, corpus], stdout=log, stderr=log)
        _, status, usage = os.wait4(fuzzer.pid, 0)
        fuzzer.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        text = log.read()
    number = lambda name: int((re.search(rf"stat::{name}:\s+(\d+)", text) or [0, 0])[1])
    crashed = fuzzer.returncode != 0
    return usage.ru_utime + usage.ru_stime, number("number_of_executed_units"), usage.ru_maxrss / 1024, crashed


def fuzz(target, seconds, programs, root, into):
    kept, corpus = f"{into}/{target}", f"{root}/fuzz/corpus/{target}"
    os.makedirs(kept, exist_ok=True)
    cpu, inputs, memory, crashed = 0, 0, 0, False
    while cpu < seconds and not crashed:
        used, more, peak, crashed = step(f"{programs}/{target}", max(1, round(seconds - cpu)), kept, corpus)
        cpu, inputs, memory = cpu + used, inputs + more, max(memory, peak)
    print(f"{target:16}{cpu:>7.0f} s{inputs:>13,}{memory:>9.0f} MB  {'CRASH' if crashed else 'nothing'}", flush=True)
    return not crashed


def main():
    root = os.path.abspath(f"{os.path.dirname(os.path.abspath(__file__))}/..")
    known = sorted(name.removesuffix(".rs") for name in os.listdir(f"{root}/fuzz/fuzz_targets"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--into", metavar="FOLDER", default=f"{root}/out/fuzz")
    parser.add_argument("targets", metavar="TARGET", nargs="*")
    args = parser.parse_args()
    unknown = set(args.targets) - set(known)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))} (known: {', '.join(known)})")
    programs = build(root)
    print(f"{'target':16}{'CPU time':>9}{'inputs':>13}{'memory':>12}  found")
    if not all([fuzz(target, args.seconds, programs, root, os.path.abspath(args.into)) for target in args.targets or known]):
        sys.exit("crashes are in " + args.into)


if __name__ == "__main__":
    main()
