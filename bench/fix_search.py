#!/usr/bin/env python3
"""`fathom fix --server` from the first measurement to verification, in front of a modem with a full
buffer.

Runs on this kernel in the lab (10 and 40 Mbit/s, 205 and 200 ms of buffer, 10 ms of path), and in
Debian's User-Mode Linux, which has CAKE and fq_codel (10 and 20 Mbit/s, because it is slow). For
each shaper: the knee as a share of the true rate, and the search time; the median delay above idle
without and with the shaper; goodput with the shaper as a share of that without.

Limits: knee within 3 % in 60 s; at most 20 ms above idle with one short queue, 5 ms with flow
isolation, up and down; goodput at least 93 %.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import common

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = """name = "modem"
about = "A modem with a full buffer."
source = "the benchmark of fathom fix"
[[hop]]
name = "modem"
up = { rate = "10mbit", delay = "5ms", queue = "fifo limit 256000b", overhead = "0b" }
down = { rate = "40mbit", delay = "5ms", queue = "fifo limit 1000000b", overhead = "0b" }
"""
# The share of a line's rate (counted without Ethernet headers) that a shaper (counting with them)
# passes, and the line's true rates.
TRUE_RATES = {"lab": (10e6, 40e6), "uml": (10e6, 20e6)}
# Another kernel may be given, such as one with cake_mq, and the shapers to test in it.
UML = os.environ.get("FATHOM_UML", "linux.uml")
PATIENCE_S = 1200


def main():
    if not shutil.which(UML):
        sys.exit(f"fix_search: {UML} is missing: ./setup installs it (Debian package user-mode-linux)")
    print(f"{'kernel':<15}{'shaper':<14}{'dir':<5}{'knee of the rate':>17}{'search s':>10}{'before ms':>11}{'after ms':>10}{'goodput':>9}   outcome", flush=True)
    missed = []
    for line, kernel, rung, fixed in runs():
        for true_rate, way in zip(TRUE_RATES[line], ("up", "down")):
            missed += row(f"{kernel:<15}{rung:<14}{way:<5}", true_rate, rung, way, fixed)
    print("\n".join(missed) or "limits held")
    sys.exit(bool(missed))


def runs():
    if not sys.argv[1:]:
        yield from (("lab", "this kernel", rung, in_lab(rung)) for rung in ("flow-hash", "tbf"))
    yield from (("uml", *run) for run in in_uml(sys.argv[1:] or ("cake", "htb+fq_codel")))


def row(head, true_rate, rung, way, fixed):
    search = fixed.get("searches", {}).get(way, {})
    if "knee_bits_per_second" not in search:
        print(f"{head} {fixed}")
        return [f"MISSED: {head}: no result"]
    knee = (search["knee_bits_per_second"] or 0) / true_rate
    phase = lambda when: next((p for p in fixed.get(when, []) if p["phase"] == way), None)
    rise = lambda when: (phase(when)["increase_p50_s"] * 1e3) if phase(when) else float("nan")
    goodput = lambda when: phase(when)[f"goodput_{way}_bits_per_second"] if phase(when) else float("nan")
    share, took = goodput("after") / goodput("before"), search["search_s"]
    print(f"{head}{knee:>17.1%}{took:>10.1f}{rise('before'):>11.1f}{rise('after'):>10.1f}{share:>9.1%}   {fixed['outcome']}", flush=True)
    most = 20 if rung == "tbf" else 5
    held = {"knee": 0.97 <= knee <= 1.03, "time": took <= 60, "delay": rise("after") <= most, "goodput": share >= 0.93, "verification": fixed["outcome"] == "verified"}
    return [f"MISSED: {head}: {what}" for what, holds in held.items() if not holds]


def in_lab(rung):
    with tempfile.TemporaryDirectory() as state:
        fix = f"{common.FATHOM} fix line0 --server $FATHOM_SERVER --shaper {rung} --state {state} --json"
        return json.loads(common.lab(LAB, ["sh", "-c", fix], timeout=400))["fix"]


def in_uml(rungs):
    with tempfile.TemporaryDirectory() as work:
        command = ["nice", "-n", "-20", "timeout", str(PATIENCE_S), UML, "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "QUEUES=4",
                   f"init={HERE}/fix_search/inside.sh", "con=null", "con0=fd:0,fd:1", "quiet", "--", work, common.FATHOM,
                   "10", "20", *rungs]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": work})
        kernel = f"{open(os.path.join(work, 'kernel')).read().strip()} (UML)"
        for rung in rungs:
            try:
                yield kernel, rung, json.load(open(os.path.join(work, f"{rung}.json")))["fix"]
            except (OSError, ValueError, KeyError):
                said = os.path.join(work, f"{rung}.said")
                yield kernel, rung, {"said": open(said).read()[-300:] if os.path.exists(said) else "nothing"}


if __name__ == "__main__":
    main()
