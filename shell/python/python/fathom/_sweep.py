"""Sweeps: runs the files that a folder lacks on an executor, and writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from ._fathom import VERSION, _sweep_part, _SweepFolder
from .errors import EnvironmentError, Error, InputError

if TYPE_CHECKING:
    from ._fathom import _Change, _Path

    _Values: TypeAlias = str | Iterable[str | int | float | bool] | Mapping[str, "_Values"]

# Files in the executor for each of its workers. With two, a worker has the next one when it is done.
_AHEAD = 2
# Workers at least: a cluster may begin with none and add them when there is work.
_LEAST_WORKERS = 4


class Sweep:
    """A finished sweep: a folder of Parquet files, with one row for each cell.

    Libraries read the files in place: ``polars.scan_parquet(f"{s.path}/*.parquet")``,
    ``pandas.read_parquet(s.path)``, ``duckdb.sql(f"from '{s.path}/*.parquet'")``. With PyArrow
    installed, a Sweep is also a table: ``pyarrow.table(s)``, ``polars.DataFrame(s)``.
    """

    def __init__(self, path: Path, num_rows: int) -> None:
        self.path = path
        self.num_rows = num_rows

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        return f"<fathom.Sweep: {self.num_rows} rows in {self.path}>"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows in the order of the cells, read file by file."""
        import pyarrow
        from pyarrow import parquet

        files = sorted(self.path.glob("part-*.parquet"))
        schema = parquet.read_schema(files[0])
        batches = (batch for file in files for batch in parquet.ParquetFile(file).iter_batches())
        stream = pyarrow.RecordBatchReader.from_batches(schema, batches)
        return stream.__arrow_c_stream__(requested_schema)


def sweep(
    scenario: _Path,
    *,
    vary: Mapping[str, _Values],
    to: _Path,
    seeds: int | Iterable[int] = 1,
    measures: Iterable[str] | None = None,
    queue: str | None = None,
    executor: Any = None,
    threads: int | None = None,
    in_flight: int | None = None,
    rows_per_file: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    **changes: _Change,
) -> Sweep:
    """Simulates every combination of values and seeds, as ``fathom sim sweep -o FOLDER/`` does.

    ``vary`` has the values of each key: an iterable, or a text such as ``1mbit..10mbit/10``. The key
    ``queue`` is the queue of every bottleneck. ``measures`` are the columns, such as
    ``udp_rtt_s p95 while up``. ``queue`` and ``changes`` are those of ``simulate``.

    ``to`` is a folder, which gets Parquet files of ``rows_per_file`` rows. The same call resumes an
    interrupted sweep: it runs the missing files. The bytes of the files do not depend on the executor.

    ``executor`` runs the cells: by default ``threads`` threads of this process, one per CPU; or any
    ``concurrent.futures.Executor``, a Dask ``Client``, or the module ``ray`` after ``ray.init()``.
    Its workers need the same version of fathom, and no files. At most ``in_flight`` files are in the
    executor or in memory, by default two per worker. After each file, ``progress`` is called with the
    number of finished rows and the total.
    """
    if in_flight is not None and in_flight < 1:
        raise InputError(f"in_flight: {in_flight} is out of range (expected 1 or more)")
    folder = _SweepFolder(
        os.fspath(scenario),
        dict(vary),
        [seeds] if isinstance(seeds, int) else list(seeds),
        None if measures is None else list(measures),
        os.fspath(to),
        rows_per_file,
        queue,
        changes,
    )
    if executor is None:
        pool = ThreadPoolExecutor(os.cpu_count() if threads is None else threads, thread_name_prefix="fathom")
        make, words = folder.part, ()
    else:
        pool, make, words = executor, run_part, (VERSION, folder.document)
    submit, workers = _engine(pool)
    limit = in_flight or _AHEAD * max(workers, _LEAST_WORKERS)
    try:
        _run(folder, lambda file: submit(make, *words, file), limit, progress)
    finally:
        if executor is None:
            folder.cancel()
            pool.shutdown(cancel_futures=True)
    return Sweep(Path(to), folder.cells)


