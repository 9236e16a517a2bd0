"""Sweeps write the same bytes on every executor, also after a kill and a resume."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

import duckdb
import fathom
import pandas
import polars
import pyarrow
import pytest
from fathom import _sweep

from common import SCENARIO, program

RATES = ["1mbit", "1.5mbit", "2mbit", "2.5mbit", "3mbit"]
# 25 cells in 13 files, of which the last one has one row.
REQUEST = {
    "vary": {"hop": {"modem": {"up": {"rate": RATES}}}},
    "seeds": range(1, 6),
    "load": {"duration": "1s"},
    "rows_per_file": 2,
}
FILES, ROWS = 13, 25


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "small.toml"
    path.write_text(SCENARIO)
    return path


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(scenario):
    """What the command line writes."""
    folder = scenario.parent / "command"
    vary = ["--vary", f"hop.modem.up.rate={','.join(RATES)}", "--seeds", "1..5", "--set", "load.duration=1s"]
    ran = program("sim", "sweep", scenario, *vary, "--rows-per-file", 2, "-o", f"{folder}/")
    assert (ran.returncode, ran.stdout) == (0, f"{folder}/: {ROWS} rows\n"), ran.stderr
    files = contents(folder)
    assert len(files) == FILES + 1
    return files


class Progress:
    """Counts the files of a run, and calls `then` after the third."""

    def __init__(self, then=lambda: None):
        self.then, self.rows = then, []

    def __call__(self, rows, of):
        assert of == ROWS
        self.rows.append(rows)
        if len(self.rows) == 3:
            self.then()


def interrupted_then_resumed(scenario, folder, expected, error, first, second, then):
    """Runs until `then` prevents the rest, and resumes. Returns the error."""
    with pytest.raises(error) as raised:
        fathom.sweep(scenario, to=folder, **REQUEST, **first, progress=Progress(then))
    before = {file.name: file.stat() for file in folder.glob("part-*")}
    assert 3 <= len(before) < FILES
    assert all(expected[name] == data for name, data in contents(folder).items())
    progress = Progress()
    fathom.sweep(scenario, to=folder, **REQUEST, **second, progress=progress)
    # Each file was run once, and those that existed were not.
    assert len(progress.rows) == FILES - len(before) and progress.rows[-1] == ROWS
    after = {name: (folder / name).stat() for name in before}
    assert {n: (s.st_ino, s.st_mtime_ns) for n, s in after.items()} == {
        n: (s.st_ino, s.st_mtime_ns) for n, s in before.items()
    }
    assert contents(folder) == expected
    return raised.value


@contextmanager
def processes():
    # The start method that every system has, and in which nothing is inherited.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@contextmanager
def dask_cluster():
    """A scheduler with two workers in processes of their own: kill ends all of them."""
    code = (
        "import sys\n"
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)\n"
        "    print(cluster.scheduler_address, flush=True)\n"
        "    sys.stdin.read()\n"
        "    cluster.close()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            yield process, process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()


@contextmanager
def dask_client(address):
    from distributed import Client

    # How long it waits for a scheduler that has ended.
    client = Client(address, timeout=5)
    try:
        yield client
    finally:
        client.close(timeout=1)


@pytest.fixture(scope="module")
def ray():
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield ray
    ray.shutdown()


@pytest.mark.parametrize(
    "executor", [lambda: ThreadPoolExecutor(2), processes], ids=["ThreadPoolExecutor", "ProcessPoolExecutor"]
)
def test_pools_write_the_files_of_the_command_line(scenario, tmp_path, expected, executor):
    with executor() as pool:
        fathom.sweep(scenario, to=tmp_path / "s", executor=pool, **REQUEST)
    assert contents(tmp_path / "s") == expected


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_threads_write_the_files_of_the_command_line(scenario, tmp_path, expected, threads):
    fathom.sweep(scenario, to=tmp_path / "s", threads=threads, **REQUEST)
    assert contents(tmp_path / "s") == expected


def test_dask_writes_the_files_of_the_command_line(scenario, tmp_path, expected):
    with dask_cluster() as (_, address), dask_client(address) as client:
        fathom.sweep(scenario, to=tmp_path / "s", executor=client, **REQUEST)
    assert contents(tmp_path / "s") == expected


def test_ray_writes_the_files_of_the_command_line(scenario, tmp_path, expected, ray):
    fathom.sweep(scenario, to=tmp_path / "s", executor=ray, **REQUEST)
    assert contents(tmp_path / "s") == expected


def test_ctrl_c_ends_a_sweep(scenario, tmp_path, expected):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupted_then_resumed(
            scenario,
            tmp_path / "s",
            expected,
            KeyboardInterrupt,
            {"threads": 2},
            {"threads": 2},
            lambda: os.kill(os.getpid(), signal.SIGINT),
        )
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_killed_process_of_a_pool_ends_the_sweep(scenario, tmp_path, expected):
    with processes() as pool, processes() as another:
        pid = pool.submit(os.getpid).result()

        def kill():
            os.kill(pid, signal.SIGKILL)
            # Waits until the pool is broken.
            with pytest.raises(BrokenProcessPool):
                pool.submit(signal.pause).result()

        first, second = {"executor": pool, "in_flight": 2}, {"executor": another}
        error = interrupted_then_resumed(
            scenario, tmp_path / "s", expected, fathom.EnvironmentError, first, second, kill
        )
    assert str(error).startswith("the executor failed (BrokenProcessPool: ")
    assert f" of {FILES} files\n  try: the same call, which resumes" in str(error)


def killing_its_worker(marker, always):
    """What a worker runs: the first time, or always, it ends in the middle of the sixth file."""
    run_part = _sweep.run_part

    def part(version, document, file):
        if file == 5 and (always or not os.path.exists(marker)):
            open(marker, "x" if not always else "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return run_part(version, document, file)

    return part


def test_a_killed_dask_worker_loses_nothing(scenario, tmp_path, expected, monkeypatch):
    marker, progress = tmp_path / "killed", Progress()
    monkeypatch.setattr(_sweep, "run_part", killing_its_worker(marker, always=False))
    with dask_cluster() as (_, address), dask_client(address) as client:
        fathom.sweep(scenario, to=tmp_path / "s", executor=client, progress=progress, **REQUEST)
    assert marker.exists() and len(progress.rows) == FILES
    assert contents(tmp_path / "s") == expected


def test_dask_workers_that_are_killed_again_and_again_end_the_sweep(scenario, tmp_path, expected, monkeypatch):
    with dask_cluster() as (_, address), dask_client(address) as client:
        with monkeypatch.context() as patched:
            patched.setattr(_sweep, "run_part", killing_its_worker(tmp_path / "killed", always=True))
            with pytest.raises(fathom.EnvironmentError) as raised:
                fathom.sweep(scenario, to=tmp_path / "s", executor=client, **REQUEST)
        assert str(raised.value).startswith("the executor failed (KilledWorker: ")
        fathom.sweep(scenario, to=tmp_path / "s", executor=client, **REQUEST)
    assert contents(tmp_path / "s") == expected


def test_a_killed_dask_scheduler_ends_the_sweep(scenario, tmp_path, expected):
    with (
        dask_cluster() as (process, address),
        dask_cluster() as (_, restarted),
        dask_client(address) as client,
        dask_client(restarted) as another,
    ):

        def kill():
            process.kill()
            process.wait()

        first, second = {"executor": client, "in_flight": 2}, {"executor": another}
        error = interrupted_then_resumed(
            scenario, tmp_path / "s", expected, fathom.EnvironmentError, first, second, kill
        )
    assert str(error).startswith("the executor failed (")


def test_a_killed_ray_worker_loses_nothing(scenario, tmp_path, expected, monkeypatch, ray):
    marker, progress = tmp_path / "killed", Progress()
    monkeypatch.setattr(_sweep, "run_part", killing_its_worker(marker, always=False))
    fathom.sweep(scenario, to=tmp_path / "s", executor=ray, progress=progress, **REQUEST)
    assert marker.exists() and len(progress.rows) == FILES
    assert contents(tmp_path / "s") == expected


def test_ray_workers_that_are_killed_again_and_again_end_the_sweep(scenario, tmp_path, expected, monkeypatch, ray):
    with monkeypatch.context() as patched:
        patched.setattr(_sweep, "run_part", killing_its_worker(tmp_path / "killed", always=True))
        with pytest.raises(fathom.EnvironmentError) as raised:
            fathom.sweep(scenario, to=tmp_path / "s", executor=ray, **REQUEST)
    assert str(raised.value).startswith("the executor failed (WorkerCrashedError: ")
    fathom.sweep(scenario, to=tmp_path / "s", executor=ray, **REQUEST)
    assert contents(tmp_path / "s") == expected


def test_an_error_of_a_cell_is_the_same_from_each_executor(tmp_path, ray):
    scenario, texts = tmp_path / "lte.toml", []
    scenario.write_text(SCENARIO.replace('rate = "3mbit"', 'cellular = { low = "1mbit", high = "5mbit" }'))
    # Each value is possible, and one combination is not.
    vary = {"hop.modem.up.cellular": {"high": ["5mbit", "2mbit", "6mbit"], "low": ["1mbit", "4mbit"]}}
    with dask_cluster() as (_, address), dask_client(address) as client, processes() as pool:
        for executor in (None, pool, client, ray):
            with pytest.raises(fathom.InputError) as raised:
                fathom.sweep(scenario, to=tmp_path / "s", vary=vary, load={"duration": "1s"}, executor=executor)
            texts.append(str(raised.value))
    assert texts[0].endswith(
        "high: 2Mbit is below low = 4Mbit\n  in the cell hop.modem.up.cellular.high=2mbit hop.modem.up.cellular.low=4mbit"
    )
    assert set(texts) == {texts[0]}


def test_what_a_killed_run_leaves_is_harmless(scenario, tmp_path, expected):
    left = tmp_path / ".part-000000000.parquet.1-0.unfinished"
    left.write_bytes(b"PAR1 half a file")
    done = fathom.sweep(scenario, to=tmp_path, **REQUEST)
    assert pyarrow.table(done).num_rows == pandas.read_parquet(tmp_path).shape[0] == ROWS
    left.unlink()
    assert contents(tmp_path) == expected


def test_a_folder_of_another_sweep_is_refused(scenario, tmp_path, expected):
    fathom.sweep(scenario, to=tmp_path, **REQUEST)
    for change, differences in [
        ({"seeds": [1, 2]}, "cells, seeds"),
        ({"queue": "codel"}, "queue"),
        ({"measures": ["udp_rtt_s max"]}, "measures"),
        ({"rows_per_file": None}, "rows_per_file"),
        ({"load": {"duration": "2s"}}, "set"),
    ]:
        with pytest.raises(fathom.EnvironmentError) as raised:
            fathom.sweep(scenario, to=tmp_path, **{**REQUEST, **change})
        assert f"another sweep (different: {differences})" in str(raised.value)
    assert contents(tmp_path) == expected


def test_libraries_read_the_rows(scenario, tmp_path):
    done = fathom.sweep(scenario, to=tmp_path / "s", measures=["udp_rtt_s max while up"], **REQUEST)
    assert (len(done), done.num_rows, done.path) == (ROWS, ROWS, tmp_path / "s")
    table = pyarrow.table(done)
    assert table.column_names == ["hop.modem.up.rate", "seed", "udp_rtt_s max while up", "digest"]
    assert table.column("seed").to_pylist() == ["1", "2", "3", "4", "5"] * 5
    assert table.column("hop.modem.up.rate").to_pylist() == [rate for rate in RATES for _ in range(5)]
    run = fathom.simulate(scenario, seed=2, hop={"modem": {"up": {"rate": "1mbit"}}}, load={"duration": "1s"})
    row = table.slice(1, 1).to_pylist()[0]
    assert (row["digest"], row["udp_rtt_s max while up"]) == (run.digest, run.measure("udp_rtt_s max while up"))
    files = f"{done.path}/*.parquet"
    rows = table.to_pylist()
    assert polars.scan_parquet(files).collect().to_dicts() == polars.DataFrame(done).to_dicts() == rows
    assert pandas.read_parquet(done.path).to_dict("records") == rows
    assert duckdb.sql(f"from '{files}' order by all").fetchall() == sorted(tuple(row.values()) for row in rows)


def test_a_million_cells_are_few_in_memory(scenario, tmp_path):
    lock = threading.Lock()

    class Instant(Executor):
        """Counts the futures that exist, each with the bytes of a file."""

        live = most = calls = 0

        def submit(self, make, version, document, file):
            future = Future()
            future.set_result(b"")
            with lock:
                self.calls += 1
                self.live += 1
                self.most = max(self.most, self.live)
            weakref.finalize(future, self.ended)
            return future

        def ended(self):
            with lock:
                self.live -= 1

    executor, rates = Instant(), "1mbit..2mbit/1000"
    done = fathom.sweep(
        scenario,
        to=tmp_path,
        vary={"hop.modem.up.rate": rates},
        seeds=range(1000),
        executor=executor,
        in_flight=5,
        rows_per_file=5000,
    )
    assert (done.num_rows, executor.calls) == (1_000_000, 200)
    assert executor.most <= 5 + 1


def test_a_worker_needs_no_files_and_this_version(scenario, tmp_path, monkeypatch):
    trace = SCENARIO.replace('rate = "3mbit"', 'trace = "rates.trace"')
    there = tmp_path / "there"
    there.mkdir()
    (there / "line.toml").write_text(trace)
    (there / "rates.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1000, 4)))
    sent = []

    class Elsewhere(Executor):
        """Runs a call where there are no files."""

        def submit(self, make, *words):
            shutil.rmtree(there, ignore_errors=True)
            sent.append(words)
            future = Future()
            future.set_result(make(*words))
            return future

    monkeypatch.chdir(tmp_path)
    done = fathom.sweep("there/line.toml", vary={}, seeds=[1, 2], to="s", executor=Elsewhere(), load={"duration": "1s"})
    assert pyarrow.table(done).column("digest").to_pylist()[0]
    version, document, file = sent[0]
    assert str(there) not in document
    with pytest.raises(fathom.EnvironmentError, match="the sweep is of 0.0.1"):
        _sweep.run_part("0.0.1", document, file)
    assert json.loads(document)["version"] == version == fathom.__version__


def test_errors_of_an_executor(scenario, tmp_path):
    class Failing(Executor):
        def __init__(self, error):
            self.error = error

        def submit(self, *_):
            raise self.error

    for error, kind, message in [
        (RuntimeError("no space\nfor it"), fathom.EnvironmentError, "the executor failed (RuntimeError: no space): "),
        (fathom.InputError("a cell"), fathom.InputError, "a cell"),
        (KeyboardInterrupt(), KeyboardInterrupt, ""),
    ]:
        with pytest.raises(kind) as raised:
            fathom.sweep(scenario, to=tmp_path, executor=Failing(error), **REQUEST)
        assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vary": {"hop.modem.up.rate": ["1mbit", "fast"]}}, "rate: "),
        ({"vary": {"hop.modem.up.rate": []}}, "vary: hop.modem.up.rate: no values"),
        ({"vary": {"queue": "cak"}}, "unknown queue discipline"),
        ({"seeds": []}, "seeds: no values"),
        ({"measures": ["ping p50"]}, 'invalid word "ping" in a measure'),
        ({"rows_per_file": 0}, "rows_per_file: 0 is out of range"),
        ({"in_flight": 0}, "in_flight: 0 is out of range"),
        (
            {"vary": {"hop.modem.up.rate": "1mbit..2mbit/100000", "hop.modem.down.rate": "1mbit..2mbit/100000"}},
            "more cells than the limit of 100000000",
        ),
    ],
)
def test_a_wrong_sweep_is_refused_before_it_starts(scenario, tmp_path, change, message):
    with pytest.raises(fathom.InputError) as raised:
        fathom.sweep(scenario, to=tmp_path / "s", **{**REQUEST, **change})
    assert message in str(raised.value)
    assert not (tmp_path / "s").exists()


def test_a_wrong_type_is_a_type_error(scenario, tmp_path):
    for change in [{"vary": {"hop.modem.up.rate": 3}}, {"seeds": ["1"]}, {"executor": 3}, {"to": 3}]:
        with pytest.raises(TypeError):
            fathom.sweep(scenario, **{"to": tmp_path, **REQUEST, **change})


def test_neither_dask_nor_ray_is_imported():
    code = "import fathom, sys; assert not {'dask', 'distributed', 'ray', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
