"""The truth about the captures of a cell: the line knows its queue, the kernels know their
retransmissions.
"""
import collections
import ipaddress
import os

import cells
import sent

# A queue that dropped something and reached this share of its limit was full.
FULL = 0.97
# Names of the kernel's queue disciplines in `fathom trace`.
MANAGEMENT = {"tail": "tail_drop", "codel": "codel", "fq_codel": "fair_queueing"}


class Truth:
    """The truth about the captures of a cell."""

    def __init__(self, cell, directory):
        self.cell, self.directory = cell, directory
        self.line = cells.load(directory, "truth.json")
        self.kernels = [end for end in (cells.load(directory, f"{who}-end.json") for who in ("client", "server")) if end]
        self.order = [file["file"] for file in self.line["files"]]
        self.missing = sum(file["missing"] for file in self.line["files"])
        self.again = {"up": self.sent_again("client.pcap", "up"), "down": self.sent_again("server.pcap", "down")}
        self.find_queue()
        self.late_ms, self.is_spoilt = cells.late_ms(directory), cells.is_spoilt(cell, directory)

    def sent_again(self, file, direction):
        source = cells.CLIENT if direction == "up" else cells.ADDRESS
        hosts = [ipaddress.ip_address(source[version]).packed for version in (4, 6)]
        path = os.path.join(self.directory, file)
        return sent.again(path, hosts[0]) | sent.again(path, hosts[1])

    def find_queue(self):
        cell = self.cell
        if cell.way == "host":
            held = self.kernels[0]["host_queue"]
            # This one's rate excludes Ethernet headers.
            self.rate = cell.mbit * 1e6 * (1 + cells.OVERHEAD_BYTES / cells.MTU_BYTES)
            self.drops, self.held = held["drops"], held["max_backlog_bytes"]
        else:
            queue = next(q for q in self.line["queues"] if q["rate_bits_per_second"] == cell.mbit * 1e6)
            self.rate, self.between = queue["rate_bits_per_second"], queue["between"]
            self.drops, self.held = queue["dropped_packets"], queue["max_backlog_bytes"]
        full = cell.queue == "tail" and self.drops and self.held > FULL * cells.BUFFER[cell.mbit]
        self.buffer = cells.BUFFER[cell.mbit] if full else None
        self.delay_ms = self.held * 8 / self.rate * 1e3
        self.management = MANAGEMENT[cell.queue] if self.drops else "none_seen"

    def place(self, point):
        if self.cell.way == "host":
            return "in_sender" if point == "sender" else "before_capture"
        return "after_capture" if point in ("sender", "middle") else "before_capture"

    def accepted_places(self, point):
        """An answer that is also correct. At the client's end of the first link, a queue of the
        line cannot be distinguished from one in the client.
        """
        is_first = self.cell.way == "up" and self.cell.is_short and point == "behind"
        return ("round_trip", "in_sender") if is_first else ("round_trip",)

    def again_seen(self, file):
        """Retransmissions that are visible in `file`. No line here reorders within a flow, so a
        segment that begins before the end of another was retransmitted. If it and everything after
        it was lost before the capture point, it looks new.
        """
        path = os.path.join(self.directory, file)
        return len(sent.again(path, b""))

    def again_at(self, file):
        """Retransmissions that reached `file`."""
        lost = collections.Counter()
        for loss in self.line["losses"]:
            queue = next(q for q in self.line["queues"] if (q["hop"], q["direction"]) == (loss["hop"], loss["direction"]))
            last_seen, here = self.order.index(queue["between"][0]), self.order.index(file)
            is_before = last_seen < here if loss["direction"] == "up" else last_seen > here
            lost[loss["direction"]] += is_before and loss["frame"] in self.again[loss["direction"]]
        return sum(len(self.again[way]) - lost[way] for way in ("up", "down"))

    def kernel_classes(self):
        """Retransmissions as classified by the kernels: by SACK, by probe or timer, and those
        reported as spurious by D-SACK.
        """
        total = collections.Counter()
        for end in self.kernels:
            total.update(end["counters"])
        return {"all": total["RetransSegs"], "fast": total["TCPFastRetrans"],
                "timer": total["RetransSegs"] - total["TCPFastRetrans"], "in vain": total["TCPDSACKRecv"]}
