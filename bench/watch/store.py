#!/usr/bin/env python3
"""The history of a watch: size compared with SmokePing and Prometheus, writes, query times, and
resistance to damage.

The lines are synthetic (shell/watch/store/examples/watch_store/line.rs): fiber, DOCSIS and Wi-Fi
with evening load, uploads that fill the buffer, route changes and loss. Sizes are for a year at one
sample per second. SmokePing's files have their full size from the first day; both layouts are made
by the real rrdtool. Prometheus' blocks cover two days and are made by its own promtool.

Limits: no damage and at most the documented ten seconds lost in 200 kills, 20 full disks and 20
stepped clocks; a year at full resolution in 1,200 columns within 50 ms.
"""
import contextlib
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(os.environ.get("WATCH_STORE", "target/release/examples/watch_store"))
PROFILES = ("fibre", "docsis", "wifi")
DAY, YEAR = 86_400, 365 * 86_400
# Consolidation function, steps per row, rows. Upstream's and Debian's defaults; 300 s, 20 pings.
LAYOUTS = {
    "SmokePing upstream": [("AVERAGE", 1, 28800), *((cf, 12, 9600) for cf in ("AVERAGE", "MIN", "MAX")),
                           *((cf, 144, 2400) for cf in ("AVERAGE", "MAX", "MIN"))],
    "SmokePing Debian": [("AVERAGE", 1, 1008), *((cf, 12, 4320) for cf in ("AVERAGE", "MIN", "MAX")),
                         *((cf, 144, 720) for cf in ("AVERAGE", "MAX", "MIN"))],
}
KILLS, FULL, CLOCKS, KILL_SEED = 200, 20, 20, 1
YEAR_MS = 50


def run(*words, program=PROGRAM):
    """The JSON printed by the program, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), cpu


def smokeping(folder, layout):
    """Size of one target's file."""
    file = os.path.join(folder, "target.rrd")
    names = ["uptime", "loss", "median", *(f"ping{n}" for n in range(1, 21))]
    sources = [f"DS:{name}:GAUGE:600:0:U" for name in names]
    archives = [f"RRA:{cf}:0.5:{steps}:{rows}" for cf, steps, rows in layout]
    subprocess.run(["rrdtool", "create", file, "--step", "300", *sources, *archives], check=True)
    return os.path.getsize(file)


def prometheus(folder, profile):
    """Bytes per sample in blocks of two days."""
    text, blocks = os.path.join(folder, "text"), os.path.join(folder, f"blocks-{profile}")
    with open(text, "w") as out:
        subprocess.run([PROGRAM, "text", profile, str(2 * DAY)], stdout=out, check=True)
    samples = sum(line.startswith("rtt") for line in open(text))
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", text, blocks], check=True, capture_output=True)
    size = sum(os.path.getsize(os.path.join(root, f)) for root, _, files in os.walk(blocks) for f in files)
    os.remove(text)
    return size / samples


def bytes_of_samples(place):
    """Size of the single samples in a history, without windows and page overhead."""
    with contextlib.closing(sqlite3.connect(f"file:{place}/history.db?mode=ro", uri=True)) as history:
        return sum(history.execute(f"SELECT coalesce(sum(length(packed)), 0) FROM {table}").fetchone()[0] for table in ("chunk", "part"))


def sizes(folder):
    """Bytes of a year, compared with other programs; leaves the years for the queries."""
    rrd = {name: smokeping(folder, layout) for name, layout in LAYOUTS.items()}
    print(f"{'a year at one sample a second':<34}{'bytes/sample':>14}{'MB/target-year':>16}{'of it samples':>15}{'entropy bound':>15}"
          f"{'CPU us/sample':>15}")
    for profile in PROFILES:
        place = os.path.join(folder, f"year-{profile}")
        filled, cpu = run("fill", place, profile, 1, YEAR, 21_600)
        size, samples = filled["file_bytes"], bytes_of_samples(place)
        print(f"{'fathom ' + profile:<34}{size / filled['samples']:>14.3f}{size / 1e6:>16.1f}{samples / 1e6:>15.1f}"
              f"{filled['floor_bytes'] / 1e6:>15.1f}{cpu / filled['samples'] * 1e6:>15.2f}", flush=True)
    for profile in PROFILES:
        each = prometheus(folder, profile)
        print(f"{'Prometheus blocks, ' + profile:<34}{each:>14.3f}{each * YEAR / 1e6:>16.1f}", flush=True)
    for name, size in rrd.items():
        rows = LAYOUTS[name][0][2]
        print(f"{name + ' (20 in 300 s)':<34}{size / (YEAR / 300 * 20):>14.3f}{size / 1e6:>16.1f}"
              f"   single rounds for {rows * 300 / DAY:.1f} days, averages for longer")


