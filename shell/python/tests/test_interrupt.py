"""Signals and threads during a call. Each call reads a pipe, so it has begun when the pipe is open."""

import os
import signal
import threading
from contextlib import contextmanager

import fathom
import pytest

from common import SCENARIO

# Ten minutes at 1 Gbit/s: 50 million packets, of which the tests simulate few.
LONG = {
    "load.duration": "10min",
    "hop.modem.up.rate": "1gbit",
    "hop.modem.up.queue": "fifo limit 100ms",
}


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C is an exception, also if the parent of this process ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def reader_of(pipe, then):
    """Calls `then` with the open pipe, in a thread, once another thread reads it."""
    os.mkfifo(pipe)

    def write():
        with open(pipe, "w") as file:
            then(file)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def interrupt():
    # If the call kept the interpreter lock, this thread would not run, and the test would not end.
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_a_simulation(tmp_path):
    pipe = tmp_path / "scenario.toml"

    def scenario(file):
        file.write(SCENARIO)
        file.close()
        interrupt()

    with reader_of(pipe, scenario), pytest.raises(KeyboardInterrupt):
        fathom.simulate(pipe, **LONG)


def test_ctrl_c_ends_a_wait_for_a_capture(tmp_path):
    pipe, ended = tmp_path / "capture.pcap", threading.Event()

    def nothing(_):
        interrupt()
        # The pipe stays open, so that the call waits for it.
        assert ended.wait(timeout=60)

    with reader_of(pipe, nothing):
        with pytest.raises(KeyboardInterrupt):
            fathom.trace(pipe)
        ended.set()


def test_ctrl_c_ends_a_score():
    # A thread that interrupts this one as soon as the lock is free.
    with pytest.raises(KeyboardInterrupt):
        thread = threading.Thread(target=interrupt)
        thread.start()
        fathom.score(300)


def test_a_handler_without_an_exception_ends_nothing(tmp_path):
    pipe, handled = tmp_path / "scenario.toml", threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())

    def scenario(file):
        os.kill(os.getpid(), signal.SIGUSR1)
        # Only the waiting call can run the handler.
        assert handled.wait(timeout=60)
        file.write(SCENARIO)

    try:
        with reader_of(pipe, scenario):
            run = fathom.simulate(pipe)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert handled.is_set() and run.health == "bloated"


def test_threads_simulate_at_the_same_time(tmp_path):
    # The second simulation ends while the first one waits for its scenario.
    pipe, digests = tmp_path / "scenario.toml", []

    def scenario(file):
        digests.append(fathom.simulate("dsl").digest)
        file.write(SCENARIO)

    with reader_of(pipe, scenario):
        run = fathom.simulate(pipe)
    assert digests == [fathom.simulate("dsl").digest] and run.packets > 0
