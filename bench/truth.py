#!/usr/bin/env python3
"""Compares fathom and similar tools with the truth, over a plain kernel line whose queue is polled
while they run.

client -- router -- server, three network namespaces. The router shapes each direction with tbf over
a byte FIFO, so the delay of a packet is backlog / rate. `tc -s -j qdisc` is read every 50 ms: that
is the truth. Fathom's own emulation is not involved. Needs root, iproute2, iperf3, irtt, flent; see
bench/packages.

Usage: bench/truth.py [--fathom target/release/fathom] [--rounds 1] [--only NAME]
"""
import argparse
import gzip
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

NS = {who: f"fathom-{who}-{os.getpid()}" for who in ("client", "router", "server")}
DOWN_BPS, UP_BPS, BUFFER_BYTES = 20_000_000, 5_000_000, 256_000
CLIENT, SERVER = "198.18.1.2", "198.18.2.2"
POLL_S = 0.05


def run(command, **options):
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, **options).stdout


def inside(who, command):
    return f"ip netns exec {NS[who]} {command}"


def build_line():
    for name in NS.values():
        run(f"ip netns add {name}; ip -n {name} link set lo up")
    for who, net in (("client", "198.18.1"), ("server", "198.18.2")):
        run(f"ip -n {NS[who]} link add up0 type veth peer name to-{who} netns {NS['router']}")
        run(f"ip -n {NS[who]} addr add {net}.2/24 dev up0; ip -n {NS[who]} link set up0 up")
        run(f"ip -n {NS['router']} addr add {net}.1/24 dev to-{who}; ip -n {NS['router']} link set to-{who} up")
        # The machine's default may be BBR, which a namespace cannot change by sysctl, but a route
        # can.
        run(f"ip -n {NS[who]} route add default via {net}.1 congctl cubic")
    run(inside("router", "sysctl -qw net.ipv4.ip_forward=1"))
    shape = "tc -n {ns} qdisc replace dev {dev} root tbf rate {rate} burst 3200 limit {limit}"
    for dev, rate in (("to-server", UP_BPS), ("to-client", DOWN_BPS)):
        run(shape.format(ns=NS["router"], dev=dev, rate=f"{rate}bit", limit=BUFFER_BYTES))


def destroy_line():
    for name in NS.values():
        subprocess.run(f"ip netns del {name}", shell=True, capture_output=True)


class Truth(threading.Thread):
    """Polls both queues; keeps (wall time, up delay, down delay) in seconds."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rows, self.done = [], threading.Event()

    def run(self):
        command = ["tc", "-n", NS["router"], "-s", "-j", "qdisc"]
        while not self.done.wait(POLL_S):
            before = time.time()
            listing = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
            backlog = {q["dev"]: q["backlog"] for q in listing if q["kind"] == "tbf"}
            at = (before + time.time()) / 2
            self.rows.append((at, backlog["to-server"] * 8 / UP_BPS, backlog["to-client"] * 8 / DOWN_BPS))

    def between(self, start, end, column):
        return [row[column] for row in self.rows if start <= row[0] < end]

    def loaded(self, column):
        """Delays from the first to the last time when the queue was not empty: the time of the
        load.
        """
        used = [i for i, row in enumerate(self.rows) if row[column] > 0.002]
        return [row[column] for row in self.rows[used[0]:used[-1] + 1]] if used else []

    def stop(self):
        self.done.set()
        self.join()


def three(values, lost=0):
    """p50, p90 and maximum in ms. Lost probes rank above all replies, if a tool reports them (RFC
    7679 section 3.4).
    """
    if not values:
        return None
    ordered = sorted(values)
    at = lambda p: ordered[min(len(ordered) - 1, int(p * (len(ordered) + lost)))]
    return tuple(1000 * v for v in (at(0.5), at(0.9), ordered[-1]))


def quiet_line():
    time.sleep(1.0)


def serve(command):
    process = subprocess.Popen(inside("server", command).split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


# Each tool returns {direction: (reported, truth)}, each a (p50, p90, max) in ms or a tuple with
# None.

def fathom(args, truth):
    server = serve(f"{args.fathom} serve")
    try:
        out = inside("client", f"{args.fathom} test {SERVER} --json --no-save --phases idle,down,up,drain")
        result = subprocess.run(out, shell=True, capture_output=True, text=True)
        if result.returncode not in (0, 1):
            sys.exit(f"fathom test failed ({result.returncode}): {result.stderr}")
        recorded = json.loads(result.stdout)
    finally:
        stop(server)
    whole, fraction = re.match(r"(.*?)(\.\d+)?Z$", recorded["started"]).groups()
    start = time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(fraction or 0)
    series = next(s for s in recorded["series"] if s["metric"] == "udp_rtt_s")
    # The value of a lost probe is its timeout.
    censored = set(series.get("censored", []))
    probes = [(at, None if i in censored else v) for i, (at, v) in enumerate(zip(series["at_ns"], series["values"]))]
    out = {}
    for phase in recorded["phases"]:
        if phase["kind"] not in ("down", "up"):
            continue
        sent = [v for at, v in probes if phase["start_ns"] <= at < phase["end_ns"]]
        answered = [v for v in sent if v is not None]
        column = 1 if phase["kind"] == "up" else 2
        window = truth.between(start + phase["start_ns"] / 1e9, start + phase["end_ns"] / 1e9, column)
        out[phase["kind"]] = (three(answered, len(sent) - len(answered)), three(window))
    return out


def with_iperf3(truth, measure, reverse, column):
    load = serve("iperf3 -s")
    flags = "-R" if reverse else ""
    client = subprocess.Popen(inside("client", f"iperf3 -c {SERVER} -P4 -t 20 -J {flags}"), shell=True,
                              stdout=subprocess.PIPE, text=True)
    values = measure()
    report = json.loads(client.communicate()[0])
    stop(load)
    return report, values, truth.loaded(column)


def iperf3(_args, truth):
    """TCP_INFO of the flows; at the receiver, as with -R, iperf3 has none."""
    report, _, real = with_iperf3(truth, lambda: None, False, 1)
    rtts = [s["rtt"] / 1e6 for i in report["intervals"] for s in i["streams"]]
    up = (three(rtts), three(real))
    quiet_line()
    _, _, real = with_iperf3(truth, lambda: None, True, 2)
    return {"up": up, "down": (None, three(real[len(real) // 2:]))}


def beside_iperf3(truth, measure):
    """A prober with iperf3's load in each direction; the truth covers the time with a queue."""
    responder, out = serve("irtt server"), {}
    for name, reverse, column in (("up", False, 1), ("down", True, 2)):
        mark = len(truth.rows)
        _, values, _ = with_iperf3(truth, measure, reverse, column)
        real = [row[column] for row in truth.rows[mark:] if row[column] > 0.002]
        out[name] = (three(values), three(real))
        quiet_line()
    stop(responder)
    return out


