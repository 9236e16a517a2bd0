#!/usr/bin/env python3
"""Asks DuckDB, DataFusion and ClickHouse (chdb) the five questions of docs/fleet.md, about the same
Parquet files of an archive: the same numbers from each, and the time of each.

    questions.py [--sites N] [--days N] [--archive FOLDER]

Without --archive, makes files of made-up sites in the layout and with the columns of `[[archive]]`
(shell/watch/archive). Installs the engines in target/bench-fleet (600 MB, once) unless this Python
has them.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = TOP / "target/bench-fleet"
PACKAGES = ["duckdb", "datafusion", "chdb", "pyarrow"]

try:
    import chdb
    import datafusion
    import duckdb
    import pyarrow
    import pyarrow.parquet
except ImportError:
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    subprocess.run([ENVIRONMENT / "bin/pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(ENVIRONMENT / "bin/python", [ENVIRONMENT / "bin/python", *sys.argv])

HOUR_MS = 3_600_000
# 2026-12-01T00:00:00Z.
BEGIN_MS = 1_796_083_200_000
DOCUMENT = TOP / "docs/fleet.md"


def questions():
    """The titles and the SQL of the document, in the section on Parquet."""
    section = DOCUMENT.read_text().split("## Questions to the archive")[1].split("\n## ")[0]
    found = []
    for part in section.split("\n**")[1:]:
        title, rest = part.split("**", 1)
        if "```sql" in rest:
            found.append((title.strip(". "), rest.split("```sql\n")[1].split("```")[0].strip()))
    return found


def schema():
    text, number = pyarrow.string(), pyarrow.float64()
    return pyarrow.schema([
        ("target", text), ("probe", text), ("at_ms", pyarrow.int64()), ("outcome", text),
        ("rtt_s", number), ("level_bits_per_second", number), ("level_bytes", number),
    ])


def make(folder, sites, days):
    """Sites of three providers. Those of one are bloated until the third of the month. The sites of
    one region are slow at the same time in the evening.
    """
    dice = random.Random(7)
    for number in range(sites):
        name = f"s{number:05}"
        provider, region = f"provider {number % 3}", f"region {number % 5}"
        about = folder / f"sites/site={name}/site.json"
        about.parent.mkdir(parents=True)
        about.write_text(json.dumps({"labels": {"provider": provider, "region": region}, "site": name}))
        rate = 10 ** dice.uniform(6, 8)
        for day in range(days):
            for hour in range(24):
                rows = list(hour_of(dice, number, rate, day, hour))
                path = folder / f"samples/site={name}/date=2026-12-{day + 1:02}/{hour:02}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                table = pyarrow.Table.from_pylist(rows, schema=schema())
                pyarrow.parquet.write_table(table, path, compression="snappy")


def hour_of(dice, number, rate, day, hour):
    at = BEGIN_MS + (day * 24 + hour) * HOUR_MS
    row = lambda probe, ms, **more: {"target": "line", "probe": probe, "at_ms": at + ms, **more}
    evening = number % 5 == 2 and 19 <= hour < 22
    for minute in range(60):
        rtt = 0.02 + (0.08 if evening else 0) + dice.random() * 0.002
        yield {**row("icmp", minute * 60_000, outcome="answered", rtt_s=rtt), "target": "server"}
    if hour % 6 == 3:
        lag = (0.5 if number % 3 == 1 and day < 2 else 0.03) * dice.uniform(0.9, 1.1)
        yield row("lag up", 1, outcome="answered", rtt_s=lag)
        yield row("lag down", 1, outcome="answered", rtt_s=lag / 5)
        yield row("rate up", 1, level_bits_per_second=rate * dice.uniform(0.95, 1.05))
        yield row("buffer up", 1, level_bytes=rate * lag / 8)


def labels(folder):
    """A table of the sites, for all engines: `site.json` of each."""
    rows = []
    for path in sorted(folder.glob("sites/*/site.json")):
        about = json.loads(path.read_text())
        rows.append({"site": about["site"], **about["labels"]})
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, folder / "sites.parquet")


def ask_duckdb(folder, sql):
    with duckdb.connect() as base:
        base.sql(f"CREATE VIEW samples AS FROM read_parquet('{folder}/samples/**/*.parquet', hive_partitioning = true)")
        base.sql(f"CREATE VIEW sites AS FROM read_parquet('{folder}/sites.parquet')")
        return base.sql(sql).fetchall()


def ask_datafusion(folder, sql):
    context = datafusion.SessionContext()
    partitions = [("site", pyarrow.string()), ("date", pyarrow.string())]
    context.register_listing_table("samples", f"{folder}/samples/", partitions, ".parquet", schema())
    context.register_parquet("sites", f"{folder}/sites.parquet")
    rows = []
    for batch in context.sql(sql).collect():
        rows += [tuple(row.values()) for row in batch.to_pylist()]
    return rows


def ask_chdb(folder, sql):
    # Its columns of partitions are on by default.
    views = f"""CREATE VIEW samples AS SELECT * FROM
        file('{folder}/samples/*/*/*.parquet', Parquet);
        CREATE VIEW sites AS SELECT * FROM file('{folder}/sites.parquet', Parquet);"""
    with tempfile.TemporaryDirectory() as store:
        session = chdb.session.Session(store)
        session.query("CREATE DATABASE fleet ENGINE = Atomic; USE fleet;")
        for view in views.split(";")[:-1]:
            session.query(view)
        answer = session.query(sql, "JSONCompactEachRow").bytes().decode()
        session.close()
    return [tuple(json.loads(line)) for line in answer.splitlines()]


ENGINES = {"DuckDB": ask_duckdb, "DataFusion": ask_datafusion, "chdb": ask_chdb}


def same(one, other):
    """Whether two cells agree: numbers to the last digits of a sum in another order."""
    if isinstance(one, str) or isinstance(other, str):
        return str(one) == str(other)
    return math.isclose(float(one), float(other), rel_tol=1e-9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sites", type=int, default=60)
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--archive", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.archive or Path(scratch)
        if not args.archive:
            make(folder, args.sites, args.days)
        labels(folder)
        files = list(folder.glob("samples/*/*/*.parquet"))
        size = sum(path.stat().st_size for path in files)
        print(f"{len(files):,} files, {size / 1e6:.1f} MB")
        print(f"{'question':44} {'rows':>6} " + " ".join(f"{name:>11}" for name in ENGINES))
        differ = 0
        for title, sql in questions():
            answers, times = {}, []
            for name, ask in ENGINES.items():
                begin = time.perf_counter()
                answers[name] = ask(folder, sql)
                times.append(time.perf_counter() - begin)
            first, *others = answers.values()
            agree = all(
                len(first) == len(other)
                and all(same(a, b) for x, y in zip(first, other, strict=True) for a, b in zip(x, y, strict=True))
                for other in others
            )
            differ += not agree
            row = " ".join(f"{seconds:9.2f} s" for seconds in times)
            print(f"{title[:44]:44} {len(first):6} {row}  {'same' if agree else 'DIFFERENT'}")
            if not agree:
                for name, answer in answers.items():
                    print(f"  {name}: {answer[:3]}")
            else:
                print(f"  {first[:2]}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
