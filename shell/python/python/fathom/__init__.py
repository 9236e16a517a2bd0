"""Simulates lines with bufferbloat, analyzes captures, and reads results.

>>> import fathom
>>> run = fathom.simulate("gettys-2010")
>>> run.measure("udp_rtt_s max while up") > 1
True

simulate, read and trace return a Run: its findings as data, its verdict, and its observations as
Arrow tables, which pandas, Polars and DuckDB read without a copy. size calculates buffers, rates and
delays from each other. score compares the diagnosis with known truths. sweep simulates a scenario
over many parameters and seeds, on threads, processes or a cluster.

A unit is the last word of a name, and SI. Each function releases the global interpreter lock, and
Ctrl-C ends it. A failed call raises a subclass of Error with the message of the command line.
"""

from ._fathom import VERSION as __version__
from ._fathom import (
    Ack,
    Packet,
    QueueActions,
    Run,
    Score,
    Series,
    Table,
    Window,
    check_congestion_control,
    check_queue,
    read,
    score,
    simulate,
    size,
    trace,
)
from ._sweep import Sweep, sweep
from .errors import EnvironmentError, Error, InputError, PartialResultWarning
from .plugins import CongestionControl, QueueDiscipline

__all__ = [
    "Ack",
    "CongestionControl",
    "EnvironmentError",
    "Error",
    "InputError",
    "Packet",
    "PartialResultWarning",
    "QueueActions",
    "QueueDiscipline",
    "Run",
    "Score",
    "Series",
    "Sweep",
    "Table",
    "Window",
    "__version__",
    "check_congestion_control",
    "check_queue",
    "read",
    "score",
    "simulate",
    "size",
    "sweep",
    "trace",
]
