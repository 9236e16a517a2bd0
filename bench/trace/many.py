"""A capture of many flows for speed.py: 200 bulk uploads that share a lab line, with short
connections throughout.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from common import lab, line

BULK_PORTS, FLOWS_OF_EACH, SHORT_AT_ONCE = (5201, 5202), 100, 20
RATE, BUFFER_BYTES, SECONDS = "400mbit", 20_000_000, 120

# Each short connection is a request and a response; ends.py has the server.
SHORT = """
import socket, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
def one_after_the_other():
    while time.monotonic() < end:
        try:
            with socket.create_connection((sys.argv[2], 5002), timeout=10) as connection:
                connection.sendall(b"q" * 100)
                connection.recv(200, socket.MSG_WAITALL)
        except OSError:
            time.sleep(0.1)
threads = [threading.Thread(target=one_after_the_other) for _ in range(int(sys.argv[3]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def make(folder):
    """The capture at the client; created if it does not exist."""
    capture = os.path.join(folder, "client.pcap")
    if not os.path.exists(os.path.join(folder, "truth.json")):
        record(folder, RATE, BUFFER_BYTES, SECONDS)
        for name in ("hop1-near.pcap", "hop1-far.pcap", "server.pcap"):
            os.remove(os.path.join(folder, name))
    return capture


def record(folder, rate, buffer_bytes, seconds, control="cubic"):
    """Captures at all points of the line, with bulk uploads that use this congestion control."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "short.py"), "w") as file:
        file.write(SHORT)
    far = " & ".join([f"iperf3 -s -p {port} >/dev/null" for port in BULK_PORTS] + [f"{sys.executable} {HERE}/ends.py server {folder}"])
    bulk = [f"iperf3 -c $FATHOM_SERVER -p {port} -P {FLOWS_OF_EACH} -C {control} -t {seconds} >/dev/null" for port in BULK_PORTS]
    short = f"{sys.executable} {file.name} {seconds} $FATHOM_SERVER {SHORT_AT_ONCE}"
    script = "sleep 1; " + " & ".join([*bulk, short]) + " & wait"
    lab(line(rate, f"{buffer_bytes}b"), ["sh", "-c", script], ["--capture", folder, "--snaplen", "96", "--far", far], seconds * 4 + 60)
