#!/usr/bin/env python3
"""`fathom dut` with the switch of E. Auerswald (seed 4): a Linux bridge with tbf or htb, and emulated.

His switch had a port of 100 Mbit/s behind one of 1 Gbit/s: 340 ms of delay and 42 % of lost pings at
110 % of load, 4 MB of buffer. The bridge has a limit in bytes (tbf) or in packets (htb, pfifo), and
frames come evenly or at random. The other rows are the same 340 ms at 10 Mbit/s, his buffer of
100 kB at 10 Mbit/s (he says 800 ms: it is 80 ms), and two ports that send or receive.

    switch.py [--keep DIR]

Needs root, and interfaces of its own namespaces only.
"""
import argparse
import json
import os
import subprocess
import sys

import common

HOST, BRIDGE = f"host-{os.getpid()}", f"bridge-{os.getpid()}"
# Tests take a minute.
PATIENCE_S = 300
LIMIT_BYTES, LIMIT_PACKETS = 4_250_000, 2_807
HEAD = ("device", "spacing", "delay", "frames", "pings", "fills", "empties", "counts", "buffer", "burst", "incast")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="DIR", help="keep the results")
    keep = parser.parse_args().keep
    if keep:
        os.makedirs(keep, exist_ok=True)
    print_row(HEAD)
    print_row(("seed 4", "hardware", "340 ms", "-", "42 %", "3.4 s", "< 1 s", "-", "4 MB", "-", "-"))
    common.sh(f"ip netns add {HOST}; ip netns add {BRIDGE}; ip -n {HOST} link set lo up")
    try:
        set_up()
        bench(keep)
    finally:
        common.sh(f"ip netns del {HOST}; ip netns del {BRIDGE}")


def set_up():
    common.sh(f"ip -n {BRIDGE} link add name br0 type bridge; ip -n {BRIDGE} link set br0 up")
    for n in (1, 2, 3):
        common.sh(f"ip -n {HOST} link add name eth{n} type veth peer name p{n} netns {BRIDGE}")
        common.sh(f"ip -n {HOST} link set eth{n} up; ip -n {BRIDGE} link set p{n} master br0 up")


def bench(keep):
    both = ("--in", "eth1", "--out", "eth2")
    for spacing in ("even", "random"):
        with_queue(tbf("p2", "100mbit", LIMIT_BYTES))
        row("100 Mbit/s, tbf", [*both, "--spacing", spacing], keep)
        with_queue(pfifo("p2", "100mbit", LIMIT_PACKETS))
        row("100 Mbit/s, pfifo", [*both, "--spacing", spacing], keep)
        row("auerswald-switch", ["--line", "auerswald-switch", "--spacing", spacing], keep)
    with_queue(pfifo("p2", "10mbit", 281))
    row("10 Mbit/s, pfifo", both, keep)
    with_queue(tbf("p2", "10mbit", 100_000))
    row("10 Mbit/s, 100 kB", both, keep)
    with_queue(pfifo("p3", "100mbit", LIMIT_PACKETS))
    row("two ports send", ["--in", "eth1", "--in", "eth2", "--out", "eth3"], keep)
    with_queue(pfifo("p2", "100mbit", LIMIT_PACKETS) + pfifo("p3", "100mbit", LIMIT_PACKETS))
    others(row("two ports receive", [*both, "--out", "eth3"], keep))


def tbf(port, rate, limit):
    return [f"qdisc add dev {port} root tbf rate {rate} burst 16kb limit {limit}"]


def pfifo(port, rate, limit):
    return [
        f"qdisc add dev {port} root handle 1: htb default 1",
        f"class add dev {port} parent 1: classid 1:1 htb rate {rate} burst 16kb cburst 16kb quantum 1514",
        f"qdisc add dev {port} parent 1:1 pfifo limit {limit}",
    ]


def with_queue(commands):
    for n in (1, 2, 3):
        subprocess.run(["tc", "-n", BRIDGE, "qdisc", "del", "dev", f"p{n}", "root"], capture_output=True)
    for command in commands:
        common.sh(f"tc -n {BRIDGE} {command}")


def row(name, flags, keep):
    command = ["ip", "netns", "exec", HOST, common.FATHOM, "dut", *flags, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    result = json.loads(done.stdout)
    if keep:
        with open(f"{keep}/{name} {' '.join(flags)}.json".replace("/s", "bps"), "w") as file:
            file.write(done.stdout)
    overload, buffer = found(result, "port_overload")[0], found(result, "measured_buffer")[0]
    bursts = {burst["port_count"]: f"{burst['sent_packets']}" for burst in found(result, "lossless_burst")}
    counts = buffer.get("limit", "-")
    size = f"{buffer['packets']['value']:.0f}" if counts == "packets" else f"{buffer['bytes']['value'] / 1e6:.3f} MB"
    print_row((
        name, overload["spacing"], f"{1e3 * overload['delay_s']:.0f} ms", percent(overload["loss_ratio"]),
        percent(overload["ping_loss_ratio"]), f"{overload['fill_s']:.1f} s", f"{1e3 * overload['drain_s']:.0f} ms",
        counts, size, bursts.get(1, "-"), bursts.get(2, "-"),
    ))
    return result


def others(result):
    shared, blocking = found(result, "shared_buffer")[0], found(result, "head_of_line_blocking")[0]
    print(
        f"    other port: {'shared' if shared['is_shared'] else 'separate'} buffer ({percent(shared['left_ratio'])} left), "
        f"{'blocking' if blocking['is_blocked'] else 'no blocking'} "
        f"(+{1e3 * blocking['delay_s']:.2f} ms, {percent(blocking['loss_ratio'])} lost)"
    )


def found(result, kind):
    return [finding["parameters"] for finding in result["findings"] if finding["kind"] == kind]


def percent(ratio):
    return f"{100 * ratio:.1f} %"


def print_row(cells):
    widths = (19, 8, 8, 8, 8, 7, 8, 8, 10, 6, 6)
    print("  ".join(f"{cell:<{width}}" if n < 2 else f"{cell:>{width}}" for n, (cell, width) in enumerate(zip(cells, widths))), flush=True)


if __name__ == "__main__":
    main()
