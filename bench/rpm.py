#!/usr/bin/env python3
"""Compares responsiveness (RPM) with the value that follows from the known queue, over the line of
bench/truth.py.

The server is `fathom serve --with web`. By draft-ietf-ippm-responsiveness-09, tcp_f, tls_f, http_f
and http_l are each one round trip, so RPM = 60 / TM(q): q is the delay of both queues every 50 ms
while a direction is loaded, and TM the mean of its lowest 95 %. The peer is cf-mach (`mach`; cargo
install cf-mach).

Of a download, http_l also contains what TCP itself adds: a response waits until an acknowledgment
of its connection lets the next packet leave, and for lost packets before it. `plain TCP` shows how
much that is at least: the server in this file has neither HTTP nor TLS, keeps one packet of load
in the kernel, and sends a response before any more load. Its foreign part is taken as exact.

  bench/rpm.py     as root; exit code 1 if fathom is more than 5 % off, and more than plain TCP
"""
import collections
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import truth
from common import FATHOM

PORT = 8443
TOLERANCE = 0.05
# Of plain TCP: a packet, a response, connections as fathom has them, and its requests.
PLAIN_PORT, PIECE_BYTES, RESPONSE_BYTES, FLOWS = 8444, 1448, 32, 4
REQUEST_EVERY_S, LOAD_S = 0.2, 14
# linux/tcp.h
NOTSENT_LOWAT = 25
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


def serve_plainly():
    """Sends load on each connection, and a short response for each byte that arrives, until it is killed."""
    listener = socket.create_server(("", PLAIN_PORT))
    poll, connections, requests = select.poll(), {}, collections.Counter()
    poll.register(listener, select.POLLIN)
    while True:
        for number, event in poll.poll():
            if number == listener.fileno():
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.setsockopt(socket.IPPROTO_TCP, NOTSENT_LOWAT, 1)
                connections[connection.fileno()] = connection
                poll.register(connection, select.POLLIN | select.POLLOUT)
                continue
            connection = connections[number]
            try:
                if event & select.POLLIN:
                    requests[number] += len(connection.recv(100))
                if event & select.POLLOUT:
                    kind, length = (b"R", RESPONSE_BYTES) if requests[number] else (b"L", PIECE_BYTES)
                    connection.send(kind + bytes(length - 1), socket.MSG_EOR | (socket.MSG_MORE if kind == b"L" else 0))
                    requests[number] -= kind == b"R"
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(number)
                connections.pop(number).close()


def load_plainly():
    """Receives load for a while, and prints when each response arrived and how long it took, in s."""
    connections = [socket.create_connection((truth.SERVER, PLAIN_PORT)) for _ in range(FLOWS)]
    held, sent = [b""] * FLOWS, [collections.deque() for _ in range(FLOWS)]
    begin = due = time.time()
    while time.time() < begin + LOAD_S:
        if time.time() >= due:
            due += REQUEST_EVERY_S
            for connection, times in zip(connections, sent):
                times.append(time.time())
                connection.send(b"?")
        ready, _, _ = select.select(connections, [], [], max(0, due - time.time()))
        for connection in ready:
            which = connections.index(connection)
            data, at = held[which] + connection.recv(1 << 16), 0
            while at < len(data):
                length = RESPONSE_BYTES if data[at:at + 1] == b"R" else PIECE_BYTES
                if at + length > len(data):
                    break
                if length == RESPONSE_BYTES:
                    begun = sent[which].popleft()
                    print(time.time(), time.time() - begun)
                at += length
            held[which] = data[at:]


def plainly(seen, _authority):
    """The same, with the least that TCP needs."""
    script = os.path.abspath(__file__)
    server = truth.serve(f"python3 {script} --serve")
    try:
        done = subprocess.run(truth.inside("client", f"python3 {script} --load"), shell=True, check=True, capture_output=True, text=True)
    finally:
        truth.stop(server)
    responses = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    # As fathom does, without the start of the load.
    first, last = responses[0][0] + 1, responses[-1][0]
    loaded = trimmed_mean([delay for at, delay in responses if first <= at < last])
    queue = trimmed_mean([up + down for at, up, down in seen.rows if first <= at < last])
    return {"down": (60 / ((queue + loaded) / 2), None, 60 / queue)}


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
    errors = {}
    print(f"{'tool':10}{'direction':>10}{'RPM':>8}{'expected':>10}{'error':>8}{'foreign part':>14}{'error':>8}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            authority, chain, key = certificate(folder, truth.SERVER)
            server = truth.serve(f"{FATHOM} serve --with web --web-port {PORT} --certificate {chain} --key {key}")
            try:
                for name, tool in (("fathom", fathom), ("plain TCP", plainly), ("cf-mach", mach)):
                    seen = truth.Truth()
                    seen.start()
                    results = tool(seen, authority)
                    seen.stop()
                    for direction, (rpm, new, right) in results.items():
                        error = lambda value: f"{value / right - 1:>+8.1%}"
                        part = f"{new:>14.0f}{error(new)}" if new else f"{'-':>14}{'-':>8}"
                        print(f"{name:10}{direction:>10}{rpm:>8.0f}{right:>10.0f}{error(rpm)}{part}", flush=True)
                        errors[name, direction] = abs(rpm / right - 1)
                    truth.quiet_line()
            finally:
                truth.stop(server)
    finally:
        truth.destroy_line()
    floor = max(TOLERANCE, errors["plain TCP", "down"])
    return 1 if errors["fathom", "down"] > floor or errors["fathom", "up"] > TOLERANCE else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve_plainly()
    if sys.argv[1:] == ["--load"]:
        sys.exit(load_plainly())
    sys.exit(main())
