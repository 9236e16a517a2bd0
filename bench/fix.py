#!/usr/bin/env python3
"""`fathom fix` on a router in front of a modem with a full buffer, on this kernel, in its own
namespaces.

  client 10.0.0.1 --- router wan0 --- modem: 10 Mbit/s and 256 kB up, 40 Mbit/s and 1 MB down --- server 10.0.2.2

A ping every 50 ms with CUBIC flows of iperf3, without a shaper and with each shaper that this
kernel supports, at 95 % of the line's rates, which are given on the command line. Limits: working
latency at most 20 ms with a single short queue and 5 ms with the flow hash (medians, one flow);
goodput at least 93 % of the line's (measured without a shaper, one flow).
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from common import FATHOM

NAMES = {who: f"fathom-fix-{who}-{os.getpid()}" for who in ("client", "router", "modem", "server")}
SECONDS = 10


def run(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def inside(who, command, check=True):
    return run(f"ip netns exec {NAMES[who]} {command}", check)


def build():
    for name in NAMES.values():
        run(f"ip netns add {name} && ip -n {name} link set lo up")
    links = [("client", "x0", "10.0.0.1", "router", "lan0", "10.0.0.2"), ("router", "wan0", "10.0.1.1", "modem", "m0", "10.0.1.2"),
             ("modem", "m1", "10.0.2.1", "server", "y0", "10.0.2.2")]
    for a, dev_a, ip_a, b, dev_b, ip_b in links:
        run(f"ip link add {dev_a} netns {NAMES[a]} type veth peer name {dev_b} netns {NAMES[b]}")
        for who, dev, ip in ((a, dev_a, ip_a), (b, dev_b, ip_b)):
            run(f"ip -n {NAMES[who]} addr add {ip}/24 dev {dev} && ip -n {NAMES[who]} link set {dev} up")
    for who, route in (("client", "default via 10.0.0.2"), ("router", "default via 10.0.1.2"),
                       ("modem", "10.0.0.0/24 via 10.0.1.1"), ("server", "default via 10.0.2.1")):
        run(f"ip -n {NAMES[who]} route add {route}")
    for who in ("router", "modem"):
        inside(who, "sysctl -qw net.ipv4.ip_forward=1")
    inside("modem", "tc qdisc add dev m1 root tbf rate 10mbit burst 4k limit 256k")
    inside("modem", "tc qdisc add dev m0 root tbf rate 40mbit burst 8k limit 1m")
    return subprocess.Popen(["ip", "netns", "exec", NAMES["server"], "iperf3", "-s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(direction, flows):
    """Median and maximum round-trip time in ms, goodput in Mbit/s."""
    reverse = ["-R"] if direction == "down" else []
    load = subprocess.Popen(
        ["ip", "netns", "exec", NAMES["client"], "iperf3", "-c", "10.0.2.2", "-C", "cubic", "-t", str(SECONDS), "-P", str(flows), "-J",
         *reverse], stdout=subprocess.PIPE, text=True)
    pings = inside("client", f"ping -i 0.05 -w {SECONDS - 1} 10.0.2.2", check=False)
    reported = json.loads(load.communicate()[0])
    # Without the first two seconds: slow start.
    times = [float(t) for t in re.findall(r"time=([0-9.]+)", pings)][40:]
    return statistics.median(times), max(times), reported["end"]["sum_received"]["bits_per_second"] / 1e6


def row(shaper, direction, flows):
    median, most, goodput = measure(direction, flows)
    print(f"{shaper:<14}{direction:<6}{flows:>5}{median:>12.1f}{most:>10.1f}{goodput:>12.2f}", flush=True)
    return median, goodput


def main():
    server, state = build(), tempfile.mkdtemp()
    fix = f"{FATHOM} fix --state {state}"
    missed = []
    try:
        print("shaper        dir   flows   median ms    max ms      Mbit/s")
        bare = {way: row("none", way, 1)[1] for way in ("up", "down")}
        for shaper, limit in (("cake", 5), ("htb+fq_codel", 5), ("flow-hash", 5), ("tbf", 20)):
            if "is shaped" not in inside("router", f"{fix} wan0 --up 9.5mbit --down 38mbit --shaper {shaper} --commit", check=False):
                print(f"{shaper:<14}not available in this kernel")
                continue
            for way in ("up", "down"):
                for flows in (1, 8):
                    median, goodput = row(shaper, way, flows)
                    if flows == 1 and (median > limit or goodput < 0.93 * bare[way]):
                        missed.append(f"{shaper} {way}: {median:.1f} ms, {goodput / bare[way]:.1%} of the line")
            inside("router", f"{fix} --undo")
        print("limits held" if not missed else "missed: " + "; ".join(missed))
    finally:
        server.terminate()
        server.wait()
        for name in NAMES.values():
            run(f"ip netns del {name}", check=False)


main()
