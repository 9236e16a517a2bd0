#!/usr/bin/env python3
"""Tests emulated lines with the page of `fathom serve` in headless Chromium and Firefox, next to `fathom test` and to
the clients of Cloudflare and LibreSpeed in both browsers, and compares all with the true delay of the queues.

The increase is the median latency of a phase with load, less that of the idle phase. The true one is the sum of the
median times that the UDP packets of each direction waited in the same phase, from captures before the queue and behind
the link. (The packets of TCP wait for half of a packet less: ACKs let them arrive when another has just left.) On lines
of more than 50 Mbit/s, where that is less than 0.1 ms, it is the backlog that the line samples evenly in time. With
FQ-CoDel the probes have a queue of their own: where nothing was captured, the page is compared with the command line
alone. Equal is a difference of at most 3 % or 3 ms; of throughput, of at most 3 %. LibreSpeed measures no latency under
load.

  bench/page.py [--every N] [--from K] [--peers N]     as root, after ui/verify; needs firefox-esr

--peers N runs the other clients on every Nth line; LIBRESPEED is the directory with LibreSpeed's speedtest.js and
speedtest_worker.js.
"""
import argparse
import datetime
import itertools
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

from common import FATHOM

FAR, PORT = "198.19.0.2", 8003
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ui/check/speed.mjs")
# Mbit/s down and up, and round trips in ms.
RATES = [(1, 0.5), (5, 1), (20, 5), (50, 20), (100, 50), (500, 100)]
ROUND_TRIPS = [(20, 300), (5, 100), (20, 50), (10, 100), (5, 50), (5, 20)]
QUEUES = ["fifo", "fq_codel"]
# A whole packet with its Ethernet header.
PACKET_BYTES = 1_514
# Lines up to this rate are captured, in bit/s: a half of a packet has at least 0.1 ms.
MAX_CAPTURED = 50e6
# Buffer of the tail-drop queues.
BUFFER_S = 0.2
CLIENTS = {
    "chromium": f"node {SCRIPT} http://{FAR}:{PORT}",
    "firefox": f"node --experimental-websocket {SCRIPT} http://{FAR}:{PORT} --firefox",
    "fathom test": f"{FATHOM} test {FAR}:{PORT} --json --no-save | tr -d '\\n'",
}
WEB_PORT = 8004
PEERS = os.path.join(os.path.dirname(SCRIPT), "speedtests.mjs")
for peer in ("cloudflare", "librespeed"):
    CLIENTS[f"{peer}, chromium"] = f"node {PEERS} {peer} http://{FAR}:{WEB_PORT}"
    CLIENTS[f"{peer}, firefox"] = f"node --experimental-websocket {PEERS} {peer} http://{FAR}:{WEB_PORT} --firefox"
OWN = ["chromium", "firefox", "fathom test"]
RATIO, DIFFERENCE_S = 0.03, 0.003


def lines():
    """Each line: its name, scenario, queue, rates in bit/s, and round trip in s."""
    for (down, up), round_trips in zip(RATES, ROUND_TRIPS):
        for round_trip, queue in itertools.product(round_trips, QUEUES):
            side = {}
            for name, rate in (("up", up), ("down", down)):
                size = max(4 * 1_514, int(rate * 1e6 / 8 * BUFFER_S))
                spec = f"fifo limit {size}b" if queue == "fifo" else "fq_codel"
                side[name] = f'{name} = {{ rate = "{int(rate * 1000)}kbit", delay = "{round_trip / 2}ms", queue = "{spec}" }}'
            text = f'name = "page"\nabout = "A line."\nsource = "bench/page.py"\n[[hop]]\nname = "line"\n{side["up"]}\n{side["down"]}\n'
            yield f"{down}/{up} Mbit/s, {round_trip} ms, {queue}", text, queue, {"down": down * 1e6, "up": up * 1e6}, round_trip / 1e3


def run(scenario, command, rates, round_trip_s):
    """What the client prints as JSON, and how long packets waited in each direction."""
    is_captured = max(rates.values()) <= MAX_CAPTURED
    with tempfile.TemporaryDirectory() as folder:
        line, truth = os.path.join(folder, "line.toml"), os.path.join(folder, "truth.json")
        with open(line, "w") as file:
            file.write(scenario)
        far = f"{FATHOM} serve --port {PORT} --with web --web-port {WEB_PORT} >&2"
        wait = f"until curl -s -o /dev/null http://{FAR}:{PORT}/; do sleep 0.1; done"
        capture = ["--capture", os.path.join(folder, "packets"), "--snaplen", "96"] if is_captured else []
        whole = [FATHOM, "lab", "-q", "--line", line, "-o", truth, *capture, "--far", far, "--", "sh", "-c", f"{wait}; {command}"]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=400)
        documents = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
        if not documents:
            print(f"{command}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
            return None, None
        if is_captured and PEERS not in command:
            return documents[0], waits_of_probes(os.path.join(folder, "packets"), rates, round_trip_s)
        with open(truth) as file:
            return documents[0], waits(json.load(file), rates)


def seconds(moment):
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def packets(file):
    """Of each UDP packet of the server's port in a capture of raw IPv4: its payload, time in s, IP length, and whether
    the server sent it."""
    with open(file, "rb") as opened:
        data = opened.read()
    unit = {b"\xd4\xc3\xb2\xa1": 1e-6, b"\x4d\x3c\xb2\xa1": 1e-9}[data[:4]]
    at = 24
    while at + 16 <= len(data):
        whole, part, stored, _ = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 : at + 16 + stored]
        at += 16 + stored
        if packet[0] == 0x45 and packet[9] == 17 and PORT in struct.unpack_from(">HH", packet, 20):
            from_port, _, length = struct.unpack_from(">HHH", packet, 20)
            yield packet[28:], whole + part * unit, 20 + length, from_port == PORT


