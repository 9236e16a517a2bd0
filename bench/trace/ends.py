#!/usr/bin/env python3
"""Both ends of a cell's traffic, started in a lab by cells.py: bulk flows, a sparse request flow,
and pings.

    ends.py server DIR          at the server end
    ends.py client DIR ...      at the client end; the flags are those of `client_flags`

Each writes its kernel's counters to DIR: TCP_INFO of the flows it sent on, and the TcpExt counters
of its namespace. No capture can know more about retransmissions than the sender itself.
"""
import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

BULK_PORT, SPARSE_PORT = 5001, 5002
REQUEST, REPLY = b"q" * 100, b"r" * 200
IDLE_S, AFTER_S = 2.0, 1.0
POLL_S, SAVE_EVERY_S = 0.02, 0.2
BLOCK = bytes(1 << 18)

# Offsets in struct tcp_info (include/uapi/linux/tcp.h), and their types.
TCP_INFO = {
    "rtt_us": (68, "I"), "cwnd_packets": (80, "I"), "total_retrans": (100, "I"), "min_rtt_us": (148, "I"),
    "bytes_sent": (200, "Q"), "bytes_retrans": (208, "Q"), "dsack_dups": (216, "I"), "reord_seen": (220, "I"),
}
COUNTERS = ("RetransSegs", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPTimeouts", "TCPLossProbes", "TCPLostRetransmit",
            "TCPSpuriousRTOs", "TCPDSACKRecv", "TCPDSACKOfoRecv", "TCPSACKReorder", "TCPSynRetrans")


def tcp_info(connection):
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return {name: struct.unpack_from("=" + kind, raw, at)[0] for name, (at, kind) in TCP_INFO.items() if at < len(raw) - 7}


def counters():
    """The TCP counters of this namespace."""
    found = {}
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        with open(path) as file:
            rows = [line.split() for line in file]
        for names, values in zip(rows[::2], rows[1::2]):
            found.update({name: int(value) for name, value in zip(names[1:], values[1:]) if name in COUNTERS})
    return found


class Book:
    """What is recorded about the flows of one end."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.flows, self.before, self.extra = [], counters(), {}

    def add(self, flow):
        with self.lock:
            self.flows.append(flow)
            self.save()

    def save(self):
        since = {name: value - self.before[name] for name, value in counters().items()}
        with open(self.path + ".part", "w") as file:
            json.dump({"flows": self.flows, "counters": since, **self.extra}, file)
        os.replace(self.path + ".part", self.path)


def send_bulk(connection, seconds, book):
    """Sends for `seconds`, then waits until everything is acknowledged and the other end has
    closed.
    """
    rtts, done = [], threading.Event()

    def poll():
        while not done.wait(POLL_S):
            rtts.append(tcp_info(connection)["rtt_us"])
    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    until = time.monotonic() + seconds
    connection.settimeout(max(seconds, 1) + 60)
    while time.monotonic() < until:
        connection.send(BLOCK)
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65536):
        pass
    done.set()
    poller.join()
    book.add({"kind": "bulk", "port": connection.getsockname()[1], "max_rtt_us": max(rtts, default=0), **tcp_info(connection)})
    connection.close()


def receive_bulk(connection):
    buffer = bytearray(1 << 20)
    while connection.recv_into(buffer):
        pass
    connection.close()


def serve(directory):
    book = Book(os.path.join(directory, "server-end.json"))

    def bulk(connection):
        way, seconds = struct.unpack("!cd", connection.recv(9, socket.MSG_WAITALL))
        if way == b"U":
            receive_bulk(connection)
        else:
            send_bulk(connection, seconds, book)

    def sparse(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(len(REQUEST), socket.MSG_WAITALL):
            connection.sendall(REPLY)

    def listen(port, handler):
        server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
        while True:
            threading.Thread(target=handler, args=(server.accept()[0],), daemon=True).start()
    threading.Thread(target=listen, args=(SPARSE_PORT, sparse), daemon=True).start()
    threading.Thread(target=listen, args=(BULK_PORT, bulk), daemon=True).start()
    # It is killed when the client's end has ended.
    while True:
        time.sleep(SAVE_EVERY_S)
        with book.lock:
            book.save()


def connect(address, port):
    for _ in range(100):
        try:
            return socket.create_connection((address, port), timeout=30)
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the server's end does not answer")


class HostQueue(threading.Thread):
    """The sender's own queue, if any: its backlog is a truth that the line does not know."""

    def __init__(self, tbf):
        super().__init__(daemon=True)
        self.backlogs, self.done = [], threading.Event()
        subprocess.run(f"tc qdisc replace dev line0 root {tbf}", shell=True, check=True)

    def listing(self):
        shown = subprocess.run("tc -s -j qdisc show dev line0".split(), capture_output=True, text=True, check=True)
        return next(q for q in json.loads(shown.stdout) if q.get("root"))

    def run(self):
        while not self.done.wait(0.05):
            self.backlogs.append(self.listing()["backlog"])

    def reported(self):
        self.done.set()
        self.join()
        ordered = sorted(self.backlogs)
        return {"drops": self.listing()["drops"], "max_backlog_bytes": ordered[-1],
                "p95_backlog_bytes": ordered[int(0.95 * (len(ordered) - 1))]}


def ask(args, book):
    """The sparse flow: a request at a fixed interval until the end."""
    connection = connect(args.address, SPARSE_PORT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def loop():
        while True:
            connection.sendall(REQUEST)
            connection.recv(len(REPLY), socket.MSG_WAITALL)
            time.sleep(2 * args.probe_every)
    threading.Thread(target=loop, daemon=True).start()
    return connection


def be_client(args):
    book = Book(os.path.join(args.directory, "client-end.json"))
    queue = HostQueue(args.host_queue) if args.host_queue else None
    sparse = ask(args, book)
    whole_s = IDLE_S + args.seconds + AFTER_S
    ping = subprocess.Popen(["ping", "-q", "-i", str(args.probe_every), "-w", str(round(whole_s)), args.address], stdout=subprocess.DEVNULL)
    time.sleep(IDLE_S)
    if queue:
        queue.start()

    def transfer():
        connection = connect(args.address, BULK_PORT)
        connection.sendall(struct.pack("!cd", b"U" if args.way == "up" else b"D", args.seconds))
        if args.way == "up":
            send_bulk(connection, args.seconds, book)
        else:
            receive_bulk(connection)
    transfers = [threading.Thread(target=transfer) for _ in range(args.flows)]
    for each in transfers:
        each.start()
    for each in transfers:
        each.join()
    time.sleep(AFTER_S)
    ping.terminate()
    ping.wait()
    if queue:
        book.extra["host_queue"] = queue.reported()
    book.add({"kind": "sparse", "port": sparse.getsockname()[1], **tcp_info(sparse)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", choices=("server", "client"))
    parser.add_argument("directory")
    parser.add_argument("--address")
    parser.add_argument("--way", choices=("up", "down"), default="up")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--probe-every", type=float, default=0.1, help="interval of pings in seconds; that of requests is twice as long")
    parser.add_argument("--host-queue", help="root qdisc of the client's interface, in tc syntax")
    parser.add_argument("--no-timestamps", action="store_true")
    args = parser.parse_args()
    if args.no_timestamps:
        with open("/proc/sys/net/ipv4/tcp_timestamps", "w") as file:
            file.write("0")
    if args.role == "server":
        serve(args.directory)
    else:
        be_client(args)


if __name__ == "__main__":
    main()
