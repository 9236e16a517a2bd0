#!/usr/bin/env python3
"""Two tests at the same time over the line of one server: do they share it fairly, and know it?

A server and two clients are namespaces on a bridge. The server's line is shaped to 100 Mbit/s in both
directions (tbf, 50 ms). Each client runs `fathom test` alone, then both at the same time; the second
one also with four times as many flows.

  bench/sharing.py      as root
"""
import json
import os
import subprocess
import time

from common import FATHOM

NAMES = [f"{name}-{os.getpid()}" for name in ("server", "one", "two", "bridge")]


def ip(command):
    subprocess.run(["ip", *command.split()], check=True)


def inside(namespace, *command, **options):
    return subprocess.Popen(["ip", "netns", "exec", namespace, *command], **options)


def set_up():
    for namespace in NAMES:
        ip(f"netns add {namespace}")
        ip(f"-n {namespace} link set lo up")
    bridge = NAMES[3]
    ip(f"-n {bridge} link add name hub type bridge")
    ip(f"-n {bridge} link set hub up")
    for number, namespace in enumerate(NAMES[:3], 1):
        ip(f"link add line netns {namespace} type veth peer name port{number} netns {bridge}")
        ip(f"-n {namespace} addr add 10.78.{number}.1/16 dev line")
        ip(f"-n {namespace} link set line up")
        ip(f"-n {bridge} link set port{number} master hub up")
    for namespace, device in ((NAMES[0], "line"), (bridge, "port1")):
        shape = ["tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "100mbit", "burst", "32k", "latency", "50ms"]
        inside(namespace, *shape).wait()


def start(namespace, flows):
    command = [FATHOM, "test", "10.78.1.1", "--json", "--no-save", "--flows", str(flows)]
    return inside(namespace, *command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def result(process):
    """Goodput down and up in Mbit/s, and whether the test knows of the other."""
    run = json.loads(process.communicate(timeout=200)[0])
    goodput = []
    for direction in ("down", "up"):
        phase = next(p for p in run["phases"] if p["kind"] == direction)
        bytes_moved = phase["load"][f"delivered_{direction}_bytes"]
        goodput.append(8e3 * bytes_moved / (phase["end_ns"] - phase["start_ns"]))
    return goodput, any(note["kind"] == "server_shared" for note in run["notes"])


def main():
    print(f"{'test':34}{'down':>16}{'up':>16}   knows of the other")
    try:
        set_up()
        server = inside(NAMES[0], FATHOM, "serve", stderr=subprocess.DEVNULL)
        time.sleep(1)
        for label, flows in (("alone", [16]), ("both, 16 flows each", [16, 16]), ("both, 16 and 64 flows", [16, 64])):
            tests = [start(namespace, count) for namespace, count in zip(NAMES[1:3], flows)]
            for number, (goodput, knows) in enumerate([result(test) for test in tests], 1):
                down, up = (f"{value:.1f} Mbit/s" for value in goodput)
                print(f"{label}, client {number:<10}".ljust(34) + f"{down:>16}{up:>16}   {'yes' if knows else 'no'}", flush=True)
        server.terminate()
        server.wait(10)
    finally:
        for namespace in NAMES:
            subprocess.run(["ip", "netns", "del", namespace])


if __name__ == "__main__":
    main()
