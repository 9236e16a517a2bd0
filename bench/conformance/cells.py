"""Cells: their notation in the table of recordings, and the `tc` parameters of each queue
discipline name.
"""
import dataclasses
import re

# `red` and `ared`: thresholds of 20 and 60 packets, their average over some 55 (tc-red(8) derives the weight from the burst).
RED = "red limit 1000000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02 bandwidth {rate}"
NAMES = {
    "sfq": "sfq perturb 10",
    "red": RED,
    "redecn": RED + " ecn",
    "ared": "red limit 1000000 min 30000 max 90000 avpkt 1000 burst 55 adaptive bandwidth {rate}",
    "codelecn": "codel ecn",
    "pieecn": "pie ecn",
    "fqpieecn": "fq_pie ecn",
    "cake": "cake bandwidth {rate} besteffort",
}


@dataclasses.dataclass(frozen=True)
class Cell:
    rate: str
    rtt: str
    q: str
    cc: str
    n: int = 1
    ecn: int = 0

    def tc(self):
        """The queue discipline in tc(8) syntax."""
        sized = re.fullmatch(r"([bp]fifo)(\d+)", self.q)
        text = f"{sized[1]} limit {sized[2]}" if sized else NAMES.get(self.q, self.q.replace("_of_", " "))
        return text.format(rate=self.rate)

    def fathom(self, hz):
        """The queue discipline in scenario syntax, with Linux's variants. `hz` is the tick rate of
        the recording kernel.
        """
        tick = 1000 // hz
        # The kernel's timer of 15 ms in ticks, and one more so as never to be early.
        tupdate = f"tupdate {(-(-15 // tick) + 1) * tick}ms"
        pie = f"variant linux {tupdate}"
        red = f"red variant linux limit 1000000b min 30000b max 90000b avpkt 1000b burst 55 bandwidth {self.rate}"
        names = {
            "codel": "codel variant linux",
            "codelecn": "codel variant linux ecn",
            "fq_codel": "fq_codel variant linux",
            "pie": f"pie {pie}",
            "pieecn": f"pie {pie} ecn",
            "fq_pie": f"fq_pie {tupdate}",
            "fqpieecn": f"fq_pie {tupdate} ecn",
            "red": f"{red} probability 0.02",
            "redecn": f"{red} probability 0.02 ecn",
            "ared": f"{red} adaptive",
            "sfq": "sfq perturb 10s",
            "cake": f"cake variant linux bandwidth {self.rate} besteffort",
        }
        sized = re.fullmatch(r"([bp])fifo(\d+)", self.q)
        return f"fifo limit {sized[2]}{sized[1]}" if sized else names.get(self.q, self.q)

    def __str__(self):
        return f"rate={self.rate} rtt={self.rtt} q={self.q} cc={self.cc} n={self.n} ecn={self.ecn}"


@dataclasses.dataclass(frozen=True)
class Row:
    """A recorded cell. Pings in ms, goodput in Mbit/s. Drops and marks cover the whole run, the
    rest its measured part.
    """

    cell: Cell
    hz: int
    goodput: float
    retr: int
    drops: int
    marks: int
    pings: dict

    def __str__(self):
        pings = " ".join(f"{name}={value:.2f}" for name, value in self.pings.items() if name != "n")
        return (
            f"GT {self.cell} goodput={self.goodput:.4g} retr={self.retr} drops={self.drops} marks={self.marks} "
            f"ping {pings} n={self.pings['n']}"
        )


def read(path):
    """The rows of a table. A line `# HZ=n` gives the tick rate of the rows below it."""
    rows, hz = [], 100
    for line in open(path):
        hz = int(m[1]) if (m := re.match(r"# HZ=(\d+)", line)) else hz
        if line.startswith("GT "):
            rows.append(row(line, hz))
    return rows


def row(line, hz):
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    whole = lambda name: int(words[name] or 0)
    cell = Cell(words["rate"], words["rtt"], words["q"], words["cc"], whole("n"), whole("ecn"))
    # `n=` occurs twice, for flows and then for pings.
    cell = dataclasses.replace(cell, n=int(re.search(r" n=(\d+)", line)[1]))
    pings = {name: float(words[name]) for name in ("p0", "p50", "p95", "p99", "p100")} | {"n": whole("n")}
    return Row(cell, hz, float(words["goodput"]), whole("retr"), whole("drops"), whole("marks"), pings)
