#!/usr/bin/env python3
"""Measures how fast the page of `fathom watch` is, with 500 targets, one of them with a year at one
probe per second.

The history is real: written by the store as by `fathom watch` (shell/watch/web/examples/year.rs),
500 targets for a day and the first for 365. The page runs in a headless Chromium with software
rendering, on this machine, next to the server. First view: from the start of navigation until all
rows are visible, and until their sparklines are drawn. Frame: from the wheel event until the frame
is submitted, drawn from known data; finer columns come later and are measured separately. For
comparison, a page of the same server with one form in the same browser: on a busy machine, that
alone may exceed the limit. Queries: wall time over loopback, median of --rounds.

Limits: first view 200 ms, zoom frame 50 ms. Exit code 1 if one is missed.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
PROGRAM = os.path.join(TARGET, "release", "examples", "year")
FIRST_MS, FRAME_MS = 200, 50
YEAR_S = 365 * 86_400


def query(address, path, rounds):
    """Median milliseconds and bytes of a response."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        with urllib.request.urlopen(address + path) as answer:
            size = len(answer.read())
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times), size


def judge(name, value, limit):
    print(f"{'holds: ' if value <= limit else 'MISSED:'} {name}: {value:.0f} ms (at most {limit})")
    return value <= limit


def measure(address, rounds):
    now = int(time.time())
    ten = now // 600 * 600 + 600
    paths = [
        ("overview, 500 targets, 24 h", f"/api/v1/overview?from={ten - 86_400}&to={ten}&cols=144&format=binary"),
        ("year at 1/s to 1200 columns", f"/api/v1/smoke?series=0&from={now - YEAR_S}&to={now}&cols=1200&format=binary"),
        ("day to 1200 columns", f"/api/v1/smoke?series=0&from={now - 86_400}&to={now}&cols=1200&format=binary"),
        ("hour to 1200 columns", f"/api/v1/smoke?series=0&from={now - 3_600}&to={now}&cols=1200&format=binary"),
        ("heat map, a year of hours", f"/api/v1/heatmap?series=0&from={now - YEAR_S}&to={now}"),
        ("two halves of a year compared", f"/api/v1/compare?series=0&from={now - YEAR_S}&to={now - YEAR_S // 2}&from2={now - YEAR_S // 2}&to2={now}"),
        ("every probe of a day, CSV", f"/api/v1/samples?series=0&from={now - 86_400}&to={now}&format=csv"),
        ("all targets as they are now", "/api/v1/targets"),
    ]
    print(f"{'query over loopback':34}{'ms':>8}{'kB':>9}")
    for name, path in paths:
        ms, size = query(address, path, rounds)
        print(f"{name:34}{ms:8.1f}{size / 1e3:9.1f}")
    script = os.path.join(ROOT, "bench", "watch", "page.mjs")
    done = subprocess.run(["node", script, address, str(rounds)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def report(seen):
    rows = [one["rows"]["ms"] for one in seen["first"]]
    sparks = [one["sparks"] for one in seen["first"]]
    steps = seen["zoom"]["steps"]
    whole, script = sorted(s["whole"] for s in steps), sorted(s["script"] for s in steps)
    print(f"\nfirst view of {seen['first'][0]['rows']['count']} targets, {len(rows)} rounds: rows {statistics.median(rows):.0f} ms median, "
          f"{max(rows):.0f} max; with sparklines {statistics.median(sparks):.0f} median, {max(sparks):.0f} max")
    print(f"for comparison, a page of the same server with only a form is painted after {statistics.median(seen['bare']):.0f} ms (median), "
          f"the limit of this machine and browser; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    print(f"zooming and moving in a year, {len(steps)} frames of up to {max(s['columns'] for s in steps)} columns: "
          f"script {statistics.median(script):.1f} ms median, {script[-1]:.1f} max; frame {statistics.median(whole):.1f} median, "
          f"{whole[int(0.99 * len(whole))]:.1f} p99, {whole[-1]:.1f} max; all columns complete {seen['zoom']['refined']:.0f} ms after a zoom")
    held = [
        judge("first view, rows of all targets, median", statistics.median(rows), FIRST_MS),
        judge("first view with sparklines, median", statistics.median(sparks), FIRST_MS),
        judge("zoom frame, p99", whole[int(0.99 * len(whole))], FRAME_MS),
    ]
    return all(held)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--days", type=int, default=365, help="days of history of the first target")
    given = options.parse_args()
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "-p", "fathom-watch-web", "--example", "year"], cwd=ROOT, check=True)
    store = tempfile.mkdtemp(prefix="fathom-page-")
    server = subprocess.Popen([PROGRAM, store, "500", "1", str(given.days)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        time.sleep(5)
        held = report(measure(address, given.rounds))
    finally:
        server.stdin.close()
        server.wait()
        shutil.rmtree(store)
    sys.exit(0 if held else 1)


main()
