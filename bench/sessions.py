#!/usr/bin/env python3
"""CPU of `fathom serve` with many pages at once whose data channels answer its probes, without load.

Cores used per session, and how many sessions one core serves. The pages run in shell/net/pages/examples/sessions.rs.

  bench/sessions.py [COUNT ...]
"""
import os
import subprocess
import sys

from common import FATHOM

PORT = 8004
SECONDS = 10
CLIENT = os.path.join(os.path.dirname(FATHOM), "examples/sessions")


def cpu_s(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main():
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "fathom-pages", "--example", "sessions"], check=True)
    print(f"{'sessions':>8}{'probes/s':>10}{'cores':>8}{'per core':>10}")
    for count in map(int, sys.argv[1:] or ["50", "200"]):
        # A host may hold a quarter of the places.
        command = [FATHOM, "serve", "--listen", "127.0.0.1", "--port", str(PORT), "--max-clients", str(4 * count)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert "ready" in server.stderr.readline()
                with subprocess.Popen([CLIENT, f"127.0.0.1:{PORT}", str(count), str(SECONDS)], stdout=subprocess.PIPE, text=True) as client:
                    assert client.stdout.readline() == "open\n"
                    begin = cpu_s(server.pid)
                    answered = int(client.stdout.readline())
                    used = cpu_s(server.pid) - begin
            finally:
                server.terminate()
        cores = used / SECONDS
        print(f"{count:8}{answered / SECONDS:10.0f}{cores:8.3f}{count / cores:10.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
