#!/usr/bin/env python3
"""Laws of rates on lines that vary: ours beside those of cake-autorate and sqm-autorate.

`bench/autorate.py` simulates six weeks of each: ten minutes on two processors; `bench/autorate.py HOURS` is a shorter run.
`bench/autorate.py lab` lets each drive a real shaper with real TCP through it, 90 s a line: a quarter of an hour, as root.
`bench/autorate.py lab round-trips` is the same where one-way delays are not known."""
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
    """(line, law) -> late, used, when idle, for the other."""
    found = (ROW.match(line) for line in text.splitlines())
    return {(m[1], m[2]): (float(m[5]), float(m[8]), int(m[11]), int(m[12])) for m in found if m}


def judge(table):
    """What does not hold where one-way delays are known."""
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
