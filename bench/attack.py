#!/usr/bin/env python3
"""Attacks `fathom serve` and the page of `fathom watch` on loopback, and measures how long a client
that behaves well waits.

Every attack gets a fresh server. Attackers and the client have different addresses of 127.0.0.0/8,
and so different hosts and networks. The client of `serve` needs a session, a load flow in each
direction, the reply to a UDP probe and that to an HTTP probe; the client of the page needs the page,
its targets and `/metrics`. If it is refused, it tries again every 0.2 s. It comes 20 times during
each attack; the longest wait counts. Memory (peak) and CPU time are those of the server, CPU as a
share of one core during the attack.

  bench/attack.py [--before PROGRAM]   compares with an earlier program, in the same run

Limit: the client is served within 5 s, always. Exit code 1 if it is not.
"""
import argparse
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from common import FATHOM

CLIENT, LIMIT_S, VISITS = "127.9.9.9", 5.0, 20
CONTROL = b"FATHOM/1 CONTROL\n"


class Server:
    """`fathom serve` on a free port of loopback."""

    def __init__(self, program):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [program, "serve", "--listen", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.process.stderr.readline()
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def visit(self):
        visit(self)

    def connect(self, source, timeout=5):
        connection = socket.socket()
        connection.settimeout(timeout)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", self.port))
        return connection

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)
        self.reader.join(5)


class Page(Server):
    """The page of `fathom watch`."""

    def __init__(self, program):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        command = [program, "watch", "--target", "127.0.0.1", "--listen", f"127.0.0.1:{self.port}", "--store", self.folder.name]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines = []
        while "page:" not in self.process.stderr.readline():
            pass
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self.reader.start()
        # A series can be read once it is on disk.
        while '"series":0' not in self.text(CLIENT, "/api/v1/series"):
            time.sleep(0.5)

    def text(self, source, path):
        with self.ask(source, path, "Connection: close\r\n") as connection:
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def ask(self, source, path, more=""):
        connection = self.connect(source)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
        return connection

    def visit(self):
        for path in ("/", "/api/v1/targets", "/metrics"):
            with self.ask(CLIENT, path) as connection:
                if "200" not in line_of(connection):
                    raise ConnectionError(path)

    def stop(self):
        super().stop()
        self.folder.cleanup()


def line_of(connection):
    text = b""
    while not text.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError("closed")
        text += byte
    return text.decode()


def session(server, source):
    """An open session: its connection and its identifier."""
    connection = server.connect(source)
    connection.sendall(CONTROL)
    hello = line_of(connection)
    if '"hello"' not in hello:
        raise ConnectionError(hello)
    return connection, hello.split('"session":"')[1][:32]


def flow(server, source, identifier, number, direction):
    connection = server.connect(source)
    connection.sendall(f"FATHOM/1 FLOW {identifier} {number} {direction} -\n".encode())
    answer = line_of(connection)
    if not answer.startswith("OK"):
        raise ConnectionError(answer)
    return connection


def probe(identifier, number):
    return b"FTH1\1\0\0\0" + bytes.fromhex(identifier) + struct.pack(">QQQQQ", number, 0, 0, 0, 0)


def visit(server):
    """What a test needs."""
    control, identifier = session(server, CLIENT)
    kept = [control]
    for number, direction in enumerate(("up", "down")):
        kept.append(flow(server, CLIENT, identifier, number, direction))
    http = server.connect(CLIENT)
    kept.append(http)
    http.sendall(b"GET /probe HTTP/1.1\r\n\r\n")
    if "200" not in line_of(http):
        raise ConnectionError("HTTP")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind((CLIENT, 0))
        udp.settimeout(1)
        udp.sendto(probe(identifier, 1), ("127.0.0.1", server.port))
        udp.recv(100)
    for connection in kept:
        connection.close()


def wait_to_be_served(server):
    began = time.monotonic()
    while time.monotonic() - began < 2 * LIMIT_S:
        try:
            server.visit()
            return time.monotonic() - began
        except OSError:
            time.sleep(0.2)
    return None


