#!/usr/bin/env python3
"""Compares `fathom ping` with ping, fping, irtt and httping: errors of round-trip times, and CPU per
probe.

Errors: a host behind a veth pair, a probe every 10 ms. The truth is a capture at the near end, from
the departure of the request to the arrival of the reply, with kernel timestamps, which the tools do
not see. irtt subtracts the time that its server held a probe, by the server's clock; it is added
again. CPU: user and system time of the whole process, divided by its probes; the work of the kernel
for a reply is in the time of whoever runs. A probe every 10 ms, and every millisecond.

Limits: median error below 5 us; CPU per probe at most that of fping.
"""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

from common import FATHOM, pair_of_hosts, percentile, sh

NEAR, FAR = [f"fathom-{who}-{os.getpid()}" for who in ("near", "far")]
HOST = "10.98.0.2"
PROBES, INTERVAL_S = 1_000, 0.01
WEB = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_HEAD(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    do_GET = do_HEAD
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("", 80), Handler).serve_forever()
"""


def build():
    pair_of_hosts(NEAR, FAR)
    for name, last in ((NEAR, 1), (FAR, 2)):
        sh(f"ip -n {name} addr add 10.98.0.{last}/24 dev v0; ip -n {name} link set v0 up")


def start(namespace, *command, **how):
    return subprocess.Popen(["ip", "netns", "exec", namespace, *command], **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how})


def end(process):
    process.terminate()
    process.wait()


def ready(port):
    """Waits for a TCP server at the far end."""
    script = f"import socket\nwhile True:\n try: socket.create_connection(('{HOST}', {port})).close(); break\n except OSError: pass"
    subprocess.run(["ip", "netns", "exec", NEAR, "timeout", "20", "python3", "-c", script], check=True)


def commands(interval_s, count, folder):
    """The command of each tool, with its count of probes."""
    i, ms = f"{interval_s:g}", f"{interval_s * 1e3:g}"
    return {
        "fathom ping": [FATHOM, "ping", "-c", str(count), "-i", i, HOST],
        "ping": ["ping", "-n", "-c", str(count), "-i", i, HOST],
        "fping": ["fping", "-c", str(count), "-p", ms, HOST],
        "irtt": ["irtt", "client", "-i", f"{ms}ms", "-d", f"{interval_s * count:g}s", "-Q", "-o", os.path.join(folder, "irtt.json"), HOST],
        "fathom ping irtt://": [FATHOM, "ping", "-c", str(count), "-i", i, f"irtt://{HOST}"],
        "fathom ping http://": [FATHOM, "ping", "-c", str(count), "-i", i, f"http://{HOST}/"],
        "httping -Q": ["httping", "-Q", "-c", str(count), "-i", i, "-g", f"http://{HOST}/"],
    }


def run(command, out):
    """CPU seconds of a command in the near namespace."""
    process = start(NEAR, *command, stdout=out)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def frames(path):
    data, at = open(path, "rb").read(), 24
    while at + 16 <= len(data):
        seconds, nanos, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + nanos, data[at + 16:at + 16 + length]
        at += 16 + length


def truth_of(path):
    """Round-trip time in us of each request, by its number, of ICMP or of irtt."""
    sent, order, truth = {}, [], {}
    for time_ns, frame in frames(path):
        if frame[23] == 1:
            name, is_request = frame[38:62], frame[34] == 8
        else:
            # Magic, flags (2: a reply), token of the connection, sequence number.
            name, is_request = frame[54:58], frame[45] & 2 == 0
            if frame[45] & 0b101:
                continue
        if is_request:
            sent[name] = (time_ns, len(order))
            order.append(name)
        elif name in sent:
            began, number = sent.pop(name)
            truth[number] = (time_ns - began) / 1e3
    return truth


def reported_by(name, text, folder):
    """Round-trip times in us by number."""
    if name == "irtt":
        trips = json.load(open(os.path.join(folder, "irtt.json")))["round_trips"]
        held = lambda times: times["send"]["wall"] - times["receive"]["wall"]
        return {trip["seqno"]: (trip["delay"]["rtt"] + held(trip["timestamps"]["server"])) / 1e3 for trip in trips if "rtt" in trip["delay"]}
    form = r": \[(\d+)\], \d+ bytes, ([\d.]+) ms" if name == "fping" else r"icmp_seq=(\d+) .*time=([\d.]+) ms"
    first = 0 if name == "fping" else 1
    return {int(number) - first: float(ms) * 1e3 for number, ms in re.findall(form, text)}


def errors_of(name, command, folder):
    """Absolute errors in us, and the true median."""
    capture = os.path.join(folder, "capture")
    tap = start(NEAR, "tcpdump", "-i", "v0", "-w", capture, "-s", "128", "-U", "--immediate-mode", "--time-stamp-precision=nano", "icmp or udp port 2112", stderr=subprocess.PIPE, text=True)
    # It listens.
    tap.stderr.readline()
    with open(os.path.join(folder, "out"), "w+") as out:
        run(command, out)
        out.seek(0)
        text = out.read()
    end(tap)
    truth, reported = truth_of(capture), reported_by(name, text, folder)
    both = truth.keys() & reported.keys()
    return sorted(abs(reported[n] - truth[n]) for n in both), statistics.median(truth.values())


def verdict(holds, text):
    print(f"{'holds: ' if holds else 'MISSED:'} {text}")


def main():
    build()
    servers = []
    try:
        servers = [start(FAR, "irtt", "server", "-i", "0"), start(FAR, "python3", "-c", WEB)]
        ready(80)
        medians, cpu = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            print(f"error of {PROBES} probes every 10 ms compared with a capture, us\n{'':<20} probes  true p50     |p50|     |p99|     |max|")
            for name in ("fathom ping", "ping", "fping", "irtt"):
                errors, true = errors_of(name, commands(INTERVAL_S, PROBES, folder)[name], folder)
                medians[name] = percentile(errors, 0.5)
                print(f"{name:<20} {len(errors):>6} {true:>9.1f} {medians[name]:>9.2f} {percentile(errors, 0.99):>9.2f} {errors[-1]:>9.1f}", flush=True)
            print(f"\nCPU per probe, us\n{'':<20}  every 10 ms   every 1 ms")
            for name in commands(1, 1, folder):
                for interval_s, count in ((0.01, PROBES), (0.001, 3 * PROBES)):
                    used = run(commands(interval_s, count, folder)[name], subprocess.DEVNULL)
                    cpu[(name, interval_s)] = used / count * 1e6
                print(f"{name:<20} {cpu[(name, 0.01)]:>12.1f} {cpu[(name, 0.001)]:>12.1f}", flush=True)
    finally:
        for server in servers:
            end(server)
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "del", name])
    verdict(medians["fathom ping"] < 5, f"median error {medians['fathom ping']:.2f} us (limit 5)")
    own, theirs = cpu[("fathom ping", 0.001)], cpu[("fping", 0.001)]
    verdict(own <= theirs, f"{own / theirs:.2f} times the CPU of fping at 1 ms (limit 1)")


if __name__ == "__main__":
    main()
