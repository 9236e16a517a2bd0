#!/usr/bin/env python3
"""Questions about a fleet of up to a million sites: time, memory and bytes.

    many.py [--sites 1000,30000,100000,1000000] [--commands sites,buffers,...]

bench/fleet/replay stands in for the engine: it answers the queries over loopback as Prometheus
does, with two directions of each site, as fast as it can. So the figures are those of `fathom
fleet` alone; engine.py has those of engines. The memory is the peak of the whole process.

Limits: each question about a million sites is answered or refused with one line, with less than
1.5 GB of memory; the page gets less than 1 MB for each view.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FATHOM = os.path.abspath(os.environ.get("FATHOM", TOP / "target/release/fathom"))
REPLAY = os.path.abspath(os.environ.get("FLEET_REPLAY", TOP / "target/release/fleet_replay"))
MOST_BYTES = 1_500_000_000
MOST_PAGE_BYTES = 1_000_000
DAY_S = 86_400
COMMANDS = {
    "sites": ["sites", "--by", "provider"],
    "buffers": ["buffers", "--by", "provider"],
    "buffers --json": ["buffers", "--json"],
    "changes": ["changes"],
    "trend": ["trend", "--by", "region"],
    "together": ["together"],
}
failed = False


def expect(is_met, text):
    global failed
    failed |= not is_met
    return text if is_met else f"{text}  <-- limit"


class StandIn:
    """An engine with this many sites."""

    def __init__(self, sites):
        self.process = subprocess.Popen([REPLAY, "serve", f"sites={sites}", "listen=127.0.0.1:0"], stdout=subprocess.PIPE)
        self.url = f"http://{json.loads(self.process.stdout.readline())['listen']}"

    def bytes(self):
        with urllib.request.urlopen(self.url) as answer:
            return int(answer.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def run(words):
    """The first output and its size, exit code, seconds and peak memory of a command."""
    # The peak of a process counts that of its parent: the output is not held here.
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        process = subprocess.Popen([FATHOM, "fleet", *words], stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        size = output.tell()
        output.seek(0)
        return output.read(4096), size, os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss * 1024


def commands(engine, sites, wanted):
    for name, words in COMMANDS.items():
        if wanted and name not in wanted:
            continue
        before = engine.bytes()
        at = ["--at", time.strftime("%Y-%m-%d", time.gmtime(time.time() - 3 * DAY_S))] if name == "changes" else []
        output, size, code, seconds, memory = run([*words, *at, "--engine", engine.url])
        read = engine.bytes() - before
        lines = output.decode(errors="replace").splitlines()
        said = next((line.strip() for line in lines if line.strip()), "") if "--json" not in words else "JSON"
        is_met = memory < MOST_BYTES and (code == 0 or len(lines) == 1)
        print(expect(is_met, f"{sites:>9,}  {name:<15} {seconds:>7.2f} s  {memory / 1e6:>7,.0f} MB  "
                     f"{read / 1e6:>8,.1f} MB read  {size / 1e3:>8,.1f} kB  {said[:100]}"), flush=True)


def page(engine, sites):
    """The views of the page, one after the other; the second is answered from memory."""
    process = subprocess.Popen([FATHOM, "fleet", "page", "--engine", engine.url, "--listen", "127.0.0.1:0"],
                               stderr=subprocess.PIPE, text=True)
    try:
        url = process.stderr.readline().split()[-1]
        now = int(time.time())
        span, at = f"from={now - 7 * DAY_S}&to={now}", f"at={now - 3 * DAY_S}&now={now}&days=7"
        for view in (f"buffers?{span}", f"buffers?{span}&by=provider&direction=down", f"sites?{span}&by=provider",
                     f"changes?{at}", f"trend?{span}&by=region"):
            begun = time.monotonic()
            with urllib.request.urlopen(f"{url}/api/v1/{view}") as answer:
                body = answer.read()
            seconds = time.monotonic() - begun
            cells = len(json.loads(body).get("cells", []))
            text = f"{cells:,} cells" if cells else ""
            print(expect(len(body) < MOST_PAGE_BYTES or "buffers" in view and not cells,
                         f"{sites:>9,}  page {view.split('?')[0]:<10} {seconds:>7.2f} s  {len(body) / 1e3:>8,.1f} kB  {text}"), flush=True)
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = int(status.split("VmHWM:")[1].split()[0]) * 1024
        print(expect(memory < MOST_BYTES, f"{sites:>9,}  page            peak {memory / 1e6:,.0f} MB"), flush=True)
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sites", default="1000,30000,100000,1000000")
    parser.add_argument("--commands", default="")
    args = parser.parse_args()
    wanted = [name for name in args.commands.split(",") if name]
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} at the start")
    for sites in map(int, args.sites.split(",")):
        with StandIn(sites) as engine:
            commands(engine, sites, wanted)
            if not wanted:
                page(engine, sites)
    sys.exit(failed)


if __name__ == "__main__":
    main()
