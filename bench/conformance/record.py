#!/usr/bin/env python3
"""Records cells with the real kernel in virtual time, one line each, in the format of
testdata/kernel/cells.txt.

    record.py [--hz 1000] [--jobs 1] [--trace DIR] CELL ...     a cell is `rate=20mbit rtt=20ms q=fq_codel cc=cubic n=1 ecn=0`
    record.py --again TABLE                                     record every cell of a table again, with the previous results
    record.py --plan NAME                                       the cells of a named plan (see PLANS)

`q` is a name from cells.py, `pfifoN` (packets), `bfifoN` (bytes), or any tc(8) text with `_of_` for
each blank.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import cells
from cells import Cell, Row

HERE = os.path.dirname(os.path.abspath(__file__))
OMITTED_S, MEASURED_S, PINGS = 10, 50, 1000
# Of real time; a cell takes tens of seconds unless the machine is busy.
PATIENCE_S = 1800
LINE = dict(rate="20mbit", rtt="20ms")
PLANS = {
    "vegas": [
        Cell(**LINE, q=q, cc="vegas")
        for q in "pfifo1000 pfifo256 codel fq_codel pie fq_pie cake sfq red sfb".split()
    ],
    "westwood": [
        Cell(**LINE, q=q, cc="westwood") for q in "pfifo1000 fq_codel codel pie pfifo33 red".split()
    ],
    "dctcp": [
        Cell(**LINE, q=q, cc="dctcp", ecn=1)
        for q in "redecn codelecn fq_codel pieecn fqpieecn cake sfb".split()
    ],
    "bfifo": [
        Cell(**line, q=q, cc=cc, ecn=int(cc == "dctcp"))
        for line, q in ((LINE, "bfifo250000"), (dict(rate="2500kbit", rtt="10ms"), "bfifo375000"))
        for cc in "cubic reno bbr vegas dctcp".split()
    ],
}


def main():
    args = arguments()
    kernel = subprocess.run([f"{HERE}/build", str(args.hz)], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    before = {row.cell: row for row in cells.read(args.again)} if args.again else {}
    wanted = args.cell + PLANS.get(args.plan, []) + list(before)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda cell: record(kernel, cell, args), wanted):
            print(row, flush=True)
            if row.cell in before:
                print(f"   before: {before[row.cell]}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cell", nargs="*", type=parse, help="a cell, as one argument")
    parser.add_argument("--hz", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trace", help="keep each cell's raw files in this directory, with `ss -tin` every 100 ms")
    parser.add_argument("--again", metavar="TABLE")
    parser.add_argument("--plan", choices=PLANS)
    return parser.parse_args()


def parse(text):
    words = dict(word.split("=", 1) for word in text.split())
    number = {name: int(words[name]) for name in ("n", "ecn") if name in words}
    return Cell(**{**LINE, "cc": "cubic", **words, **number})


def record(kernel, cell, args):
    with tempfile.TemporaryDirectory(prefix="fathom-record.") as work:
        place = f"{work}/cell.d"
        os.mkdir(place)
        with open(f"{place}/cell", "w") as file:
            file.write(
                f"RATE={cell.rate} RTT={cell.rtt} QDISC='{cell.tc()}' CC={cell.cc} FLOWS={cell.n} ECN={cell.ecn}\n"
                f"OMIT={OMITTED_S} SPAN={MEASURED_S} PROBES={PINGS} TRACE={'0.1' if args.trace else ''}\n"
            )
        said = boot(kernel, work)
        if os.path.exists(f"{work}/failed"):
            said += open(f"{work}/failed").read()
        if args.trace:
            shutil.copytree(place, os.path.join(args.trace, re.sub(r"\W+", "_", str(cell))), dirs_exist_ok=True)
        try:
            return measured(place, cell, args.hz)
        except (OSError, ValueError, KeyError, IndexError) as error:
            sys.exit(f"record: {cell}: {error!r}\n{said}")


def boot(kernel, work):
    command = [kernel, "mem=320M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={HERE}/inside.sh", "con=null", "con0=fd:0,fd:1"]
    command += ["quiet", "time-travel=inf-cpu", "--", work]
    # Each process inside is one outside, in the group of the first: all end with it.
    pipe = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    child = subprocess.Popen(command, start_new_session=True, **pipe)
    try:
        return child.communicate(timeout=PATIENCE_S)[0]
    except subprocess.TimeoutExpired:
        return f"did not end within {PATIENCE_S} s of real time\n"
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)


def measured(place, cell, hz):
    end = json.load(open(f"{place}/iperf.json"))["end"]
    leaf = "qdisc " + open(f"{place}/tc").read().split("qdisc ")[-1]
    drops = int(re.search(r"dropped (\d+)", leaf)[1])
    # CE marks, by whichever name the discipline has for them; CAKE has a column for each tin.
    marks = re.search(r"\b(?:ecn_mark|marks|marked)((?: +\d+)+)", leaf)
    marks = sum(map(int, marks[1].split())) if marks else 0
    times = sorted(float(t) for t in re.findall(r"time=([0-9.]+)", open(f"{place}/ping").read()))
    at = lambda p: times[max(int(len(times) * p + 0.5), 1) - 1]
    pings = {"p0": times[0], "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "p100": times[-1], "n": len(times)}
    goodput = end["sum_received"]["bits_per_second"] / 1e6
    return Row(cell, hz, goodput, end["sum_sent"]["retransmits"], drops, marks, pings)


if __name__ == "__main__":
    main()