def is_open(connection):
    try:
        return connection.recv(1, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Attack:
    """Attackers in threads, until `stop` is set."""

    def __init__(self, server):
        self.server, self.stop, self.held, self.done = server, threading.Event(), [], 0

    def hold(self, make):
        try:
            self.held.append(make())
            self.done += 1
        except OSError:
            pass

    def idle_sessions(self, sources):
        while not self.stop.is_set():
            for source in sources:
                self.hold(lambda: session(self.server, source)[0])
            self.stop.wait(0.5)

    def idle_connections(self, source, count):
        """Holds `count` connections; replaces those that the server closed."""
        mine = []
        while not self.stop.is_set():
            mine = [connection for connection in mine if is_open(connection)]
            try:
                while len(mine) < count:
                    mine.append(self.server.connect(source))
                    self.done += 1
            except OSError:
                pass
            self.stop.wait(0.05)

    def flood(self, source, count):
        mine = []
        for _ in range(count):
            if self.stop.is_set():
                break
            try:
                mine.append(self.server.connect(source))
                self.done += 1
            except OSError:
                pass
            if len(mine) > 250:
                mine.pop(0).close()
        self.stop.wait()

    def flows(self, source, sessions):
        for _ in range(sessions):
            try:
                control, identifier = session(self.server, source)
            except OSError:
                continue
            self.held.append(control)
            for number in range(64):
                self.hold(lambda: flow(self.server, source, identifier, number, "up"))
        self.stop.wait()

    def datagrams(self, source):
        try:
            control, identifier = session(self.server, source)
        except OSError:
            return
        self.held.append(control)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind((source, 0))
            udp.setblocking(False)
            while not self.stop.is_set():
                for number in range(100):
                    try:
                        udp.sendto(probe(identifier, number), ("127.0.0.1", self.server.port))
                        self.done += 1
                    except OSError:
                        pass

    def streams(self, source, count):
        for _ in range(count):
            self.hold(lambda: self.server.ask(source, "/api/v1/live"))
        self.stop.wait()

    def queries(self, source):
        """Of 56 years, of which the history has some seconds."""
        while not self.stop.is_set():
            try:
                path = "/api/v1/samples?series=0&from=1&to=1795600000"
                with self.server.ask(source, path, "Connection: close\r\n") as connection:
                    while connection.recv(65536) and not self.stop.is_set():
                        pass
                self.done += 1
            except OSError:
                pass

    def requests(self, source):
        while not self.stop.is_set():
            try:
                with self.server.connect(source) as connection:
                    connection.sendall(b"GET /probe HTTP/1.1\r\n\r\n" * 50)
                    connection.recv(65536)
                    self.done += 50
            except OSError:
                pass


NETWORKS = [f"127.3.{n}.1" for n in range(1, 5)]
ATTACKS = [
    ("none", "", []),
    ("idle sessions of one address, again and again", "sessions", [("idle_sessions", ["127.1.1.1"] * 16)]),
    ("idle sessions of 4 networks", "sessions", [("idle_sessions", NETWORKS * 4)]),
    ("16 sessions of one address with 64 flows each", "flows", [("flows", "127.1.1.1", 16)]),
    ("256 idle connections of each of 4 networks", "connections", [("idle_connections", source, 256) for source in NETWORKS]),
    ("10,000 connections of 4 networks", "connections", [("flood", source, 2500) for source in NETWORKS]),
    ("datagrams as fast as one address can", "datagrams", [("datagrams", "127.1.1.1")]),
    ("HTTP requests as fast as 4 networks can", "requests", [("requests", source) for source in NETWORKS]),
]


PAGE_ATTACKS = [
    ("page: none", "", []),
    ("page: 600 event streams of one address", "streams", [("streams", "127.1.1.1", 600)]),
    ("page: 256 idle connections of each of 4 networks", "connections", [("idle_connections", source, 256) for source in NETWORKS]),
    ("page: queries over 56 years, 6 at a time", "queries", [("queries", "127.1.1.1")] * 6),
]


def run(kind, program, parts):
    """Result of one attack on a fresh server."""
    server = kind(program)
    attack = Attack(server)
    threads = [threading.Thread(target=getattr(attack, name), args=args) for name, *args in parts]
    before, began = server.cpu_s(), time.monotonic()
    for thread in threads:
        thread.start()
    time.sleep(2)
    while any(name == "streams" and attack.done < args[1] for name, *args in parts) and time.monotonic() - began < 60:
        time.sleep(0.1)
    waits = []
    for _ in range(VISITS):
        waits.append(wait_to_be_served(server))
        if waits[-1] is None:
            break
    while any(name == "flood" for name, *_ in parts) and attack.done < 9_000 and time.monotonic() - began < 60:
        time.sleep(0.1)
    cpu = (server.cpu_s() - before) / (time.monotonic() - began)
    memory = server.peak_mb()
    attack.stop.set()
    for thread in threads:
        thread.join()
    for connection in attack.held:
        connection.close()
    server.stop()
    return waits, attack.done, memory, cpu, len(server.lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="an earlier program")
    args = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    programs = [("before", args.before)] if args.before else []
    programs.append(("now", FATHOM))
    print(f"{'attack':50}{'program':9}{'size':>20}{'longest wait':>14}{'memory':>10}{'CPU':>7}{'lines':>7}")
    failed = False
    for kind, (name, unit, parts) in [(Server, one) for one in ATTACKS] + [(Page, one) for one in PAGE_ATTACKS]:
        for label, program in programs:
            waits, size, memory, cpu, lines = run(kind, program, parts)
            served = None not in waits
            failed |= label == "now" and (not served or max(waits) > LIMIT_S)
            wait = f"{max(waits):.2f} s" if served else "not served"
            print(f"{name:50}{label:9}{f'{size:,} {unit}':>20}{wait:>14}{memory:>7.0f} MB{100 * cpu:>5.0f} %{lines:>7}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
