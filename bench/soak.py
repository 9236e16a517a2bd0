#!/usr/bin/env python3
"""Runs all daemons together for an hour, under load and faults, and checks that they do not grow.

Two namespaces are joined by a veth pair. One runs `fathom serve`, the other `fathom watch` with 60
series and `fathom fix --auto`. Load: a speed test every minute, 20 open pages, queries of the page,
idle connections to the server. Faults, every five minutes: the link goes down for 3 s, the server
stops for 5 s (SIGSTOP), the disk of the history is full for 30 s, the configuration is read again.

Memory (resident), file descriptors and threads are sampled every 10 s. Each must be flat: its median
in the last sixth of the time may exceed that of the second sixth by no more than the limit. The
lateness of probes is that of `/metrics`.

  bench/soak.py [--minutes N] [--keep FOLDER]   as root; exit code 1 if something grew or a daemon
                                                ended. FOLDER gets the logs and samples.json.
"""
import argparse
import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from common import FATHOM

NEAR, FAR = f"soak-near-{os.getpid()}", f"soak-far-{os.getpid()}"
PAGE = 8077
# Limits of growth: 5 % and 2 MB of memory, 4 descriptors (connections that are open at the time), no
# thread more than one (a client that is served at the time).
LIMITS = {"memory": lambda before: before * 1.05 + 2e6, "descriptors": lambda before: before + 4, "threads": lambda before: before + 1}
SAMPLE_S, CYCLE_S = 10, 300
# linux/sched.h.
CLONE_NEWNET = 0x40000000


def ip(command):
    subprocess.run(["ip", *command.split()], check=True)


def inside(namespace, *command, **options):
    return subprocess.Popen(["ip", "netns", "exec", namespace, *command], **options)


def set_up():
    for namespace in (NEAR, FAR):
        ip(f"netns add {namespace}")
        ip(f"-n {namespace} link set lo up")
    ip(f"link add near netns {NEAR} type veth peer name far netns {FAR}")
    for namespace, name, address in ((NEAR, "near", "10.77.0.1"), (FAR, "far", "10.77.0.2")):
        ip(f"-n {namespace} addr add {address}/24 dev {name}")
        ip(f"-n {namespace} link set {name} up")


def configuration(store):
    targets = "".join(
        f'[[target]]\nname = "{number}"\nhost = "10.77.0.2"\nprobe = ["icmp", "tcp:3279", "http:3279"]\ninterval = "500ms"\n'
        for number in range(20)
    )
    alert = '[[alert]]\nname = "loss"\ntype = "loss"\nabove = "5%"\nfor = "10s"\n'
    return f'[watch]\nstore = "{store}"\nlisten = "127.0.0.1:{PAGE}"\n{alert}{targets}'


def usage(pid):
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return {
        "memory": int(fields["VmRSS"].split()[0]) * 1024,
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": int(fields["Threads"]),
    }


