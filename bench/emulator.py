#!/usr/bin/env python3
"""The emulated line: added delay when idle at 100 Mbit/s, rate error, and maximum TCP throughput.
"""
import json
import os
import re
import subprocess

from common import lab, line, percentile

IDLE = line("100Mbit", "1000p").replace("200Mbit", "100Mbit")
FAST = IDLE.replace("100Mbit", "10Gbit").replace("5ms", "0ms").replace("1000p", "16000000b")


def iperf3(scenario, flags, seconds=10):
    # The server needs a moment to start.
    script = f"sleep 1; iperf3 -c $FATHOM_SERVER -t {seconds} -O 2 -J {flags}"
    return json.loads(lab(scenario, ["sh", "-c", script], ["--far", "iperf3 -s >/dev/null"]))


def rtts_us(text):
    return sorted(float(x) * 1e3 for x in re.findall(r"time=([\d.]+) ms", text))


def ping_over_veth():
    """Round-trip time of a ping between two namespaces without a line: mostly the wake-up of ping
    itself.
    """
    a, b = (f"fathom-{who}-{os.getpid()}" for who in "ab")
    setup = (f"ip netns add {a}; ip netns add {b}; ip -n {a} link add v type veth peer name v netns {b}; "
             f"ip -n {a} link set v up; ip -n {b} link set v up; ip -n {a} addr add 198.18.9.1/24 dev v; "
             f"ip -n {b} addr add 198.18.9.2/24 dev v")
    try:
        subprocess.run(setup, shell=True, check=True)
        command = f"ip netns exec {a} ping -i 0.01 -c 1000 198.18.9.2"
        return rtts_us(subprocess.run(command.split(), capture_output=True, text=True).stdout)
    finally:
        subprocess.run(f"ip netns del {a}; ip netns del {b}", shell=True)


def added_delay():
    """Delays of 450 us each way keep the round trip below 1 ms, where ping prints microseconds.
    ping -s 56 is 98 bytes on the wire.
    """
    out = lab(IDLE.replace("5ms", "450us"), ["sh", "-c", "ping -i 0.01 -c 2000 $FATHOM_SERVER"])
    ideal = 2 * (450 + 98 * 8 / 100)
    got, bare = rtts_us(out), ping_over_veth()
    for p, limit in ((0.5, 100), (0.99, 1000)):
        over, without = percentile(got, p) - ideal, percentile(bare, p)
        print(f"idle 100 Mbit/s line, round trip, p{p*100:g}: {over:.0f} us above the ideal; a bare veth pair takes "
              f"{without:.0f} us, so the line adds {over - without:.0f} us (limit {limit})", flush=True)


def rate_error():
    for mbit in (3, 20, 100):
        got = iperf3(IDLE.replace("100Mbit", f"{mbit}Mbit"), "-C cubic")["end"]["sum_received"]["bits_per_second"]
        # 1,448 bytes of payload in 1,514 on the wire (with timestamps).
        error = got / (mbit * 1e6 * 1448 / 1514) - 1
        print(f"rate error at {mbit} Mbit/s, from goodput: {error:+.2%} (limit 0.5 %)", flush=True)


def most_tcp():
    for flags in ("-P1", "-P4", "-P4 -R"):
        got = iperf3(FAST, flags)["end"]["sum_received"]["bits_per_second"]
        print(f"TCP through a 10 Gbit/s line, iperf3 {flags:<7}: {got/1e9:.2f} Gbit/s (at least 2)", flush=True)


if __name__ == "__main__":
    added_delay()
    rate_error()
    most_tcp()
