#!/usr/bin/env python3
"""`fathom demo`: FQ-CoDel's working latency is within 15 ms of idle, goodput at least 95 % of that
of tail drop.
"""
import json
import statistics
import subprocess

from common import FATHOM, goodput_mbit, percentile, within

ROUNDS = 3


def demo(queue):
    done = subprocess.run([FATHOM, "demo", "--json", "--no-save", "--queue", queue], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    print(f"{'queue':<24} {'idle ms':>8} {'up p50/p90/p99 ms':>24} {'goodput Mbit/s':>15} {'of tail drop':>13}")
    failed = False
    for queue in ("fq_codel", "fq_codel target 10ms"):
        added, share = [], []
        for _ in range(ROUNDS):
            runs = demo(queue)
            goodput = [goodput_mbit(run, "up", "up") for run in runs]
            for name, run, got in zip(("tail drop", queue), runs, goodput):
                idle = percentile(within(run, "udp_rtt_s", "idle"), 0.5) * 1e3
                loaded = [percentile(within(run, "udp_rtt_s", "up"), p) * 1e3 for p in (0.5, 0.9, 0.99)]
                print(f"{name:<24} {idle:>8.1f} {'/'.join(f'{v:.1f}' for v in loaded):>24} {got:>15.3f} {got/goodput[0]:>13.1%}",
                      flush=True)
            added.append(loaded[2] - idle)
            share.append(goodput[1] / goodput[0])
        added, share = statistics.median(added), statistics.median(share)
        print(f"{queue}: adds {added:.1f} ms at the 99th percentile (limit 15), goodput {share:.1%} (limit 95 %)")
        failed |= added > 15 or (queue.endswith("10ms") and share < 0.95)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
