"""Watches behind emulated lines, which reach the host by an interface outside of the line.

Each runs in the namespace of a `fathom lab`, whose far end has the server of its tests.
"""
import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

# Lines whose rates two cores can emulate for several agents at once.
LINES = ("dsl", "lte", "cable", "wifi", "gettys-2010", "seifried-2011", "satellite")
# The far end of the line in a lab.
SERVER = "198.19.0.2"
# TEST-NET-1 (RFC 5737): an address of the host, and those of the agents after it.
NETWORK = "192.0.2"
HOST = f"{NETWORK}.1"
CLONE_NEWNET = 0x40000000
START_S = 20


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def own_network():
    """Moves this process to a network namespace with loopback and a bridge. Needs root."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot create a network namespace: root is needed")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "agents", "type", "bridge")
    run("ip", "address", "add", f"{HOST}/24", "dev", "agents")
    run("ip", "link", "set", "agents", "up")


def line_of(number):
    return LINES[number % len(LINES)]


def rates(fathom):
    """Bit/s up and down of each built-in line."""
    found = re.findall(r"^(\S+) +([\d.]+)Mbit up, ([\d.]+)Mbit down", run(fathom, "lab", "--list"), re.M)
    return {name: (float(up) * 1e6, float(down) * 1e6) for name, up, down in found}


class Agent:
    """A running `fathom watch`."""

    def __init__(self, fathom, number, plan, log):
        wait = 'until ip address show dev host 2>&1 | grep -q "inet "; do sleep 0.1; done; exec "$0" watch "$1"'
        words = [fathom, "lab", "--line", line_of(number), "--", "sh", "-c", wait, fathom, plan]
        self.lab = subprocess.Popen(words, stdout=log, stderr=log)
        self.pid = self.find(plan)
        self.link, namespace = f"agent{number}", ("nsenter", "-t", str(self.pid), "-n")
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "host", "netns", str(self.pid))
        run("ip", "link", "set", self.link, "master", "agents", "up")
        run(*namespace, "ip", "link", "set", "host", "up")
        run(*namespace, "ip", "address", "add", f"{NETWORK}.{number + 2}/24", "dev", "host")

    def find(self, plan):
        """The process that the lab started, which becomes the watch."""
        mine = os.stat("/proc/self/ns/net").st_ino
        for _ in range(START_S * 10):
            for pid in descendants(self.lab.pid):
                try:
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                    if words[0] == b"sh" and plan.encode() in words and os.stat(f"/proc/{pid}/ns/net").st_ino != mine:
                        return pid
                except OSError:
                    pass
            time.sleep(0.1)
        self.lab.kill()
        raise RuntimeError(f"{plan}: the lab does not start")

    def terminate(self):
        if self.lab.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def poll(self):
        return self.lab.poll()

    def send_signal(self, which):
        os.kill(self.pid, which)

    def wait(self):
        self.lab.wait()
        # The kernel ends a namespace, and the link to it, some time later.
        subprocess.run(["ip", "link", "delete", self.link], capture_output=True)


def descendants(pid):
    """Processes that a process started, also from its threads."""
    children = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += [int(child) for child in file.read_text().split()]
        except OSError:
            pass
    return children + [one for child in children for one in descendants(child)]
