#!/usr/bin/env python3
"""Measures how fast captures are analyzed: `fathom trace`, tcptrace, tshark, and the machine's
limit for reading a capture.

One capture of many flows and millions of packets: a given file, or one that many.py creates on a
lab line. Elapsed time and CPU seconds (user and system) of the whole process: medians of --rounds,
run in turn, with the file in memory. `fathom trace` uses two threads if there are two CPUs; the
other tools use one. The machine's limit: `cat` copies the bytes, and a C program, compiled here,
reads the file and touches each packet's headers. A peak memory below 20 MB is that of this script's
fork.

Limits, with one thread: 5 million packets per CPU second, 3 times tcptrace -lrW, 50 times tshark,
both by CPU seconds; 200 MB. Exit code 1 if one is missed. The ratios of elapsed time, with two
threads, are also printed.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import many
from common import FATHOM, compiled

PACKETS_PER_S, OF_TCPTRACE, OF_TSHARK, RSS_BYTES = 5e6, 3, 50, 200e6
# Tools that take minutes run once.
ONCE = ("tshark -z conv,tcp",)
ALONE = "fathom trace --threads 1"

# Reads with mmap; of each packet the addresses, ports, and TCP fields that any analysis needs.
TOUCH = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint32_t word(const uint8_t *at) { uint32_t w; memcpy(&w, at, 4); return w; }

int main(int argc, char **argv) {
    struct stat file;
    int fd = open(argv[argc - 1], O_RDONLY);
    if (fd < 0 || fstat(fd, &file)) return 1;
    const uint8_t *data = mmap(0, file.st_size, PROT_READ, MAP_PRIVATE, fd, 0), *end = data + file.st_size;
    if (data == MAP_FAILED) return 1;
    uint64_t packets = 0, sum = 0;
    uint32_t before = word(data + 20) == 1 ? 14 : 0;
    for (const uint8_t *at = data + 24; at + 16 <= end;) {
        uint32_t stored = word(at + 8);
        const uint8_t *ip = at + 16 + before;
        if (stored >= before + 40 && ip + 40 <= end && ip[0] >> 4 == 4) {
            const uint8_t *tcp = ip + 4 * (ip[0] & 15);
            sum += word(ip + 12) ^ word(ip + 16) ^ word(tcp) ^ word(tcp + 4) ^ word(tcp + 8) ^ word(tcp + 12);
        }
        packets++;
        at += 16 + stored;
    }
    printf("%llu %llu\n", (unsigned long long)packets, (unsigned long long)sum);
    return 0;
}
"""


def warm(capture):
    """Loads the file into memory, so that no program waits for the disk or benefits from another's
    read-ahead.
    """
    with open(capture, "rb") as file:
        while file.read(1 << 20):
            pass


def measure(command, stdin=None):
    """Elapsed seconds, CPU seconds, and peak memory of a child in bytes."""
    with open(stdin or os.devnull, "rb") as given:
        begun = time.monotonic()
        child = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        reported = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        passed = time.monotonic() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {child.returncode}\n{reported.decode(errors='replace')}")
    return passed, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def contenders(capture, touch):
    """Name, command, and standard input."""
    return [
        ("fathom trace", [FATHOM, "trace", capture, "--json"], None),
        (ALONE, [FATHOM, "trace", capture, "--json", "--threads", "1"], None),
        ("fathom trace -", [FATHOM, "trace", "-", "--json"], capture),
        ("tcptrace", ["tcptrace", "-n", capture], None),
        ("tcptrace -lrW", ["tcptrace", "-n", "-lrW", capture], None),
        ("tshark -z conv,tcp", ["tshark", "-n", "-q", "-r", capture, "-z", "conv,tcp"], None),
        ("tcpdump -w", ["tcpdump", "-r", capture, "-w", "/dev/null"], None),
        ("touch each header", [touch, capture], None),
        ("cat", ["cat", capture], None),
    ]


def table(results, packets):
    print(f"{'':<24}{'seconds':>9}{'CPU s':>8}{'million packets/s':>19}{'per CPU s':>14}{'peak MB':>9}{'x tcptrace -lrW':>21}{'by CPU':>8}")
    base, base_cpu, _ = results["tcptrace -lrW"]
    for name, (passed, cpu, rss) in results.items():
        # The CPU time clock has a coarse tick on some kernels.
        cpu = max(cpu, 0.001)
        rates = f"{packets / passed / 1e6:>19.2f}{packets / cpu / 1e6:>14.2f}"
        print(f"{name:<24}{passed:>9.2f}{cpu:>8.2f}{rates}{rss / 1e6:>9.0f}{base / passed:>21.2f}{base_cpu / cpu:>8.2f}")


def summary(runs):
    """Median elapsed and CPU seconds, and maximum memory, of several runs."""
    middle = statistics.median
    return middle(run[0] for run in runs), middle(run[1] for run in runs), max(run[2] for run in runs)


def judge(results, packets):
    """The missed limits."""
    passed, _, _ = results["fathom trace"]
    _, cpu, _ = results[ALONE]
    tcptrace, tcptrace_cpu, _ = results["tcptrace -lrW"]
    tshark, tshark_cpu, _ = results["tshark -z conv,tcp"]
    most = max(rss for name, (_, _, rss) in results.items() if name.startswith("fathom"))
    claims = [
        (packets / cpu >= PACKETS_PER_S, f"{packets / cpu / 1e6:.2f} million packets per CPU second (at least {PACKETS_PER_S / 1e6:g})"),
        (tcptrace_cpu / cpu >= OF_TCPTRACE, f"{tcptrace_cpu / cpu:.2f} times tcptrace -lrW (at least {OF_TCPTRACE})"),
        (tshark_cpu / cpu >= OF_TSHARK, f"{tshark_cpu / cpu:.1f} times tshark (at least {OF_TSHARK})"),
        (most <= RSS_BYTES, f"{most / 1e6:.0f} MB peak, also with two threads and from standard input (limit {RSS_BYTES / 1e6:g})"),
    ]
    for held, text in claims:
        print(("holds:  " if held else "MISSED: ") + text)
    print(f"elapsed time with two threads: {tcptrace / passed:.2f} times tcptrace -lrW, {tshark / passed:.1f} times tshark")
    print(f"{cpu / results['touch each header'][1]:.1f} times the CPU time of reading the file and touching each header")
    return not all(held for held, _ in claims)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", nargs="?", help="a pcap file of Ethernet or of bare IP packets")
    parser.add_argument("--cache", default="/var/tmp/fathom-bench-trace")
    # With fewer rounds, the median depends on the moment: other guests of the machine slow down one
    # program, then another.
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    capture = args.capture or many.make(os.path.join(args.cache, "many"))
    with tempfile.TemporaryDirectory() as scratch:
        touch = compiled(TOUCH, scratch, "touch")
        packets = int(subprocess.run([touch, capture], capture_output=True, text=True, check=True).stdout.split()[0])
        size = os.path.getsize(capture)
        print(f"{packets / 1e6:.2f} million packets, {size / 1e6:.0f} MB, {args.rounds} rounds", flush=True)
        runs = {}
        for round_number in range(args.rounds):
            for name, command, stdin in contenders(capture, touch):
                if not (round_number and name in ONCE):
                    warm(capture)
                    runs.setdefault(name, []).append(measure(command, stdin))
    results = {name: summary(each) for name, each in runs.items()}
    table(results, packets)
    return judge(results, packets)


if __name__ == "__main__":
    raise SystemExit(main())
