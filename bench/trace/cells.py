"""The test matrix: lines with a known queue, their traffic, and captures of both, stored outside
the repository.
"""
import dataclasses
import gzip
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from common import FATHOM

ADDRESS = {4: "198.19.0.2", 6: "fd61:7468:6f6d:ffff::2"}
CLIENT = {4: "198.18.0.2", 6: "fd61:7468:6f6d::2"}
SECONDS = 20
# From this rate on, the line has one hop and fewer captures: ten of them would be 100 MB/s.
FAST_MBIT = 100
# Tail-drop buffer per rate, in bytes: half a second at 1 Mbit/s, a tenth of a second at 500.
BUFFER = {1: 64_000, 5: 250_000, 10: 250_000, 50: 1_250_000, 100: 1_250_000, 500: 6_250_000}
# Maximum lateness of a line, also as a share of its full queue's delay, and the number of attempts.
LATE_MS, LATE_SHARE, ATTEMPTS = 1.0, 0.01, 3
# The line's rates and buffers include Ethernet headers, as tc counts on an Ethernet interface; the
# host queue here excludes them.
OVERHEAD_BYTES, MTU_BYTES = 14, 1500


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell: the direction, the queue, the rate and the traffic."""
    way: str
    queue: str
    mbit: int
    cc: str = "cubic"
    ip: int = 4
    stamps: bool = True
    seconds: float = SECONDS
    probe_every: float = 0.1

    def __str__(self):
        stamps = "" if self.stamps else "-nots"
        return f"{self.way}-{self.queue}-{self.mbit}-{self.cc}-v{self.ip}{stamps}"

    @property
    def is_short(self):
        return self.mbit >= FAST_MBIT

    @property
    def sender(self):
        return ADDRESS[self.ip] if self.way == "down" else CLIENT[self.ip]

    @property
    def receiver(self):
        return CLIENT[self.ip] if self.way == "down" else ADDRESS[self.ip]

    def discipline(self):
        """The bottleneck's queue in scenario syntax."""
        return {"tail": f"fifo limit {BUFFER[self.mbit]}b", "codel": "codel limit 10000p", "fq_codel": "fq_codel"}[self.queue]

    def points(self):
        """The analyzed capture points, each with its file."""
        if self.way == "host":
            return {"sender": "client.pcap", "middle": "hop1-router.pcap", "receiver": "server.pcap"}
        if self.is_short:
            ends = ("client.pcap", "server.pcap")
            behind = "hop1-near.pcap" if self.way == "up" else "hop1-far.pcap"
        else:
            ends = ("client.pcap", "server.pcap")
            behind = "hop2-near.pcap" if self.way == "up" else "hop2-far.pcap"
        sender, receiver = ends if self.way == "up" else ends[::-1]
        middle = {"up": "hop1-router.pcap", "down": "hop2-router.pcap"}[self.way]
        between = {} if self.is_short else {"middle": middle}
        return {"sender": sender, **between, "behind": behind, "receiver": receiver}


def matrix():
    """Every queue, direction, rate, congestion control and IP version, with and without timestamps,
    but not all combinations.
    """
    for way in ("up", "down"):
        yield from (Cell(way, "tail", mbit) for mbit in (1, 5, 10, 50, 100, 500))
        yield from (Cell(way, "tail", mbit, cc) for cc in ("reno", "bbr") for mbit in (5, 10, 50))
        yield from (Cell(way, queue, mbit) for queue in ("codel", "fq_codel") for mbit in (5, 10, 50))
        yield from (Cell(way, queue, 10, ip=6) for queue in ("tail", "codel", "fq_codel"))
        yield from (Cell(way, queue, 10, stamps=False) for queue in ("tail", "codel"))
    yield from (Cell("host", "tail", mbit) for mbit in (1, 10, 50))
    yield from (Cell("host", "tail", 10, ip=6), Cell("host", "tail", 10, "bbr"), Cell("host", "tail", 10, stamps=False))


