#!/usr/bin/env python3
"""Compares Fathom's autorate law with those of cake-autorate and sqm-autorate on variable-rate
lines.

`bench/autorate.py` simulates six weeks of each: ten minutes on two CPUs. `bench/autorate.py HOURS`
is a shorter run. `bench/autorate.py lab` runs each law with a real shaper and real TCP, 90 s per
line: a quarter of an hour, as root. `bench/autorate.py lab round-trips` does the same without
one-way delays.
"""
import re
import subprocess
import sys

PROGRAM = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "fathom-bench-autorate", "--"]
ROW = re.compile(r"(\S+) +(fathom|cake-autorate|sqm-autorate) +([\d.]+) % +([\d.]+) +([\d.]+) +([\d.]+) % +([\d.]+) +([\d.]+)"
                 r" +([\d.]+) ms +(\d+) +(\d+) +(\d+)$")


def run(*arguments):
    done = subprocess.run([*PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout, flush=True)
    return done.stdout


def rows(text):
    """(line, law) -> late, used, cuts when idle, cuts for the other direction."""
    found = (ROW.match(line) for line in text.splitlines())
    return {(m[1], m[2]): (float(m[5]), float(m[8]), int(m[11]), int(m[12])) for m in found if m}


def judge(table):
    """Conditions that fail when one-way delays are known."""
    for line in sorted({line for line, _ in table}):
        late, used, idle, other = table[line, "fathom"]
        for peer in ("cake-autorate", "sqm-autorate"):
            peer_late, peer_used = table[line, peer][:2]
            if late >= peer_late or used <= peer_used:
                yield f"{line}: {late} % late and {used} % used, {peer} {peer_late} % and {peer_used} %"
        if idle or other:
            yield f"{line}: {idle} cuts when idle, {other} for the other direction"


def verdict(failed, what):
    print("\n".join(failed) or f"{what}: less time above +30 ms and more capacity used than both peers on every line,\n"
          "no cut when idle, none for the other direction: holds")
    return bool(failed)


def main():
    if sys.argv[1:2] == ["lab"]:
        return verdict(list(judge(rows(run(*sys.argv[1:])))), "In the lab")
    run("check")
    one_way = run(*sys.argv[1:]).split("\n\n")[0]
    return verdict(list(judge(rows(one_way))), "With one-way delays")


if __name__ == "__main__":
    raise SystemExit(main())
