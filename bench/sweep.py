#!/usr/bin/env python3
"""Runs a sweep of 100 x 100 parameters x 32 seeds of a tiny scenario from the command line and
from Python, on each executor: cells per second, CPU time per cell, speed-up of 2 workers over 1.

The overhead of an executor is the CPU time of all its processes, those of the engine too, without
that of the command line for the same cells. Its start is not counted. All write the same bytes,
which is checked. Last, how much the memory of the caller grows.

    sweep.py [--values N] [--seeds N] [--only NAME]

Needs the virtual environment of `make python` with a release build of the package, which it makes
there. FATHOM names another program than target/release/fathom.
"""
import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from common import FATHOM

TOP = Path(__file__).resolve().parent.parent
ENVIRONMENT = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")) / "python/venv"

# A load of one flow for half a second on a slow line: about 100 packets.
SCENARIO = """name = "tiny"
about = "One flow for a short time"
source = "bench"
[[hop]]
name = "modem"
up = { rate = "1mbit", delay = "10ms", queue = "fifo limit 30000b" }
down = { rate = "10mbit", delay = "10ms" }
[run]
idle = "100ms"
drain = "100ms"
[load]
up_flows = 1
duration = "500ms"
"""
MEASURES = ["udp_rtt_s p95", "goodput_bits_per_second up mean"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", type=int, default=100, help="values of each of the two parameters")
    parser.add_argument("--seeds", type=int, default=32)
    parser.add_argument("--only", help="one executor")
    args = parser.parse_args()
    cells = args.values**2 * args.seeds
    print(f"{args.values} x {args.values} parameters x {args.seeds} seeds: {cells:,} cells", flush=True)
    print(f"{'on':24} {'workers':>7} {'s':>8} {'cells/s':>8} {'CPU ms/cell':>12} {'overhead':>9} {'speed-up':>8}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tiny.toml").write_text(SCENARIO)
        os.chdir(folder)
        digests, base = set(), None
        for name, run in RUNS.items():
            if args.only not in (None, name) and name != "command line":
                continue
            alone = None
            for workers in (1, 2):
                to = f"{name.replace(' ', '-')}-{workers}"
                # Each in a process of its own, so that its CPU time and memory are its own.
                wall_s, cpu_s, grown_mb = measured(run, to, workers, args)
                base, alone = base or cpu_s, alone or wall_s
                overhead = f"{(cpu_s - base) / cells * 1e6:+.0f} us" if name != "command line" else "-"
                print(
                    f"{name:24} {workers:7} {wall_s:8.1f} {cells / wall_s:8,.0f} {cpu_s / cells * 1e3:12.3f} "
                    f"{overhead:>9} {alone / wall_s:8.2f}"
                    + (f"   memory +{grown_mb:.0f} MB" if grown_mb is not None else ""),
                    flush=True,
                )
                digests.add(digest(Path(to)))
        files = len(list(Path("command-line-1").glob("part-*")))
    if len(digests) != 1:
        sys.exit("missed: the files differ")
    print(f"{files} files, the same bytes from all")


def digest(folder):
    text = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        text.update(file.name.encode() + file.read_bytes())
    return text.hexdigest()


def measured(run, to, workers, args):
    """Wall time, CPU time of all processes, growth of the caller's memory."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            result = run(to, workers, args)
            os.write(writer, json.dumps(result).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        sys.exit("failed")
    return json.loads(text)


def on_command_line(to, workers, args):
    rates = f"1mbit..2mbit/{args.values}"
    words = ["--vary", f"hop.modem.up.rate={rates}", "--vary", f"hop.modem.up.delay=10ms..30ms/{args.values}"]
    words += ["--seeds", f"1..{args.seeds}", "--jobs", str(workers), "-o", f"{to}/", "--yes"]
    words += [word for measure in MEASURES for word in ("--measure", measure)]
    began = time.monotonic()
    subprocess.run([FATHOM, "sim", "sweep", "tiny.toml", *words], check=True, capture_output=True)
    return time.monotonic() - began, cpu_s(resource.RUSAGE_CHILDREN), None


def cpu_s(whose):
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def tree_cpu_s():
    """CPU time of this process and of all its descendants that live, and of children that ended."""
    import psutil

    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def in_python(start):
    """A run with the executor that the context manager `start` makes for a number of workers."""

    def run(to, workers, args):
        import fathom
        import psutil

        def sweep(folder, values, seeds):
            return fathom.sweep(
                "tiny.toml",
                vary={
                    "hop.modem.up.rate": f"1mbit..2mbit/{values}",
                    "hop.modem.up.delay": f"10ms..30ms/{values}",
                },
                seeds=range(1, seeds + 1),
                measures=MEASURES,
                to=folder,
                executor=executor,
                **({"threads": workers} if executor is None else {}),
            )

        with start(workers) as executor:
            # Starts the workers, which import the package.
            sweep(f"{to}-warm", 10, 10)
            before_mb = psutil.Process().memory_info().rss / 1e6
            before_s, began = tree_cpu_s(), time.monotonic()
            sweep(to, args.values, args.seeds)
            wall_s = time.monotonic() - began
            return wall_s, tree_cpu_s() - before_s, psutil.Process().memory_info().rss / 1e6 - before_mb

    return run


@contextmanager
def threads(_):
    yield None


@contextmanager
def dask(workers):
    import distributed

    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def ray(workers):
    os.environ["RAY_AUTH_MODE"] = "disabled"
    import ray as module

    module.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield module
    module.shutdown()


RUNS = {
    "command line": on_command_line,
    "threads": in_python(threads),
    "ThreadPoolExecutor": in_python(ThreadPoolExecutor),
    "ProcessPoolExecutor": in_python(lambda workers: ProcessPoolExecutor(workers, mp_context=get_context("spawn"))),
    "Dask": in_python(dask),
    "Ray": in_python(ray),
}


if __name__ == "__main__":
    if Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        wheels = ENVIRONMENT.parent / "release"
        build = [ENVIRONMENT / "bin/maturin", "build", "--quiet", "--release", "--out", wheels]
        subprocess.run(build, cwd=TOP, check=True)
        install = [ENVIRONMENT / "bin/pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
        subprocess.run([*install, *wheels.glob("fathom-*.whl")], check=True)
        # With its path: Python finds its environment by the first argument.
        python = str(ENVIRONMENT / "bin/python")
        os.execv(python, [python, *sys.argv])
    main()
