"""Queue disciplines and congestion controls that are written in Python."""

import random
from collections import deque

import fathom
import pytest

from common import SCENARIO


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


class Fifo:
    """The queue `fifo limit 37500b`."""

    LIMIT_BYTES = 37_500

    def __init__(self, seed):
        self.waiting, self.bytes = deque(), 0

    def enqueue(self, packet, now_ns, queue):
        if self.bytes + packet.bytes > self.LIMIT_BYTES:
            queue.drop(packet.number, "overlimit")
            return
        self.waiting.append((packet.number, packet.bytes))
        self.bytes += packet.bytes

    def dequeue(self, now_ns, queue):
        if not self.waiting:
            return None
        number, size = self.waiting.popleft()
        self.bytes -= size
        return number


class Reno:
    """Congestion avoidance and slow start of RFC 5681."""

    def __init__(self, mss):
        self.counted = 0

    def on_ack(self, ack, window):
        if ack.recovery not in ("open", "disorder", "loss") or not ack.is_cwnd_limited:
            return
        if window.in_slow_start:
            window.cwnd += ack.newly_acked
            return
        self.counted += ack.newly_acked
        if self.counted >= window.cwnd:
            self.counted -= window.cwnd
            window.cwnd += 1

    def reduce(self, cause, now_ns, window):
        return max(2, window.cwnd // 2)


def test_a_fifo_in_python_is_the_fifo_in_rust(scenario):
    # The link is the first hop by its name, by its number, and the bottleneck.
    built_in = fathom.simulate(scenario)
    for where in [
        {"hop": {"modem": {"up": {"queue": Fifo}}}},
        {"hop.0.up.queue": Fifo},
    ]:
        assert fathom.simulate(scenario, **where).digest == built_in.digest
    both = fathom.simulate(scenario, queue="fifo limit 37500b")
    assert fathom.simulate(scenario, queue=Fifo).digest == both.digest


def test_a_reno_in_python_fills_the_buffer(scenario):
    fathom.check_queue(Fifo)
    fathom.check_congestion_control(Reno)
    run = fathom.simulate(scenario, congestion_control=Reno)
    kernel = fathom.simulate(scenario, load={"congestion_control": "reno"})
    goodput = "goodput_bits_per_second up mean from 3s"
    assert run.health == "bloated"
    assert run.measure(goodput) == pytest.approx(kernel.measure(goodput), rel=0.05)
    assert fathom.simulate(scenario, load={"congestion_control": Reno}).digest == run.digest


def test_code_can_drop_mark_and_wait(scenario):
    class Lossy(Fifo):
        """Drops or marks 5 % of the packets, and holds each for 10 ms."""

        HOLD_NS = 10_000_000

        def __init__(self, seed):
            super().__init__(seed)
            self.random, self.arrived = random.Random(seed), {}

        def enqueue(self, packet, now_ns, queue):
            super().enqueue(packet, now_ns, queue)
            self.arrived[packet.number] = now_ns
            if self.waiting and self.waiting[-1][0] == packet.number and self.random.random() < 0.05:
                if packet.ecn != "not_ect":
                    queue.mark(packet.number)
                else:
                    self.bytes -= self.waiting.pop()[1]
                    queue.drop(packet.number)

        def next_ready(self, now_ns):
            return max(now_ns, self.arrived[self.waiting[0][0]] + self.HOLD_NS) if self.waiting else None

        def dequeue(self, now_ns, queue):
            return super().dequeue(now_ns, queue) if self.waiting and self.next_ready(now_ns) <= now_ns else None

    fathom.check_queue(Lossy)
    run = fathom.simulate(scenario, queue=Lossy)
    assert run.measure("queue_drops_packets up last") > 10
    # 10 ms each way, and those of the line.
    assert run.measure("udp_rtt_s min") == pytest.approx(0.04, abs=0.002)


def test_the_first_exception_ends_the_simulation(scenario):
    class Broken(Fifo):
        def enqueue(self, packet, now_ns, queue):
            if packet.number == 100:
                raise KeyError(f"packet {packet.number}")
            super().enqueue(packet, now_ns, queue)

    with pytest.raises(KeyError, match="packet 100"):
        fathom.simulate(scenario, queue=Broken)

    def no_queue(seed):
        raise RuntimeError("no queue today")

    with pytest.raises(RuntimeError, match="no queue today"):
        fathom.simulate(scenario, queue=no_queue)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda self, queue: queue.drop(999), "packet 999 was dropped, but is not in the queue"),
        (lambda self, queue: queue.mark(self.waiting[0][0]), "is not ECN-capable: drop it"),
        (lambda self, queue: queue.drop(0, "bad"), 'unknown "bad" (expected aqm, overlimit or expired)'),
    ],
)
def test_a_wrong_action_is_an_error(scenario, change, message):
    class Wrong(Fifo):
        def dequeue(self, now_ns, queue):
            if self.waiting:
                change(self, queue)
            return super().dequeue(now_ns, queue)

    with pytest.raises(fathom.InputError) as error:
        fathom.simulate(scenario, queue=Wrong)
    assert message in str(error.value)


def test_rules_that_code_breaks_are_named(scenario):
    class Hoarder(Fifo):
        def dequeue(self, now_ns, queue):
            return None

    class Busy(Hoarder):
        def next_ready(self, now_ns):
            return now_ns

    class Twice(Fifo):
        def dequeue(self, now_ns, queue):
            return self.waiting[0][0] if self.waiting else None

    class Timid(Reno):
        def on_ack(self, ack, window):
            window.cwnd = 2

    class Zero(Reno):
        def on_ack(self, ack, window):
            window.cwnd = 0

    class Deep(Reno):
        def reduce(self, cause, now_ns, window):
            return 1

    for queue, message in [
        (Hoarder, "packets wait, and next_ready is not later"),
        (Busy, "next_ready is .* ns .expected None or a later time."),
        (Twice, "packet 0 was dequeued, but is not in the queue"),
    ]:
        with pytest.raises(fathom.InputError, match=message):
            fathom.check_queue(queue)
    for control, message in [
        (Timid, r"a full buffer: goodput .* % is out of range \(expected at least 50 %\)"),
        (Zero, r"cwnd: 0 is out of range \(expected at least 1\)"),
        (Deep, r"reduce: 1 is out of range \(expected at least 2 packets\)"),
    ]:
        with pytest.raises(fathom.InputError, match=message):
            fathom.check_congestion_control(control)
    with pytest.raises(fathom.InputError, match='unknown key "hop.modem.up.rate" .expected a queue or a congestion control.'):
        fathom.simulate(scenario, hop={"modem": {"up": {"rate": Reno}}})
    with pytest.raises(fathom.InputError, match="workload.none.congestion_control"):
        fathom.simulate(scenario, **{"workload.none.congestion_control": Reno})
    with pytest.raises(TypeError, match="queue: expected a str or a class, not int"):
        fathom.simulate(scenario, queue=7)
