"""Results: the same as those of the command line."""

import json
import re

import fathom
import pyarrow
import pytest

from common import CAPTURE, ROOT, SCENARIO, program


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    path = tmp_path_factory.mktemp("scenario") / "small.toml"
    path.write_text(SCENARIO)
    return path


def without_start(text):
    """A document without the time at which it was made."""
    return re.sub(r'"started":"[^"]*"', '"started":""', text)


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], {}),
        (["--seed", "7"], {"seed": 7}),
        (["--queue", "fq_codel target 10ms"], {"queue": "fq_codel target 10ms"}),
        (["--set", "load.up_flows=3"], {"load": {"up_flows": 3}}),
        (["--set", "hop.modem.up.rate=6mbit"], {"hop.modem.up.rate": "6mbit"}),
        (["--set", "hop.0.up.loss=1%"], {"hop": {"0": {"up": {"loss": "1%"}}}}),
    ],
)
def test_a_simulation_is_that_of_the_command_line(scenario, flags, options):
    run = fathom.simulate(scenario, **options)
    ran = program("sim", scenario, "--json", *flags)
    assert without_start(run.to_json() + "\n") == without_start(ran.stdout)
    assert run.exit_code == ran.returncode
    assert f"({run.packets} packets; digest {run.digest})" in ran.stderr


def test_a_built_in_line_and_a_gallery_scenario():
    for name in ("dsl", "s05-xp-1-connections"):
        ran = program("sim", name, "--json")
        assert without_start(fathom.simulate(name).to_json() + "\n") == without_start(ran.stdout)


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_a_capture_is_that_of_the_command_line(threads):
    run = fathom.trace(CAPTURE, threads=threads)
    ran = program("trace", CAPTURE, "--json")
    assert run.to_json() + "\n" == ran.stdout
    assert run.exit_code == ran.returncode
    assert (run.digest, run.packets) == (None, None)


def test_captures_of_one_path():
    ends = [ROOT / f"testdata/trace/lab/up-{end}.pcap.gz" for end in ("sender", "receiver")]
    ran = program("trace", *ends, "--one-clock", "--json")
    assert fathom.trace(*ends, one_clock=True).to_json() + "\n" == ran.stdout


@pytest.mark.parametrize(
    "name",
    ["testdata/results/v0.2.0-test.json.gz", "testdata/import/rrul.flent.gz", "testdata/import/irtt-load.json.gz"],
)
def test_a_result_file_is_that_of_the_command_line(name):
    run = fathom.read(ROOT / name)
    ran = program("report", ROOT / name, "--json")
    assert run.to_json() + "\n" == ran.stdout
    assert run.exit_code == ran.returncode


def test_a_saved_result_is_read_again(scenario, tmp_path):
    run = fathom.simulate(scenario)
    saved = tmp_path / "small.json.gz"
    run.save(saved)
    assert fathom.read(saved).to_json() == run.to_json()
    for name in ("small.html", "small.svg", "small.csv", "small.flent.gz"):
        run.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_findings_are_data(scenario):
    run = fathom.simulate(scenario)
    document = json.loads(run.to_json())
    assert (run.findings, run.advice, run.metrics) == (
        document["findings"],
        document["advice"],
        document["summary"],
    )
    assert run.verdict == document["verdict"]["headline"]
    assert run.health == document["verdict"]["health"] == "bloated"
    assert (run.command, run.started, run.tool_version) == ("sim", document["started"], fathom.__version__)
    bloat = next(finding for finding in run.findings if finding["kind"] == "bufferbloat")
    assert bloat["direction"] == "up" and bloat["certainty"] == "certain"
    # 100 ms of buffer, and 20 ms of path.
    assert 0.115 < run.measure("udp_rtt_s max while up") < 0.130
    assert run.measure("udp_rtt_s p50 while down") is None
    assert run.verdict in repr(run) and str(run).startswith("BAD")


def test_claims_are_those_of_an_unchanged_scenario():
    claims = pyarrow.table(fathom.simulate("seifried-2011").claims()).to_pylist()
    assert [claim["published"] for claim in claims] == ["50 ms", "more than 1,000 ms", "about 15 s"]
    assert all(claim["holds"] for claim in claims)
    assert [claim["expected_min"] for claim in claims] == [0.048, 1.0, 7.0]
    assert fathom.simulate("seifried-2011", queue="fq_codel").claims().num_rows == 0
    assert fathom.trace(CAPTURE).claims().num_rows == 0


def test_a_truncated_capture_has_a_partial_result(tmp_path):
    cut = tmp_path / "cut.pcap.gz"
    cut.write_bytes(CAPTURE.read_bytes()[:50_000])
    with pytest.warns(fathom.PartialResultWarning, match="partial result: .*cut.pcap.gz") as warned:
        run = fathom.trace(cut)
    ran = program("trace", cut, "--json")
    assert run.to_json() + "\n" == ran.stdout
    assert (run.exit_code, ran.returncode) == (3, 3)
    message = str(warned[0].message)
    assert message == f"partial result: {run.partial}"
    assert ran.stderr.startswith(f"fathom trace: {message}")


def test_sizes_are_those_of_the_command_line():
    for flags, arguments, options in [
        (["375kB", "10mbit"], ["375kB", "10mbit"], {}),
        (["100ms", "1gbit", "--flows", "100"], ["100ms", "1gbit"], {"flows": 100}),
        (["1gbit", "4mb", "--overload", "1%"], ["1gbit", "4mb"], {"overload": "1%"}),
        (["1gbit", "4mb", "--overload", "1%"], ["1gbit", "4mb"], {"overload": 0.01}),
        (["256p", "2mbit", "--atm"], ["256p", "2mbit"], {"atm": True}),
        ([], [], {}),
    ]:
        ran = program("size", "--json", *flags)
        assert fathom.size(*arguments, **options) == json.loads(ran.stdout)["size"]
    assert fathom.size("375kB", "10mbit")["delay_s"] == 0.3
    with pytest.warns(UserWarning, match="10bps: bps means bytes per second"):
        fathom.size("10bps", "1s")


def test_a_score_of_a_scenario_file(scenario):
    score = fathom.score(scenario=scenario)
    claims = pyarrow.table(score.claims()).to_pylist()
    assert score.paths == 1 and len(claims) == len(json.loads(score.to_json())[0]["claims"])
    bloat = next(claim for claim in claims if claim["claim"] == "bloat")
    assert bloat["bloated"] and bloat["possible"] and bloat["made"] and bloat["right"]
    made = [claim for claim in claims if claim["made"]]
    assert len(made) >= 4 and all(claim["detail"] for claim in made)
    assert "healthy lines called bloated: 0 of" in str(score)


def test_a_score_of_drawn_paths():
    # These two have slow lines.
    score = fathom.score(2, seed=25)
    paths = set(pyarrow.table(score.claims()).column("path").to_pylist())
    assert score.paths == 2 and paths == {"25:0", "25:1"}
