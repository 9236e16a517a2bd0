"""Errors: exceptions with the text and the exit code of the command line."""

import os

import fathom
import pytest

from common import CAPTURE, SCENARIO, program

# Each has the call, and the command with the same request.
CASES = {
    "no such line": (lambda: fathom.simulate("cabel"), ["sim", "cabel"]),
    "no such file": (lambda: fathom.simulate("absent.toml"), ["sim", "absent.toml"]),
    "empty scenario": (lambda: fathom.simulate("empty.toml"), ["sim", "empty.toml"]),
    "not TOML": (lambda: fathom.simulate("text.toml"), ["sim", "text.toml"]),
    "unknown key": (lambda: fathom.simulate("small.toml", hopp=1), ["sim", "small.toml", "--set", "hopp=1"]),
    "unknown item": (
        lambda: fathom.simulate("small.toml", hop={"modm": {"up": {"rate": "1mbit"}}}),
        ["sim", "small.toml", "--set", "hop.modm.up.rate=1mbit"],
    ),
    "no unit": (
        lambda: fathom.simulate("small.toml", hop={"modem": {"up": {"rate": 5}}}),
        ["sim", "small.toml", "--set", "hop.modem.up.rate=5"],
    ),
    "too long": (
        lambda: fathom.simulate("small.toml", load={"duration": "9999999s"}),
        ["sim", "small.toml", "--set", "load.duration=9999999s"],
    ),
    "too fast": (
        lambda: fathom.simulate("small.toml", **{"hop.modem.up.rate": "9tbit"}),
        ["sim", "small.toml", "--set", "hop.modem.up.rate=9tbit"],
    ),
    "no such capture": (lambda: fathom.trace("absent.pcap"), ["trace", "absent.pcap"]),
    "empty capture": (lambda: fathom.trace("empty.pcap"), ["trace", "empty.pcap"]),
    "text as a capture": (lambda: fathom.trace("text.toml"), ["trace", "text.toml"]),
    "no capture": (lambda: fathom.trace(), None),
    "a short header": (lambda: fathom.trace("short.pcap"), ["trace", "short.pcap"]),
    "unlike captures": (lambda: fathom.trace("one.pcap.gz", "absent.pcap"), ["trace", "one.pcap.gz", "absent.pcap"]),
    "no such result": (lambda: fathom.read("absent.json"), ["report", "absent.json"]),
    "empty result": (lambda: fathom.read("empty.json"), ["report", "empty.json"]),
    "text as a result": (lambda: fathom.read("text.toml"), ["report", "text.toml"]),
    "a directory as a result": (lambda: fathom.read("."), ["report", "."]),
    "too few quantities": (lambda: fathom.size("256p"), ["size", "256p"]),
    "not a quantity": (lambda: fathom.size("256p", "10"), ["size", "256p", "10"]),
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("empty.toml", "empty.pcap", "empty.json"):
        (tmp_path / name).touch()
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / "text.toml").write_text("This is a text.\n")
    (tmp_path / "short.pcap").write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00")
    (tmp_path / "one.pcap.gz").write_bytes(CAPTURE.read_bytes())


@pytest.mark.parametrize("name", CASES)
def test_an_error_has_the_text_of_the_command_line(name):
    call, command = CASES[name]
    with pytest.raises(fathom.Error) as raised:
        call()
    text = str(raised.value)
    assert text
    if command is not None:
        ran = program(*command)
        # The command line adds which of its flags to try.
        assert ran.stderr.startswith(f"fathom {command[0]}: {text}"), ran.stderr
        assert raised.value.exit_code == ran.returncode


def test_classes_are_exit_codes():
    with pytest.raises(fathom.InputError) as wrong:
        fathom.trace("absent.pcap")
    assert isinstance(wrong.value, ValueError) and wrong.value.exit_code == 2
    # A file exists, but no process may read it.
    with pytest.raises(fathom.EnvironmentError) as refused:
        fathom.trace("/proc/1/mem" if os.geteuid() else f"/proc/{os.getpid()}/mem")
    assert refused.value.exit_code == 3
    assert issubclass(fathom.InputError, fathom.Error) and issubclass(fathom.EnvironmentError, fathom.Error)


def test_an_unwritable_file(tmp_path, monkeypatch):
    run = fathom.simulate("small.toml")
    for path, message in [
        ("result.foo", "result.foo: unknown extension (known: .json"),
        ("absent/result.json", "absent: no such directory"),
    ]:
        with pytest.raises(fathom.InputError) as raised:
            run.save(path)
        assert str(raised.value).startswith(message)
    # A result that does not fit is saved in the temporary directory.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    os.symlink("/dev/full", "full.json")
    with pytest.raises(fathom.EnvironmentError, match="No space left on device"):
        run.save("full.json")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda run: run.measure("ping p50"), 'invalid word "ping" in a measure'),
        (lambda run: run.series("udp_rtt"), 'unknown metric "udp_rtt" (did you mean "udp_rtt_s"?)'),
        (lambda run: run.observations(direction="left"), "direction: unknown direction"),
        (lambda _: fathom.simulate("dsl", seed=-1), "seed: -1 is out of range (expected 0 to 18446744073709551615)"),
        (lambda _: fathom.simulate("dsl", queue="cak"), 'queue: unknown queue discipline "cak" (did you mean "cake"?'),
        (lambda _: fathom.trace("one.pcap.gz", threads=0), "threads: 0 is out of range (expected 1 to 255)"),
        (lambda _: fathom.size("256p", flows=-1), "flows: -1 is out of range"),
        (lambda _: fathom.size("256p", packet="big"), "packet: "),
        (lambda _: fathom.size("256p", overload="1%", arriving="2mbit"), "arriving conflicts with overload"),
        (lambda _: fathom.score(0), "paths: 0 is out of range (expected 1 to 1000000)"),
        (lambda _: fathom.score(scenario="absent.toml"), "cannot read absent.toml"),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises(fathom.InputError) as raised:
        call(fathom.simulate("small.toml"))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fathom.simulate(3),
        lambda: fathom.simulate("dsl", 2),
        lambda: fathom.simulate("dsl", seed="1"),
        lambda: fathom.simulate("dsl", load={"duration": None}),
        lambda: fathom.simulate("dsl", load=[1]),
        lambda: fathom.simulate("dsl", load={1: 2}),
        lambda: fathom.read(),
        lambda: fathom.trace(b"one", 3),
        lambda: fathom.size(256),
        lambda: fathom.size("256p", overload=[]),
        lambda: fathom.Run(),
        lambda: fathom.Table(),
    ],
)
def test_a_wrong_type_is_a_type_error(call):
    with pytest.raises(TypeError):
        call()
