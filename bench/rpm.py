#!/usr/bin/env python3
"""Compares responsiveness (RPM) with the value that follows from the known queue, over the line of
bench/truth.py.

The server is `fathom serve --with web`. By draft-ietf-ippm-responsiveness-09, tcp_f, tls_f, http_f
and http_l are each one round trip, so RPM = 60 / TM(q): q is the delay of both queues every 50 ms
while a direction is loaded, and TM the mean of its lowest 95 %. The peer is cf-mach (`mach`; cargo
install cf-mach).

A run has about 40 new connections, so its result varies: each tool runs three times.

  bench/rpm.py     as root; exit code 1 if any run of fathom is more than 5 % off
"""
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import truth
from common import FATHOM

PORT = 8443
TOLERANCE, ROUNDS = 0.05, 3
URL = f"https://{truth.SERVER}:{PORT}"


def certificate(folder, address):
    """An authority, and a certificate that it signed for the server at an address."""
    at = lambda name: os.path.join(folder, name)
    key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    truth.run(f"openssl req -x509 {key} -keyout {at('ca.key')} -out {at('ca.pem')} -days 2 -subj /CN=bench "
              "-addext basicConstraints=critical,CA:TRUE")
    truth.run(f"openssl req {key} -keyout {at('key.pem')} -out {at('csr')} -subj /CN=bench")
    with open(at("names"), "w", encoding="ascii") as names:
        names.write(f"subjectAltName=IP:{address}\n")
    truth.run(f"openssl x509 -req -in {at('csr')} -CA {at('ca.pem')} -CAkey {at('ca.key')} -CAcreateserial "
              f"-out {at('chain.pem')} -days 2 -extfile {at('names')}")
    return at("ca.pem"), at("chain.pem"), at("key.pem")


def trimmed_mean(delays):
    kept = sorted(delays)[: max(1, int(len(delays) * 0.95))]
    return sum(kept) / len(kept)


def expected(delays):
    """RPM of these delays, in s."""
    return 60 / trimmed_mean(delays)


def foreign(run, phase):
    """The part of new connections; `tls_connect_s` includes the handshake of TCP."""
    def mean(metric):
        series = next(s for s in run["series"] if s["metric"] == metric)
        return trimmed_mean([value for at, value in zip(series["at_ns"], series["values"])
                             if phase["start_ns"] <= at < phase["end_ns"]])
    return 60 / ((mean("tls_connect_s") + mean("http_foreign_s")) / 3)


def fathom(seen, authority):
    """{direction: (reported, foreign part, expected)}"""
    command = truth.inside("client", f"env SSL_CERT_FILE={authority} {FATHOM} test {URL}/ --json --no-save "
                           "--phases idle,down,up,drain")
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=200)
    if done.returncode not in (0, 1):
        sys.exit(f"fathom test: exit {done.returncode}\n{done.stderr}")
    run = json.loads(done.stdout)
    whole, fraction = re.match(r"(.*?)(\.\d+)?Z$", run["started"]).groups()
    start = time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(fraction or 0)
    found = {}
    for phase, summary in zip(run["phases"], run["summary"]["phases"]):
        if phase["kind"] in ("down", "up"):
            first, last = (start + phase[key] / 1e9 for key in ("start_ns", "end_ns"))
            delays = [up + down for at, up, down in seen.rows if first <= at < last]
            found[phase["kind"]] = (summary["responsiveness_rpm"], foreign(run, phase), expected(delays))
    return found


def mach(seen, _authority):
    """The same; cf-mach reports no foreign part. It loads one direction, then the other."""
    command = f"mach rpm --disable-aim-scores --insecure -c {URL}/.well-known/nq"
    done = subprocess.run(truth.inside("client", command), shell=True, capture_output=True, text=True, timeout=200)
    report, found = json.loads(done.stdout), {}
    for direction, column in (("down", 2), ("up", 1)):
        other = 3 - column
        # The other direction carries ACKs only.
        used = [row for row in seen.rows if row[column] > 0.002 and row[column] > row[other]]
        delays = [row[1] + row[2] for row in used]
        found[direction] = (report["download" if direction == "down" else "upload"]["rpm"], None, expected(delays))
    return found


def main():
    if shutil.which("mach") is None:
        sys.exit("mach is not installed: cargo install cf-mach (needs cmake and libclang-dev)")
    truth.build_line()
    errors = collections.defaultdict(list)
    print(f"{'tool':10}{'direction':>10}{'RPM':>8}{'expected':>10}{'error':>8}{'foreign part':>14}{'error':>8}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            authority, chain, key = certificate(folder, truth.SERVER)
            server = truth.serve(f"{FATHOM} serve --with web --web-port {PORT} --certificate {chain} --key {key}")
            try:
                for name, tool in [("fathom", fathom), ("cf-mach", mach)] * ROUNDS:
                    seen = truth.Truth()
                    seen.start()
                    results = tool(seen, authority)
                    seen.stop()
                    for direction, (rpm, new, right) in results.items():
                        error = lambda value: f"{value / right - 1:>+8.1%}"
                        part = f"{new:>14.0f}{error(new)}" if new else f"{'-':>14}{'-':>8}"
                        print(f"{name:10}{direction:>10}{rpm:>8.0f}{right:>10.0f}{error(rpm)}{part}", flush=True)
                        errors[name, direction].append(rpm / right - 1)
                    truth.quiet_line()
            finally:
                truth.stop(server)
    finally:
        truth.destroy_line()
    medians = {which: statistics.median(values) for which, values in errors.items()}
    for (name, direction), error in medians.items():
        print(f"median: {name} {direction} {error:+.1%}")
    own = errors["fathom", "down"] + errors["fathom", "up"]
    return 1 if max(map(abs, own)) > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
