#!/usr/bin/env python3
"""Cost of authenticated probes: CPU time of the server per probe, without and with a shared secret,
for `fathom serve` (HMAC-SHA-256, 128 bits) and irtt (HMAC-MD5, 128 bits).

Each server answers 20,000 probes on loopback at 2,000 per second. CPU time is that of all threads of
the server (schedstat, in nanoseconds), which includes that of the kernel for its system calls. Three
rounds in turn; the median counts.

  bench/auth.py      needs irtt
"""
import hashlib
import hmac
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time

from common import FATHOM

PROBES, RATE, ROUNDS, TOKEN = 20_000, 2_000, 3, b"a-shared-secret"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def cpu_ns(pid):
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            total += int(file.read().split()[0])
    return total


def code(key, label, *parts):
    return hmac.new(key, label + b"\0" + b"".join(parts), hashlib.sha256).digest()


def line_of(connection):
    text = b""
    while not text.endswith(b"\n"):
        text += connection.recv(1)
    return text.decode()


def fathom(is_authenticated):
    port = free_port()
    with tempfile.NamedTemporaryFile() as file:
        file.write(TOKEN + b"\n")
        file.flush()
        token = ["--token-file", file.name] if is_authenticated else []
        command = [FATHOM, "serve", "--listen", "127.0.0.1", "--port", str(port), *token]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(1)
    key = None
    with socket.create_connection(("127.0.0.1", port)) as control, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        if is_authenticated:
            nonce = os.urandom(16)
            proof = code(TOKEN, b"control", nonce)[:16]
            control.sendall(f"FATHOM/1 CONTROL {nonce.hex()} {proof.hex()}\n".encode())
            challenge = bytes.fromhex(line_of(control).split('"nonce":"')[1][:32])
            key = code(TOKEN, b"session", nonce, challenge)
            control.sendall(f'{{"response":{{"mac":"{code(key, b"client")[:16].hex()}"}}}}\n'.encode())
        else:
            control.sendall(b"FATHOM/1 CONTROL\n")
        session = bytes.fromhex(line_of(control).split('"session":"')[1][:32])
        probes = []
        for number in range(PROBES):
            probe = b"FTH1\1\0\0\0" + session + struct.pack(">QQQQQ", number, 0, 0, 0, 0)
            probes.append(probe + (code(key, b"udp", probe)[:16] if key else b""))
        udp.connect(("127.0.0.1", port))
        udp.settimeout(2)
        before, began = cpu_ns(server.pid), time.monotonic()
        for number, probe in enumerate(probes):
            udp.send(probe)
            udp.recv(200)
            time.sleep(max(0, began + number / RATE - time.monotonic()))
        spent = cpu_ns(server.pid) - before
    server.send_signal(signal.SIGINT)
    server.wait(10)
    return spent / PROBES


def irtt(is_authenticated):
    port = free_port()
    secret = [f"--hmac={TOKEN.decode()}"] if is_authenticated else []
    server = subprocess.Popen(["irtt", "server", "-b", f"127.0.0.1:{port}", "-i", "100us", *secret], stdout=subprocess.DEVNULL)
    time.sleep(1)
    before = cpu_ns(server.pid)
    client = ["irtt", "client", "-i", f"{1e6 / RATE:.0f}us", "-d", f"{PROBES / RATE:.0f}s", "-l", "64", "-q", *secret]
    subprocess.run([*client, f"127.0.0.1:{port}"], check=True, stdout=subprocess.DEVNULL)
    spent = cpu_ns(server.pid) - before
    server.send_signal(signal.SIGINT)
    server.wait(10)
    return spent / PROBES


def main():
    cases = [(program, is_on) for program in (fathom, irtt) for is_on in (False, True)]
    spent = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for program, is_on in cases:
            spent[program, is_on].append(program(is_on))
    print(f"{'server':10}{'without':>12}{'with a secret':>16}{'difference':>14}    CPU time per probe")
    for program in (fathom, irtt):
        without, secret = (sorted(spent[program, is_on])[ROUNDS // 2] / 1e3 for is_on in (False, True))
        print(f"{program.__name__:10}{without:>9.2f} us{secret:>13.2f} us{secret - without:>11.2f} us")


if __name__ == "__main__":
    main()
