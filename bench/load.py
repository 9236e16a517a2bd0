#!/usr/bin/env python3
"""Compares the load generator with iperf3 over one veth pair: Gbit/s, and CPU seconds of both ends
per GB delivered.

Fathom's results include its probes, reports and self-monitoring. Limits: no more CPU than iperf3,
and at least 5 Gbit/s. Both run in turn for several rounds; their medians are compared.
"""
import json
import os
import statistics
import subprocess
import time

from common import FATHOM, phase

NS = [f"fathom-{who}-{os.getpid()}" for who in "ab"]
SECONDS, ROUNDS = 8, 3


def ip(command):
    subprocess.run(f"ip {command}", shell=True, check=True)


def build():
    for name in NS:
        ip(f"netns add {name}")
    ip(f"-n {NS[0]} link add v0 type veth peer name v0 netns {NS[1]}")
    for i, name in enumerate(NS):
        ip(f"-n {name} addr add 198.18.3.{i + 1}/24 dev v0")
        ip(f"-n {name} link set v0 up")
        ip(f"-n {name} link set lo up")
        ip(f"-n {name} route replace 198.18.3.0/24 dev v0 congctl cubic")


def start(name, command):
    return subprocess.Popen(["ip", "netns", "exec", name, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def cpu_seconds(process, kill=False):
    """Output and CPU seconds of a process, which is stopped if it is still running."""
    if kill:
        process.terminate()
    out = process.stdout.read()
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return out, used.ru_utime + used.ru_stime


def measure(server_command, client_command, delivered):
    server = start(NS[1], server_command)
    time.sleep(0.5)
    out, client_cpu = cpu_seconds(start(NS[0], client_command))
    _, server_cpu = cpu_seconds(server, kill=True)
    size, seconds = delivered(json.loads(out))
    return size * 8 / seconds / 1e9, (client_cpu + server_cpu) / (size / 1e9)


def fathom(direction, flows):
    def delivered(run):
        load = phase(run, direction)
        return load["load"][f"delivered_{direction}_bytes"], (load["end_ns"] - load["start_ns"]) / 1e9
    flags = f"test 198.18.3.2 --json --no-save --phases {direction} --flows {flows} --max-phase {SECONDS}s"
    # The default limit of a session, 100 GB, is 7 s at what this machine may reach.
    return measure([FATHOM, "serve", "--max-bytes", "2000gb"], [FATHOM, *flags.split()], delivered)


def iperf3(direction, flows):
    def delivered(report):
        received = report["end"]["sum_received"]
        return received["bytes"], received["seconds"]
    flags = f"-c 198.18.3.2 -J -t {SECONDS} -P {flows}" + (" -R" if direction == "down" else "")
    return measure(["iperf3", "-s"], ["iperf3", *flags.split()], delivered)


def main():
    build()
    failed = False
    try:
        print(f"{'flows':<6}{'direction':<10}{'fathom Gbit/s':>14}{'iperf3 Gbit/s':>14}{'fathom CPU s/GB':>17}{'iperf3 CPU s/GB':>17}")
        for flows in (1, 4):
            for direction in ("up", "down"):
                pairs = [(fathom(direction, flows), iperf3(direction, flows)) for _ in range(ROUNDS)]
                row = [statistics.median(p[tool][i] for p in pairs) for i in (0, 1) for tool in (0, 1)]
                failed |= row[0] < 5 or row[2] > row[3]
                print(f"{flows:<6}{direction:<10}{row[0]:>14.2f}{row[1]:>14.2f}{row[2]:>17.3f}{row[3]:>17.3f}", flush=True)
    finally:
        for name in NS:
            subprocess.run(["ip", "netns", "del", name])
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