def irtt(_args, truth):
    """irtt every 50 ms."""
    def measure():
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            run(inside("client", f"irtt client -q -i 50ms -d 19s -o {file.name} {SERVER}"))
            raw = open(file.name, "rb").read()
        data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        return [r["delay"]["rtt"] / 1e9 for r in data["round_trips"] if "delay" in r and "rtt" in r["delay"]]
    return beside_iperf3(truth, measure)


def flent(_args, truth):
    """flent's ping test (ICMP, and UDP with irtt): its own TCP tests need netperf, which is not in
    Debian's main archive.
    """
    def measure():
        with tempfile.TemporaryDirectory() as folder:
            run(inside("client", f"flent ping -l 9 -s 0.05 -H {SERVER} -D {folder} -t x"), cwd=folder)
            file = next(f for f in os.listdir(folder) if f.endswith(".flent.gz"))
            data = json.loads(gzip.open(os.path.join(folder, file)).read())
        return [v / 1000 for v in data["results"]["Ping (ms) ICMP"] if v is not None]
    return beside_iperf3(truth, measure)


TOOLS = {"fathom": fathom, "irtt + iperf3": irtt, "iperf3 (TCP_INFO)": iperf3, "flent + iperf3": flent}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fathom", default="target/release/fathom")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only")
    args = parser.parse_args()
    args.fathom = os.path.abspath(args.fathom)
    build_line()
    print(f"line: down {DOWN_BPS/1e6:g} Mbit/s, up {UP_BPS/1e6:g} Mbit/s, {BUFFER_BYTES} byte FIFO each way; "
          "truth: tc backlog / rate every 50 ms; ms as p50/p90/max")
    print(f"{'tool':<20}{'direction':<10}{'reported':>22}{'truth':>22}{'error, ms':>22}")
    try:
        for name, tool in TOOLS.items():
            if args.only and args.only not in name:
                continue
            errors = {"down": [], "up": []}
            for _ in range(args.rounds):
                truth = Truth()
                truth.start()
                results = tool(args, truth)
                truth.stop()
                for direction, (reported, real) in sorted(results.items()):
                    text = lambda v: "/".join(f"{x:.1f}" for x in v) if v else "none"
                    error = [a - b for a, b in zip(reported, real)] if reported and real else None
                    print(f"{name:<20}{direction:<10}{text(reported):>22}{text(real):>22}{text(error):>22}", flush=True)
                    errors[direction] += [abs(e) / r for e, r in zip(error, real)] if error else []
                quiet_line()
            for direction, seen in errors.items():
                reported = f"mean error {statistics.mean(seen):.2%}, largest {max(seen):.2%} of the truth" if seen else "no figure"
                print(f"{name:<20}{direction:<10}{reported}", flush=True)
    finally:
        destroy_line()


if __name__ == "__main__":
    main()
