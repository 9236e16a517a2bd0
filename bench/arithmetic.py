#!/usr/bin/env python3
"""Checks the arithmetic: with tail-drop buffers, the maximum working latency is idle + bytes x 8 /
rate, within 3 %.
"""
from common import line, percentile, test_over, within

TOLERANCE = 0.03


def main():
    print(f"{'rate':>8} {'buffer':>10} {'cc':>6} {'idle ms':>9} {'expected ms':>12} {'got max ms':>11} {'error':>7}")
    worst = 0.0
    for rate_mbit in (3, 10, 50):
        for size in (64_000, 256_000, 1_000_000):
            for cc in ("cubic", "reno"):
                run = test_over(line(f"{rate_mbit}Mbit", f"{size}b"),
                                f"--phases idle,up --flows 4 --congestion-control {cc} --max-phase 40s")
                idle = percentile(within(run, "udp_rtt_s", "idle"), 0.5)
                expected = idle + size * 8 / (rate_mbit * 1e6)
                got = max(within(run, "udp_rtt_s", "up"))
                error = got / expected - 1
                worst = max(worst, abs(error))
                print(f"{rate_mbit:>4} Mbit {size:>10} {cc:>6} {idle*1e3:>9.2f} {expected*1e3:>12.1f} "
                      f"{got*1e3:>11.1f} {error:>+7.1%}", flush=True)
    print(f"worst error {worst:.1%} (limit {TOLERANCE:.0%}): {'holds' if worst <= TOLERANCE else 'DOES NOT HOLD'}")
    return worst > TOLERANCE


if __name__ == "__main__":
    raise SystemExit(main())
