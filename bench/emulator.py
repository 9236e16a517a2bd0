#!/usr/bin/env python3
"""The emulated line itself: added delay when idle at 100 Mbit/s, rate error, and the most TCP that it carries."""
import json
import re

from common import lab, percentile

IDLE = """name = "bench"
about = "an idle line"
source = "bench"
[[hop]]
name = "access"
up = { rate = "100Mbit", delay = "5ms", queue = "fifo limit 1000p" }
down = { rate = "100Mbit", delay = "5ms", queue = "fifo limit 1000p" }
"""
FAST = IDLE.replace("100Mbit", "10Gbit").replace("5ms", "0ms").replace("1000p", "16000000b")


def iperf3(scenario, flags, seconds=10):
    script = f"iperf3 -c $FATHOM_SERVER -t {seconds} -O 2 -J {flags}"
    return json.loads(lab(scenario, ["sh", "-c", script], ["--far", "iperf3 -s >/dev/null"]))


def added_delay():
    """ping -s 56 is 84 bytes of IP, 98 on the wire: 7.84 us each way at 100 Mbit/s."""
    out = lab(IDLE, ["sh", "-c", "ping -i 0.01 -c 2000 -q -U $FATHOM_SERVER >/dev/null; ping -i 0.01 -c 2000 $FATHOM_SERVER"])
    expected = 10.0 + 2 * 98 * 8 / 100e6 * 1e3
    added = sorted(float(x) - expected for x in re.findall(r"time=([\d.]+) ms", out))
    print(f"added delay, round trip, idle 100 Mbit/s line: median {percentile(added, 0.5)*1e3:.0f} us, "
          f"p99 {percentile(added, 0.99)*1e3:.0f} us (limits 100, 1000)", flush=True)


def rate_error():
    for mbit in (3, 20, 100):
        got = iperf3(IDLE.replace("100Mbit", f"{mbit}Mbit"), "-C cubic")["end"]["sum_received"]["bits_per_second"]
        # 1,448 bytes of payload in 1,514 on the wire (timestamps option on).
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