class Load:
    """Everything that uses the daemons, until `stop` is set."""

    def __init__(self):
        self.stop, self.tests, self.queries, self.errors = threading.Event(), 0, 0, 0

    def enter(self, namespace):
        with open(f"/run/netns/{namespace}") as file:
            # For this thread alone. Python has it from 3.12 on.
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")

    def speed_tests(self):
        while not self.stop.wait(40):
            command = (FATHOM, "test", "10.77.0.2", "--no-save", "-q")
            done = inside(NEAR, *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                done.wait(120)
            except subprocess.TimeoutExpired:
                done.kill()
            self.tests += 1

    def page(self, number):
        self.enter(NEAR)
        while not self.stop.is_set():
            try:
                with socket.create_connection(("127.0.0.1", PAGE), 5) as stream:
                    stream.sendall(b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    end = time.monotonic() + 60 + number
                    while time.monotonic() < end and not self.stop.is_set():
                        stream.settimeout(5)
                        if not stream.recv(65536):
                            break
            except OSError:
                self.stop.wait(1)

    def ask(self):
        self.enter(NEAR)
        while not self.stop.wait(0.5):
            # A range of constant length: the memory for the answer to a longer one is not growth.
            span = f"from={time.time() - 300:.0f}&to={time.time():.0f}"
            paths = ("/", "/metrics", "/api/v1/targets", "/api/v1/series", f"/api/v1/overview?{span}",
                     f"/api/v1/smoke?series=1&{span}", f"/api/v1/samples?series=1&{span}", f"/api/v1/events?{span}", "/nothing")
            for path in paths:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{PAGE}{path}", timeout=20).read()
                    self.queries += 1
                except urllib.error.HTTPError:
                    self.queries += 1
                except OSError:
                    self.errors += 1

    def idle(self):
        self.enter(NEAR)
        while not self.stop.wait(1):
            held = []
            for _ in range(50):
                try:
                    held.append(socket.create_connection(("10.77.0.2", 3279), 1))
                except OSError:
                    break
            self.stop.wait(5)
            for connection in held:
                connection.close()

    def start(self):
        jobs = [self.speed_tests, self.ask, self.idle] + [lambda n=n: self.page(n) for n in range(20)]
        self.threads = [threading.Thread(target=job, daemon=True) for job in jobs]
        for thread in self.threads:
            thread.start()


def fault(at, daemons, disk):
    """Makes the faults of a second within the cycle."""
    if at == 60:
        ip(f"-n {NEAR} link set near down")
    elif at == 63:
        ip(f"-n {NEAR} link set near up")
    elif at == 120:
        daemons["serve"].send_signal(signal.SIGSTOP)
    elif at == 125:
        daemons["serve"].send_signal(signal.SIGCONT)
    elif at == 180:
        # Until nothing more fits.
        subprocess.run(["dd", "if=/dev/zero", f"of={disk}/filler", "bs=4096"], stderr=subprocess.DEVNULL)
    elif at == 210:
        os.remove(f"{disk}/filler")
    elif at == 240:
        daemons["watch"].send_signal(signal.SIGHUP)


def lateness():
    """Longest lateness of an ICMP probe in the last 15 s, from /metrics."""
    done = subprocess.run(
        ["ip", "netns", "exec", NEAR, "curl", "-s", "-m", "10", f"http://127.0.0.1:{PAGE}/metrics"], capture_output=True, text=True
    )
    found = re.search(r'^fathom_host_lateness_seconds\{[^}]*icmp[^}]*\} (\S+)', done.stdout, re.MULTILINE)
    return float(found.group(1)) if found else None


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else float("nan")


def sixths(rows, take):
    """Medians of each sixth of the time."""
    size = max(1, len(rows) // 6)
    return [median([take(row) for row in rows[n * size : (n + 1) * size] if take(row) is not None]) for n in range(6)]


def run(minutes, folder):
    disk, state = f"{folder}/disk", f"{folder}/state"
    os.makedirs(disk)
    os.mkdir(state)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", disk], check=True)
    with open(f"{folder}/watch.toml", "w") as file:
        file.write(configuration(f"{disk}/store"))
    log = {name: open(f"{folder}/{name}.log", "w") for name in ("serve", "watch", "fix")}
    daemons = {"serve": inside(FAR, FATHOM, "serve", stderr=log["serve"])}
    time.sleep(1)
    daemons["watch"] = inside(NEAR, FATHOM, "watch", f"{folder}/watch.toml", stderr=log["watch"])
    shaper = ["fix", "near", "--auto", "--server", "10.77.0.2", "--up", "50mbit", "--down", "50mbit", "--state", state]
    daemons["fix"] = inside(NEAR, FATHOM, *shaper, stdout=log["fix"], stderr=subprocess.STDOUT)
    time.sleep(5)
    load = Load()
    load.start()
    rows, began, second = [], time.monotonic(), 0
    try:
        while second < 60 * minutes:
            fault(second % CYCLE_S, daemons, disk)
            if second % SAMPLE_S == 0:
                ended = [name for name, process in daemons.items() if process.poll() is not None]
                if ended:
                    for name in ended:
                        print(open(f"{folder}/{name}.log").read()[-2000:], file=sys.stderr)
                    sys.exit(f"{', '.join(ended)} ended after {second} s")
                rows.append({name: usage(process.pid) for name, process in daemons.items()} | {"lateness": lateness()})
                with open(f"{folder}/samples.json", "w") as file:
                    json.dump(rows, file)
            second += 1
            time.sleep(max(0, began + second - time.monotonic()))
    finally:
        load.stop.set()
        codes = {}
        for name, process in daemons.items():
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
        for name, process in daemons.items():
            try:
                codes[name] = process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                codes[name] = "killed"
        for thread in load.threads:
            thread.join(10)
        subprocess.run(["umount", "-l", disk])
    return rows, load, codes


def report(rows, load, codes):
    grown = []
    print(f"{len(rows) * SAMPLE_S // 60} minutes, {load.tests} speed tests, {load.queries:,} requests to the page ({load.errors} failed)")
    print(f"{'daemon':8}{'':14}{'median of each sixth of the time':>42}{'':8}{'limit':>10}")
    for name in ("serve", "watch", "fix"):
        for what, limit in LIMITS.items():
            values = sixths(rows, lambda row: row[name][what])
            scale = 1e6 if what == "memory" else 1
            shown = "".join(f"{value / scale:>9.1f}" if what == "memory" else f"{value:>9}" for value in values)
            most = limit(values[1])
            flat = values[5] <= most
            grown += [] if flat else [f"{what} of {name}"]
            unit = " MB" if what == "memory" else ""
            print(f"{name:8}{what:12}{shown}{most / scale:>9.1f}{unit}{'' if flat else '  GREW'}")
    late = sixths(rows, lambda row: row["lateness"])
    print(f"{'watch':8}{'lateness':12}" + "".join(f"{1e6 * value:>9.0f}" for value in late) + "  us, longest of 15 s")
    print("exit codes: " + ", ".join(f"{name} {code}" for name, code in codes.items()))
    return grown + [f"exit code of {name}" for name, code in codes.items() if code not in (0, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--keep", metavar="FOLDER")
    args = parser.parse_args()
    with contextlib.nullcontext(args.keep) if args.keep else tempfile.TemporaryDirectory() as folder:
        try:
            set_up()
            failed = report(*run(args.minutes, folder))
        finally:
            for namespace in (NEAR, FAR):
                subprocess.run(["ip", "netns", "del", namespace])
    if failed:
        sys.exit("not flat: " + ", ".join(failed))


if __name__ == "__main__":
    main()