def writes(folder):
    """Bytes of pages dirtied in a day, compared with the bytes kept."""
    print(f"{'a day of writing':<34}{'MB written':>12}{'MB kept':>10}{'ratio':>8}{'CPU s':>8}")
    for count, flush in ((5, 10), (5, 60), (100, 10), (100, 60), (1000, 10)):
        place = os.path.join(folder, "writes")
        filled, cpu = run("fill", place, ",".join(PROFILES), count, DAY, flush)
        shutil.rmtree(place)
        print(f"{f'{count} targets, durable in {flush} s':<34}{filled['written_bytes'] / 1e6:>12.1f}"
              f"{filled['file_bytes'] / 1e6:>10.1f}{filled['written_bytes'] / filled['file_bytes']:>8.1f}{cpu:>8.1f}", flush=True)


def queries(folder):
    """Milliseconds to 1,200 columns, and to an overview of 500 targets. Returns whether a limit is
    missed.
    """
    print(f"{'ms to 1,200 columns of one target':<34}" + "".join(f"{w:>10}" for w in ("hour", "day", "week", "month", "quarter", "year")))
    missed = False
    for profile in PROFILES:
        found, _ = run("query", os.path.join(folder, f"year-{profile}"))
        spans = [found[f"{span}_ms"] for span in ("hour", "day", "week", "month", "quarter", "year")]
        print(f"{profile:<34}" + "".join(f"{ms:>10.1f}" for ms in spans), flush=True)
        print(f"{'  first query':<34}" + "".join(f"{found[f'{span}_first_ms']:>10.1f}" for span in ("hour", "day", "week", "month", "quarter", "year")))
        missed |= max(spans) > YEAR_MS
    place = os.path.join(folder, "overview")
    filled, cpu = run("fill", place, ",".join(PROFILES), 500, DAY + DAY // 2, 60)
    found, _ = run("query", place)
    shutil.rmtree(place)
    print(f"500 targets, a day and a half: {filled['samples'] / 1e6:.1f} million samples in {cpu:.0f} CPU s; overview of the last hour in 60 columns "
          f"each {found['all_hour_ms']:.0f} ms (first {found['all_hour_first_ms']:.0f}), of the last day in 144 columns each "
          f"{found['all_day_ms']:.0f} ms (first {found['all_day_first_ms']:.0f}); one target's day {found['day_ms']:.1f} ms", flush=True)
    return missed


def kills(folder):
    """A writer of 50 series killed at random; everything it reported as recorded must be there,
    except for the documented seconds.
    """
    place, rng, worst = os.path.join(folder, "kill"), random.Random(KILL_SEED), 0
    started = time.monotonic()
    for _ in range(KILLS):
        with tempfile.TemporaryFile("w+") as out:
            writer = subprocess.Popen([PROGRAM, "write", place], stdout=out)
            time.sleep(rng.uniform(0.02, 0.6))
            writer.kill()
            writer.wait()
            out.seek(0)
            reported = re.findall(r"^(\d+)\n", out.read(), re.M)
        found, _ = run("check", place)
        if reported:
            worst = max(worst, int(reported[-1]) + 1 - found["seconds"])
    print(f"{KILLS} kills of a writer of 50 series (seed {KILL_SEED}), {found['seconds'] / 3600:.1f} hours written in "
          f"{time.monotonic() - started:.0f} s: no damage, at most {worst} s lost (limit 11: the documented 10 s, and the one in progress)", flush=True)
    return worst > 11


def full():
    """Disks of 9 to 14 MB that another program fills for days."""
    dropped = troubled = days = seconds = 0
    for seed in range(FULL):
        with tempfile.TemporaryDirectory() as disk:
            size = 9 + seed % 6
            script = f'mount -t tmpfs -o size={size}m none "$1" && exec "$0" full "$1" {seed}'
            done = subprocess.run(["unshare", "--mount", "sh", "-c", script, PROGRAM, disk], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"full disk, seed {seed}: {done.stderr}")
        found = json.loads(done.stdout)
        dropped, days = dropped + found["dropped_samples"], days + found["dropped_days"]
        troubled, seconds = troubled + found["troubled_seconds"], seconds + found["full_seconds"]
    print(f"{FULL} full disks, {seconds / DAY:.0f} days in all: no damage, no sample lost but {days} of the oldest days, which made room, and "
          f"{dropped} samples; nothing could be written in {troubled / max(seconds, 1):.1%} of the time, after which all was", flush=True)


def clocks(folder):
    steps = 0
    for seed in range(CLOCKS):
        place = os.path.join(folder, f"clock-{seed}")
        steps += run("clock", place, seed)[0]["steps"]
        shutil.rmtree(place)
    print(f"{CLOCKS} clocks stepped both ways, {steps} steps of seconds to days: every sample is there once, at every zoom", flush=True)


def main():
    for tool in ("rrdtool", "promtool"):
        if shutil.which(tool) is None:
            sys.exit(f"store: {tool} is missing\n  try: apt-get install -y rrdtool prometheus")
    if "WATCH_STORE" not in os.environ:
        build = ["cargo", "build", "--release", "--locked", "--package", "fathom-watch-store", "--example", "watch_store"]
        subprocess.run(build, check=True)
    # On a disk, because /tmp may not be on one.
    with tempfile.TemporaryDirectory(dir=os.environ.get("WATCH_STORE_DIR")) as folder:
        sizes(folder)
        writes(folder)
        missed = queries(folder)
        missed |= kills(folder)
        full()
        clocks(folder)
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
