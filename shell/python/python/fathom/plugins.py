"""What a queue discipline or a congestion control in Python is: see docs/plugins.md.

No base class is needed: a class with these methods is enough.
"""

from __future__ import annotations

from typing import Literal, Protocol

from ._fathom import Ack, Packet, QueueActions, Window


class QueueDiscipline(Protocol):
    """A queue. The simulator keeps the packets, and the discipline decides by their numbers.

    Each packet leaves once: dequeue returns it, or it is dropped. Times are in nanoseconds since the
    start of the run, and never decrease. An optional method ``next_ready(now_ns)`` returns when to
    call dequeue again after None although packets wait; by default that takes an arrival.
    """

    def __init__(self, seed: int) -> None:
        """An empty queue. Random numbers derive from the seed."""

    def enqueue(self, packet: Packet, now_ns: int, queue: QueueActions) -> None:
        """A packet has arrived and is in the queue. It, or another one, may be dropped."""

    def dequeue(self, now_ns: int, queue: QueueActions) -> int | None:
        """The number of the packet that leaves now; None if none may."""


class CongestionControl(Protocol):
    """The congestion control of one connection. Windows are in packets of mss bytes.

    Optional: ``on_event(event, now_ns, window)`` with the events ``start`` (nothing was in flight),
    ``recovered``, ``timed_out`` and ``undone``; ``owns_window = True`` if it also sets the window in
    recovery, as BBR does; ``wants_exact_ecn = True`` if packets are ECN-capable and each mark is
    echoed at once (RFC 8257).
    """

    def __init__(self, mss: int) -> None:
        """The control of a new connection."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An ACK delivered packets: the window may grow, unless ack.recovery forbids it."""

    def reduce(self, cause: Literal["loss", "ecn", "timeout"], now_ns: int, window: Window) -> int:
        """The new slow-start threshold in packets, at least 2. Once per window of data."""