def waits_of_probes(folder, rates, round_trip_s):
    """Of each direction: when the probes and their answers entered the queue, as wall time in s, and how long they waited."""
    ends = {"up": ("client.pcap", "hop1-far.pcap"), "down": ("server.pcap", "hop1-near.pcap")}
    found = {}
    for direction, (before, after) in ends.items():
        is_down = direction == "down"
        left = {key: at for key, at, _, of_server in packets(os.path.join(folder, after)) if of_server == is_down}
        sent = [one for one in packets(os.path.join(folder, before)) if one[3] == is_down and one[0] in left]
        # Each also takes its own transmission, with its Ethernet header, and the propagation.
        found[direction] = [
            (at, left[key] - at - (length + 14) * 8 / rates[direction] - round_trip_s / 2) for key, at, length, _ in sent
        ]
    return found


def waits(truth, rates):
    """Of each direction: when the line was sampled, as wall time in s, and how long a packet would have waited then."""
    begin = seconds(truth["started"])
    found = {}
    for series in truth["series"]:
        if series["metric"] == "backlog_bytes":
            rate = rates[series["direction"]] / 8
            # A packet is being sent whenever others wait.
            found[series["direction"]] = [
                (begin + at / 1e9, bytes / rate + (PACKET_BYTES / 2 / rate if bytes else 0))
                for at, bytes in zip(series["at_ns"], series["values"])
            ]
    return found


def waited_s(waited, started, phase):
    """The true median increase of a phase."""
    begin = seconds(started) + phase["start_s"]
    within = [[wait for at, wait in one if begin <= at < begin + phase["duration_s"]] for one in waited.values()]
    return sum(statistics.median(one) if one else 0 for one in within)


def waited_under_load_s(waited, direction):
    """The true median increase while another client loads a direction: while a quarter of its queue is full, as it
    says nothing of its phases."""
    busy = [wait for _, wait in waited[direction] if wait > BUFFER_S / 4]
    return statistics.median(busy) if busy else 0


def measured(client, scenario, rates_of_line, round_trip_s):
    """Of each direction: throughput in bit/s, increase and true increase in s; and how late the browser was."""
    document, waited = run(scenario, CLIENTS[client], rates_of_line, round_trip_s)
    if document is None:
        return None
    if client not in OWN:
        rates = {"down": document.get("download"), "up": document.get("upload")}
        increases = {side: document.get(side, float("nan")) - document["idle"] for side in rates}
        sides = {side: (rates[side], increases[side], waited_under_load_s(waited, side)) for side in rates}
        return {"late": (None, None), "headline": "", **sides}
    brief = document.get("brief", document)
    if not brief or not brief["summary"].get("phases"):
        return None
    phases = {phase["phase"]: phase for phase in brief["summary"]["phases"]}
    result = {"late": (brief.get("late_p50_s"), brief.get("late_p99_s")), "headline": brief["verdict"]["headline"]}
    for direction in ("down", "up"):
        phase = phases.get(direction)
        if phase is None or "latency" not in phase:
            return None
        rate = phase.get(f"goodput_{direction}_bits_per_second", float("nan"))
        increase = phase["latency"]["p50_s"] - phases["idle"]["latency"]["p50_s"]
        result[direction] = (rate, increase, waited_s(waited, brief["started"], phase))
    return result


def equal(a, b):
    return abs(a - b) <= max(RATIO * b, DIFFERENCE_S)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--peers", type=int, default=0)
    wanted = parser.parse_args()
    counts = {}
    print(f"{'line':32}{'client':22}{'down':>8}{'up':>8} Mbit/s{'down':>8}{'true':>8}{'up':>8}{'true':>8} ms{'late':>8} ms p99")
    for number, (name, scenario, queue, *line) in enumerate(list(lines())[wanted.first :: wanted.every]):
        has_peers = wanted.peers and number % wanted.peers == 0
        clients = [client for client in CLIENTS if has_peers or client in OWN]
        results = {client: measured(client, scenario, *line) for client in clients}
        for client, result in results.items():
            if result is None:
                print(f"{name:32}{client:22}no result", flush=True)
                counts.setdefault((client, "no result"), []).append(False)
                continue
            text = "".join(f"{result[side][0] / 1e6:8.2f}" for side in ("down", "up")) + " " * 7
            for side in ("down", "up"):
                text += "".join(f"{value * 1e3:8.1f}" for value in result[side][1:])
            late = result["late"][1]
            text += " " * 3 + (f"{late * 1e3:8.1f}" if late is not None else "")
            print(f"{name:32}{client:22}{text}  {result['headline'][:50]}", flush=True)
            own = results["fathom test"]
            for side in ("down", "up"):
                rate, increase, true = result[side]
                is_exact = queue == "fifo" or (client in OWN and max(line[0].values()) <= MAX_CAPTURED)
                if is_exact and increase == increase:
                    counts.setdefault((client, "latency, true delay"), []).append(equal(increase, true))
                if own and client != "fathom test":
                    counts.setdefault((client, "latency, fathom test"), []).append(equal(increase, own[side][1]))
                    same = abs(rate / own[side][0] - 1) <= RATIO
                    counts.setdefault((client, "throughput, fathom test"), []).append(same)
    print("\nequal:")
    for (client, what), found in counts.items():
        print(f"{client:22}{what:26}{sum(found):4} of {len(found)}")


if __name__ == "__main__":
    sys.exit(main())
