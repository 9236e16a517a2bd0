#!/usr/bin/env python3
"""Starts an engine for a fleet on loopback: three nodes of Thanos Receive with replication 3, of which
two must have written a request, and a querier that shows each series once.

    cluster.py [FOLDER]

Builds Thanos from its Go module first (bench/fleet/thanos; minutes, once). Prints the URLs of the
nodes and of the querier, and stops all of them at Ctrl-C. The data is in FOLDER, or in a temporary
one.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
THANOS = TOP / "target/bench-fleet-engine/thanos"
NODES = 3
READY_S = 120


def build():
    """The program, built from its module unless that was done already."""
    if not THANOS.exists():
        THANOS.parent.mkdir(parents=True, exist_ok=True)
        words = ["go", "build", "-p", "2", "-mod=readonly", "-trimpath", "-tags", "slicelabels", "-ldflags", "-s -w"]
        words += ["-o", str(THANOS), "github.com/thanos-io/thanos/cmd/thanos"]
        subprocess.run(words, cwd=TOP / "bench/fleet/thanos", check=True)
    return str(THANOS)


def free_ports(count):
    """Ports that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_ready(url, process, limit_s=READY_S):
    """Waits for status 200."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.2)
    raise RuntimeError(f"{url} is not ready within {limit_s} s")


class Engine:
    """Processes of one engine, which are started, killed and measured by name."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes, self.words, self.ready = {}, {}, {}

    def start(self, name, limit_s=READY_S):
        log = open(self.folder / f"{name}.log", "a")
        self.processes[name] = subprocess.Popen(self.words[name], stdout=log, stderr=log)
        log.close()
        wait_ready(self.ready[name], self.processes[name], limit_s)

    def start_all(self):
        for name in self.words:
            self.start(name)
        return self

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def discard(self):
        """Ends everything at once, and removes the data."""
        for name in list(self.processes):
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def memory(self, prefix=""):
        """Resident memory of the processes with this prefix, in bytes."""
        total = 0
        for name, process in self.processes.items():
            if name.startswith(prefix):
                lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
        return total

    def cpu(self):
        """CPU time of all processes so far, in seconds."""
        fields = [Path(f"/proc/{one.pid}/stat").read_text().rsplit(")", 1)[1].split() for one in self.processes.values()]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


class Thanos(Engine):
    """Three nodes and a querier, or several that merge replicas in other ways."""

    title, replicas, tolerance = "Thanos Receive x 3", NODES, 0.0

    def __init__(self, folder, flags=(), queriers=("chain",)):
        super().__init__(folder)
        program = build()
        ports = iter(free_ports(4 * NODES + 2 * len(queriers)))
        grpc = [next(ports) for _ in range(NODES)]
        hashring = self.folder / "hashring.json"
        hashring.write_text(json.dumps([{"endpoints": [f"127.0.0.1:{port}" for port in grpc]}]))
        self.write_urls = []
        for n in range(NODES):
            web, write, other = next(ports), next(ports), next(ports)
            self.words[f"receive-{n}"] = [
                program, "receive", f"--tsdb.path={self.folder}/{n}", f"--grpc-address=127.0.0.1:{grpc[n]}",
                f"--http-address=127.0.0.1:{web}", f"--remote-write.address=127.0.0.1:{write}",
                f"--receive.capnproto-address=127.0.0.1:{other}", f"--receive.local-endpoint=127.0.0.1:{grpc[n]}",
                f"--receive.replication-factor={NODES}", f"--receive.hashrings-file={hashring}",
                "--receive.hashrings-algorithm=ketama", f'--label=replica="{n}"', "--tsdb.retention=30d",
                "--log.level=warn", *flags]
            self.ready[f"receive-{n}"] = f"http://127.0.0.1:{web}/-/ready"
            self.write_urls.append(f"http://127.0.0.1:{write}/api/v1/receive")
        self.query_urls = {}
        for how in queriers:
            web, other = next(ports), next(ports)
            # The tenant is a label of each series; there is only one.
            self.words[f"query-{how}"] = [
                program, "query", f"--http-address=127.0.0.1:{web}", f"--grpc-address=127.0.0.1:{other}",
                "--query.replica-label=replica", "--query.replica-label=tenant_id", f"--deduplication.func={how}",
                "--log.level=warn", *(f"--endpoint=127.0.0.1:{port}" for port in grpc)]
            self.ready[f"query-{how}"] = f"http://127.0.0.1:{web}/-/ready"
            self.query_urls[how] = f"http://127.0.0.1:{web}"
        self.query_url = self.query_urls[queriers[0]]
        self.victim = "receive-1"

    def start_all(self):
        # A node is ready when it knows the others.
        for name in [*(f"receive-{n}" for n in range(NODES))]:
            log = open(self.folder / f"{name}.log", "a")
            self.processes[name] = subprocess.Popen(self.words[name], stdout=log, stderr=log)
            log.close()
        for name, process in self.processes.items():
            wait_ready(self.ready[name], process)
        for name in self.words:
            if name not in self.processes:
                self.start(name)
        return self

    def wait_seen(self):
        """Waits until each querier knows that all nodes have data: it asks them every few seconds, and
        sends no query to a node that had none.
        """
        for url in self.query_urls.values():
            for _ in range(300):
                with urllib.request.urlopen(f"{url}/api/v1/stores", timeout=10) as answer:
                    nodes = json.load(answer)["data"].get("receive", [])
                full = [node for node in nodes if not node.get("lastError") and node["minTime"] <= time.time() * 1000]
                if len(full) == NODES:
                    break
                time.sleep(0.2)
            else:
                raise RuntimeError(f"{url} does not see all nodes")

    def blocks(self):
        """Folders with the blocks of each node."""
        return [self.folder / f"{n}/default-tenant" for n in range(NODES)]


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-cluster") as scratch:
        engine = Thanos(sys.argv[1] if len(sys.argv) > 1 else scratch)
        try:
            engine.start_all()
            for url in engine.write_urls:
                print(f"remote-write  {url}")
            print(f"queries       {engine.query_url}\nCtrl-C stops them", flush=True)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            signal.pause()
        except KeyboardInterrupt:
            pass
        finally:
            engine.stop()


if __name__ == "__main__":
    main()
