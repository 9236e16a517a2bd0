"""What several tests use: files, and the program with which results are compared."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CAPTURE = ROOT / "testdata/trace/kernel/one.pcap.gz"

# A line of 3 Mbit/s with a buffer of 100 ms and a base round-trip time of 20 ms.
SCENARIO = """
name = "small"
about = "A small one"
source = "this test"
[[hop]]
name = "modem"
up = { rate = "3mbit", delay = "10ms", queue = "fifo limit 37500b" }
down = { rate = "50mbit", delay = "10ms" }
[load]
up_flows = 1
duration = "8s"
"""


def program(*words, cwd=None):
    """Runs `fathom` with these arguments."""
    path = os.environ.get("FATHOM")
    assert path, "FATHOM is not set: run the tests with cargo test -p fathom-cli --test system python"
    return subprocess.run([path, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
