#!/usr/bin/env python3
"""The seeds' claims on the emulated line with kernel TCP.

Seed 1 (Gettys): a 10 ms path reaches 1.2 s. Seed 3 (Seifried): 50 ms reaches more than 1,000 ms in
about 15 s, and a 10 s test shows much less. Seed 4 (Auerswald): 110 Mbit/s into a 100 Mbit/s port
increases to 340 ms, and pings are lost more often than the 9 % of the traffic that the overload
must lose; scenarios/auerswald-switch.toml explains why.
"""
import re

from common import lab, percentile, series, test_over, phase, within


def show(claim, expected, got):
    print(f"{claim:<58} {expected:>24} {got:>34}", flush=True)


def upload(name):
    run = test_over(name, "--phases idle,up,drain --flows 1 --max-phase 40s")
    start = phase(run, "up")["start_ns"] / 1e9
    return run, [(at - start, v * 1e3) for at, v in series(run, "udp_rtt_s")
                 if start <= at < phase(run, "up")["end_ns"] / 1e9]


def gettys():
    run, curve = upload("gettys-2010")
    idle = percentile(within(run, "udp_rtt_s", "idle"), 0.5) * 1e3
    show("seed 1: 10 ms path under an upload", "10 ms -> 1.2 s", f"{idle:.1f} ms -> {max(v for _, v in curve):.0f} ms")


def seifried():
    run, curve = upload("seifried-2011")
    idle = percentile(within(run, "udp_rtt_s", "idle"), 0.5) * 1e3
    first = next((at for at, v in curve if v > 1000), None)
    early = [v for at, v in curve if at < 10]
    show("seed 3: 50 ms path under an upload", "50 ms -> over 1,000 ms", f"{idle:.1f} ms -> {max(v for _, v in curve):.0f} ms")
    show("seed 3: time until over 1,000 ms", "about 15 s", f"{first:.1f} s" if first else "never")
    show("seed 3: mean of the first 10 s, as in a 10 s test", "not as badly as feared", f"{sum(early)/len(early):.0f} ms")


def auerswald():
    """iperf3 sends 110 Mbit/s of full-size UDP (1,472 bytes of payload, 1,514 on the wire) for 28
    s; ping every 50 ms once the buffer is full.
    """
    rate = 110e6 * 1472 / 1514
    script = (f"sleep 1; (iperf3 -u -c $FATHOM_SERVER -b {rate:.0f} -l 1472 -t 28 --pacing-timer 100 >/dev/null) & "
              "sleep 8; ping -i 0.05 -c 380 -W 5 $FATHOM_SERVER; wait")
    out = lab("auerswald-switch", ["sh", "-c", script], ["--far", "iperf3 -s >/dev/null"])
    rtts = [float(x) for x in re.findall(r"time=([\d.]+) ms", out)]
    loss = float(re.search(r"([\d.]+)% packet loss", out).group(1))
    show("seed 4: port overloaded by 10 %", "340 ms", f"{max(rtts):.0f} ms (median {percentile(rtts, 0.5):.0f})")
    show("seed 4: loss of pings (random frames 9 %, periodic 55 %)", "42 %", f"{loss:.0f} %")


def main():
    show("claim", "expected", "got")
    gettys()
    seifried()
    auerswald()


if __name__ == "__main__":
    main()
