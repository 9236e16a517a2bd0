#!/usr/bin/env python3
"""FQ-CoDel on the demo's line: working latency within 15 ms of idle, goodput at least 95 % of tail drop's."""
from common import goodput_mbit, percentile, test_over, within


def measure(queue):
    flags = ["--queue", queue] if queue else []
    run = test_over("seifried-2011", "--phases idle,up --flows 1 --max-phase 20s", flags)
    idle = percentile(within(run, "udp_rtt_s", "idle"), 0.5) * 1e3
    loaded = within(run, "udp_rtt_s", "up")
    return idle, [percentile(loaded, p) * 1e3 for p in (0.5, 0.9, 0.99)], goodput_mbit(run, "up", "up")


def main():
    print(f"{'queue':<12} {'idle ms':>8} {'up p50/p90/p99 ms':>24} {'goodput Mbit/s':>15}")
    rows = {}
    for name, queue in (("tail drop", None), ("fq_codel", "fq_codel")):
        rows[name] = idle, loaded, goodput = measure(queue)
        print(f"{name:<12} {idle:>8.1f} {'/'.join(f'{v:.1f}' for v in loaded):>24} {goodput:>15.3f}", flush=True)
    added = rows["fq_codel"][1][0] - rows["fq_codel"][0]
    share = rows["fq_codel"][2] / rows["tail drop"][2]
    print(f"fq_codel adds {added:.1f} ms at the median (limit 15), goodput {share:.1%} of tail drop's (limit 95 %)")
    return added > 15 or share < 0.95


if __name__ == "__main__":
    raise SystemExit(main())
