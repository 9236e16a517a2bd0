"""Tables: the same memory in Fathom and in each library, and the same numbers as in files."""

import csv
import json

import duckdb
import fathom
import pandas
import polars
import pyarrow
import pytest

from common import CAPTURE


@pytest.fixture(scope="module")
def run():
    return fathom.simulate("seifried-2011")


def address(table, column):
    """Where the values of the first batch are in memory."""
    return pyarrow.table(table).column(column).chunk(0).buffers()[1].address


def test_nothing_is_copied(run):
    (series,) = run.series("udp_rtt_s")
    there = {
        address(series, "udp_rtt_s"),
        address(run.series("udp_rtt_s")[0], "udp_rtt_s"),
        address(run.observations("udp_rtt_s"), "value"),
        polars.DataFrame(series)["udp_rtt_s"].to_arrow().buffers()[1].address,
        pyarrow.table(series).to_pandas(split_blocks=True)["udp_rtt_s"].to_numpy().ctypes.data,
    }
    assert len(there) == 1
    assert address(series, "at_ns") == address(run.observations("udp_rtt_s"), "at_ns")


def test_a_table_outlives_its_run():
    series = pyarrow.table(fathom.simulate("dsl").series("udp_rtt_s")[0])
    fathom.simulate("cable")
    assert series.column("at_ns").to_pylist() == sorted(series.column("at_ns").to_pylist())
    series.validate(full=True)


def test_each_library_has_the_same_observations(run):
    observed = run.observations()
    arrow = pyarrow.table(observed)
    arrow.validate(full=True)
    assert arrow.num_rows == observed.num_rows == len(observed) == sum(map(len, run.series())) > 10_000
    assert arrow.column_names == observed.column_names
    assert arrow.schema == pyarrow.schema(observed)
    up = "metric = 'udp_rtt_s' and phase = 'up'"
    expected = (600, run.measure("udp_rtt_s min while up"))
    assert duckdb.sql(f"select count(*), min(value) from observed where {up}").fetchall() == [expected]
    frame = polars.DataFrame(observed).filter(polars.col("metric") == "udp_rtt_s", polars.col("phase") == "up")
    assert (frame.height, frame["value"].min()) == expected
    rows = pandas.DataFrame.from_arrow(observed).query("metric == 'udp_rtt_s' and phase == 'up'")
    assert (len(rows), rows["value"].min()) == expected


def test_observations_are_those_of_the_csv_file(run, tmp_path):
    run.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        expected = list(csv.DictReader(file))
    observed = pyarrow.table(run.observations()).to_pylist()
    assert len(observed) == len(expected)
    phases = {"up": "upload", "down": "download"}
    for row, line in zip(observed, expected):
        key = [row[name] for name in ("metric", "direction", "flow", "scope")]
        assert ["" if part is None else str(part) for part in key] == list(line.values())[:4]
        assert phases.get(row["phase"], row["phase"] or "") == line["phase"]
        seconds, nanoseconds = divmod(row["at_ns"], 10**9)
        assert f"{seconds}.{nanoseconds:09}" == line["time_s"]
        assert (row["value"], row["censored"]) == (float(line["value"]), line["censored"] == "1")


def test_series_are_selected_by_their_keys(run):
    assert len(run.series()) > 20
    assert {series.metric for series in run.series("one_way_delay_s")} == {"one_way_delay_s"}
    (up,) = run.series("one_way_delay_s", direction="up")
    assert (up.direction, up.unit, up.flow) == ("up", "s", None)
    (flow,) = run.series("flow_rtt_s", flow=1)
    assert flow.flow == 1 and flow.definition
    scoped = run.series("backlog_bytes", direction="up", scope="cable-modem")
    assert [(series.scope, series.direction) for series in scoped] == [("cable-modem", "up")]
    assert run.series("one_way_delay_s", flow=9) == []
    assert run.observations("one_way_delay_s", direction="up").num_rows == len(up)
    empty = pyarrow.table(run.observations("icmp_rtt_s", flow=9))
    assert (empty.num_rows, empty.column_names) == (0, run.observations().column_names)


def test_a_series_without_observations(run, tmp_path):
    document = json.loads(run.to_json())
    empty = document["series"][0]
    empty.update(at_ns=[], values=[], censored=[])
    (tmp_path / "empty.json").write_text(json.dumps(document))
    read = fathom.read(tmp_path / "empty.json")
    (series,) = read.series(empty["metric"])
    assert (len(series), pyarrow.table(series).num_rows) == (0, 0)
    assert read.observations().num_rows == run.observations().num_rows - len(run.series(empty["metric"])[0])


def test_a_lost_probe_is_censored(run):
    (series,) = run.series("udp_rtt_s")
    lost = pyarrow.table(series).column("censored").to_pylist().count(True)
    assert lost == round(run.measure("udp_rtt_s lost") * len(series)) > 0


def test_phases(run):
    rows = pyarrow.table(run.phases()).to_pylist()
    assert [row["phase"] for row in rows] == ["idle", "up", "drain"]
    for row, phase in zip(rows, run.metrics["phases"]):
        assert (row["start_s"], row["end"]) == (phase["start_s"], phase["end"])
        assert row["latency_p95_s"] == phase["latency"]["p95_s"]
        assert row["responsiveness_rpm"] == phase.get("responsiveness_rpm")


def test_flows_of_a_capture(run):
    flows = pyarrow.table(fathom.trace(CAPTURE).flows()).to_pylist()
    assert flows and all(row["payload_bytes"] > 0 for row in flows)
    largest = max(flows, key=lambda row: row["payload_bytes"])
    assert 0 < largest["rtt_min_s"] <= largest["rtt_p50_s"] <= largest["rtt_max_s"]
    assert run.flows().num_rows == 0