def run_part(version: str, document: str, file: int) -> bytes | None:
    """Makes one file of a sweep. This is what an executor calls."""
    if version != VERSION:
        raise EnvironmentError(f"a worker has Fathom {VERSION}, and the sweep is of {version}")
    return _sweep_part(document, file)


def _engine(executor: Any) -> tuple[Callable[..., Future[bytes | None]], int]:
    """How to submit a call, and the number of workers. Dask and Ray are not imported."""
    if isinstance(executor, Executor):
        return executor.submit, getattr(executor, "_max_workers", 0)
    if hasattr(executor, "nthreads"):
        return _dask_submit(executor), sum(executor.nthreads().values())
    if isinstance(executor, ModuleType) and executor.__name__ == "ray":
        if not executor.is_initialized():
            raise InputError("ray is not initialized\n  try: ray.init()")
        return _ray_submit(executor), int(executor.cluster_resources().get("CPU", 0))
    kind = type(executor).__name__
    raise TypeError(f"executor: expected a concurrent.futures.Executor, a Dask Client or the module ray, not {kind}")


def _dask_submit(client: Any) -> Callable[..., Future[bytes | None]]:
    # Not client.get_executor(): it reads the state of a task after its result. If the worker dies in
    # between, the state is that of a lost task, and the result is taken for an exception.
    def submit(make: Callable[..., bytes | None], *words: object) -> Future[bytes | None]:
        # Dask would keep and share results of pure functions.
        task = client.submit(make, *words, pure=False)
        future: Future[bytes | None] = Future()
        future.add_done_callback(lambda it: task.cancel() if it.cancelled() else None)

        def finish(task: Any) -> None:
            # Also the CancelledError of asyncio, which is not an Exception. The sweep may have cancelled
            # the future meanwhile.
            with suppress(InvalidStateError):
                try:
                    future.set_result(task.result())
                except BaseException as error:
                    future.set_exception(error)

        task.add_done_callback(finish)
        return future

    return submit


def _ray_submit(ray: ModuleType) -> Callable[..., Future[bytes | None]]:
    def submit(make: Callable[..., bytes | None], *words: object) -> Future[bytes | None]:
        task = ray.remote(make).remote(*words)
        future = task.future()
        future.add_done_callback(lambda it: ray.cancel(task) if it.cancelled() else None)
        return future

    return submit


def _run(
    folder: _SweepFolder,
    submit: Callable[[int], Future[bytes | None]],
    in_flight: int,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Runs the missing files. Only this process writes, and only what is complete."""
    pending: dict[Future[bytes | None], int] = {}
    file = folder.next_missing(0)
    _, rows = folder.present()
    try:
        while pending or file is not None:
            while file is not None and len(pending) < in_flight:
                with _described(folder):
                    pending[submit(file)] = file
                file = folder.next_missing(file + 1)
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                done = pending.pop(future)
                with _described(folder):
                    part = future.result()
                folder.write(done, part)
                rows += folder.rows_of(done)
                if progress is not None:
                    progress(rows, folder.cells)
    finally:
        for future in pending:
            future.cancel()


@contextmanager
def _described(folder: _SweepFolder) -> Iterator[None]:
    """Raises errors of an engine as EnvironmentError. Errors of a cell are raised unchanged."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except Error as error:
        # Ray adds its own trace, and has the error as the cause.
        raise getattr(error, "cause", error) from None
    # Also the CancelledError of asyncio, which is not an Exception.
    except BaseException as error:
        reason = ": ".join(filter(None, [type(error).__name__, str(error).strip().partition("\n")[0]]))
        files, _ = folder.present()
        raise EnvironmentError(
            f"the executor failed ({reason}): {folder.path} has {files} of {folder.files} files\n"
            "  try: the same call, which resumes"
        ) from error