def quick():
    """One cell of each kind."""
    yield from (Cell("up", "tail", 10), Cell("down", "tail", 50), Cell("host", "tail", 10))
    yield from (Cell("up", "codel", 10), Cell("down", "fq_codel", 10, ip=6), Cell("up", "tail", 5, "bbr", stamps=False))


def scenario(cell):
    """The line: home, access with the bottleneck, and the path beyond; for a fast line only the
    access.
    """
    side = 'rate = "{}mbit", delay = "4ms", queue = "{}"'
    wide = 'rate = "1gbit", delay = "4ms", queue = "fifo limit 10000p"'
    narrow = wide if cell.way == "host" else side.format(cell.mbit, cell.discipline())
    up, down = (narrow, wide) if cell.way == "up" else (wide, narrow)
    hops = [("access", up, down)]
    if not cell.is_short:
        hops = [("home", 'delay = "1ms"', 'delay = "1ms"'), *hops, ("beyond", 'delay = "5ms"', 'delay = "5ms"')]
    text = f'name = "cell"\nabout = "{cell}"\nsource = "bench/trace"\n'
    return text + "".join(f'[[hop]]\nname = "{name}"\nup = {{ {a} }}\ndown = {{ {b} }}\n' for name, a, b in hops)


def ends(role, directory, cell):
    """The command of one end."""
    words = [sys.executable, os.path.join(HERE, "ends.py"), role, directory]
    words += [] if cell.stamps else ["--no-timestamps"]
    if role == "client":
        words += ["--address", ADDRESS[cell.ip], "--seconds", str(cell.seconds), "--way", "down" if cell.way == "down" else "up",
                  "--probe-every", str(cell.probe_every)]
        if cell.way == "host":
            # A single flow keeps little in its own host's queue (TCP small queues).
            # Ten milliseconds of tokens. A timer that is later loses some, and the rate is too low.
            burst = max(3000, cell.mbit * 1250)
            words += ["--flows", "4", "--host-queue", f"tbf rate {cell.mbit}mbit burst {burst} limit {BUFFER[cell.mbit]}"]
    return words


def late_ms(directory):
    """Lateness of the line's packets, 99th percentile: a delay that is in no queue of the line."""
    with gzip.open(os.path.join(directory, "run.json.gz")) as file:
        bins = json.load(file)["instrument"]["line_lateness"]["bins"]
    left = sum(bins.values()) // 100
    for number, count in sorted(((int(number), count) for number, count in bins.items()), reverse=True):
        left -= count
        if left < 0:
            # 32 bins per factor of two.
            octave, step = divmod(number, 32)
            return ((32 + step) << (octave - 1) if octave else number) / 1e6
    return 0.0


def is_spoilt(cell, directory):
    """The machine was too busy to emulate the line."""
    return late_ms(directory) > max(LATE_MS, LATE_SHARE * BUFFER[cell.mbit] * 8 / cell.mbit / 1e3)


def is_made(directory):
    return os.path.exists(os.path.join(directory, "truth.json"))


def make(cell, cache):
    """Runs the cell unless its captures exist, again if the machine was too busy; returns their
    directory.
    """
    directory = os.path.join(cache, str(cell))
    tried = 0
    while not is_made(directory) or (is_spoilt(cell, directory) and tried < ATTEMPTS):
        run(cell, directory)
        tried += 1
    return directory


def run(cell, directory):
    """The lab with traffic and captures."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with open(os.path.join(directory, "line.toml"), "w") as file:
        file.write(scenario(cell))
    far = " ".join(ends("server", directory, cell))
    command = [FATHOM, "lab", "--line", file.name, "--congestion-control", cell.cc, "--capture", directory,
               "-o", os.path.join(directory, "run.json.gz"), "--far", far, "--", *ends("client", directory, cell)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=cell.seconds * 4 + 120)
    if done.returncode:
        raise RuntimeError(f"{cell}: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    kept = set(cell.points().values()) | {"client.pcap", "server.pcap"}
    for name in os.listdir(directory):
        if name.endswith(".pcap") and name not in kept:
            os.remove(os.path.join(directory, name))


def load(directory, name):
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)
