#!/usr/bin/env python3
"""Runs the command-line clients of other programs over an emulated line of 16 and 1 Mbit/s with 30 ms, against
`fathom serve --with all`: what each prints, next to what the line allows. cf-mach gets a line of 100 and 10 Mbit/s: it
gives up on an upload of 1 Mbit/s, and counts what it wrote to its sockets as uploaded.

  bench/clients.py     as root; needs iperf3, irtt, mach (cargo install cf-mach) and stamp-suite (cargo
                       install stamp-suite); exit code 1 if a result is not within its bounds
"""
import json
import re
import subprocess
import sys

from common import FATHOM

FAR = "198.19.0.2"
# Goodput in Mbit/s: the rate of the line less the headers of DSL, and at least 80 % of that.
DOWN, UP, ROUND_TRIP_MS = (12.0, 16.0), (0.75, 1.0), (30.0, 33.0)


def of_iperf3(text):
    end = json.loads(text)["end"]
    sums = [end[key] for key in ("sum_received", "sum_received_bidir_reverse") if key in end]
    return [each["bits_per_second"] / 1e6 for each in sums]


def of_irtt(text):
    return [float(re.search(r"RTT\s+\S+\s+\S+\s+([\d.]+)ms", text)[1])]


def of_mach(text):
    return [json.loads(text)["download"]["throughput"] / 1e6]


def of_stamp(text):
    return [float(re.search(r"Median RTT: ([\d.]+) ms", text)[1])]


# Name, command of its version, command, reader of what it prints, and the bounds of its results.
CLIENTS = [
    ("iperf3 upload", "iperf3 --version", f"iperf3 -c {FAR} -t 8 -J", of_iperf3, [UP]),
    ("iperf3 download", "iperf3 --version", f"iperf3 -c {FAR} -t 8 -P 4 -R -J", of_iperf3, [DOWN]),
    # The acknowledgments of the download wait behind the upload.
    ("iperf3 both", "iperf3 --version", f"iperf3 -c {FAR} -t 8 --bidir -J", of_iperf3, [UP, (1.0, 16.0)]),
    ("iperf3 UDP upload", "iperf3 --version", f"iperf3 -c {FAR} -u -b 800k -t 8 -J", of_iperf3, [(0.79, 0.81)]),
    ("iperf3 UDP download", "iperf3 --version", f"iperf3 -c {FAR} -u -b 10M -R -t 8 -J", of_iperf3, [(9.9, 10.1)]),
    ("irtt", "irtt version", f"irtt client -d 5s -i 20ms {FAR}", of_irtt, [ROUND_TRIP_MS]),
    ("stamp-suite", "stamp-suite --version", f"stamp-suite --remote-addr {FAR} --remote-port 862 -c 50 --send-delay 20", of_stamp, [ROUND_TRIP_MS]),
    ("cf-mach", "mach --version", f"mach rpm --disable-aim-scores --insecure -c https://{FAR}/.well-known/nq", of_mach, [(80.0, 100.0)]),
]


def version(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return re.search(r"\d+(\.\d+)+", done.stdout)[0]


def main():
    wrong = 0
    print(f"{'client':22}{'version':10}{'result':30}bounds")
    for name, of_version, command, read, bounds in CLIENTS:
        wait = f"until iperf3 -c {FAR} -n 1 >/dev/null 2>&1; do sleep 0.1; done"
        line = "cable" if read is of_mach else "dsl"
        whole = [FATHOM, "lab", "-q", "--line", line, "--far", f"{FATHOM} serve --port 0 --with all >/dev/null 2>&1"]
        done = subprocess.run([*whole, "--", "sh", "-c", f"{wait}; {command}"], capture_output=True, text=True, timeout=200)
        try:
            results = read(done.stdout)
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"{command}: {error!r}, exit {done.returncode}\n{done.stdout}{done.stderr}")
        right = len(results) == len(bounds) and all(low <= result <= high for result, (low, high) in zip(results, bounds))
        wrong += not right
        texts = [", ".join(f"{number:.2f}" for number in results), ", ".join(f"{low} to {high}" for low, high in bounds)]
        print(f"{name:22}{version(of_version):10}{texts[0]:30}{texts[1]}{'' if right else '  *'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
