#!/usr/bin/env python3
"""Engines of a fleet with 10,000 sites and more, one of them killed during writes.

    engine.py [--quick] [--only agents,thanos,prometheus,victoria] [--sites N] [--most N] [--seed N]

Twenty agents (agents.py), each behind an emulated line that it tests, are recorded while they send
through a gateway. bench/fleet/replay sends what they sent as that of N sites with other labels (30
providers whose sizes follow Zipf's law, 8 plans of each, 50 regions): three nodes of Thanos Receive
with replication 3 (cluster.py), and Debian's Prometheus and VictoriaMetrics as single nodes. A
request that fails is sent again, the same bytes, as Prometheus does.

Correctness: a node is killed with SIGKILL during writes, and started again on its data. Meanwhile
`fathom fleet sites` asks about tests that were complete before, also while the node is killed. At
the end each sample of each series of the checked regions is compared with what was acknowledged:
time and value. So is what the agents sent, during which a node is killed, too.

Limits: with Thanos no answer fails or differs, and no sample is missing, duplicated or different;
likewise with Prometheus, which does not answer while it is down. VictoriaMetrics may lose samples
that it acknowledged up to 10 s before it was killed, and no others.

Figures: samples per second, bytes of a sample on the disk, memory of a series, time of `fathom
fleet sites`, cost of an agent; extrapolated to 100,000 and a million sites. Needs Thanos' module or
a Go proxy, Debian's prometheus and victoria-metrics, root for a network namespace, and 18 GB of
memory (--most 10000 --tests-of 1: 5 GB); takes 40 minutes (--quick: 20).
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import agents
import cluster
import lines
from agents import DAY_S, FATHOM, TOP

REPLAY = os.path.abspath(os.environ.get("FLEET_REPLAY", TOP / "target/release/fleet_replay"))
AGENTS = 20
TESTS, TEST_STEP_MS = 4, 600_000
# Lag, rate and buffer of both directions, and idle latency.
TEST_SERIES = 7
# Acknowledged by VictoriaMetrics, but not yet on its disk.
MAY_LOSE_MS = 10_000
POLL_S = 3
# From the start of a question to the kill.
KILL_AFTER_S = 0.3
YEAR_S = 365.25 * DAY_S
# Samples that a checked region may have in one answer are limited by memory; all regions take turns.
REGIONS = 50


def replay(command, **words):
    done = subprocess.run(["nice", REPLAY, command, *(f"{key}={value}" for key, value in words.items())],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


class Prometheus(cluster.Engine):
    """Debian's."""

    title, replicas, tolerance, victim = "Prometheus", 1, 0.0, "prometheus"

    def __init__(self, folder, flags=()):
        super().__init__(folder)
        (self.folder / "prometheus.yml").write_text("global: {}\n")
        (port,) = cluster.free_ports(1)
        self.query_url = f"http://127.0.0.1:{port}"
        self.words = {"prometheus": [
            "prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
            f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver",
            "--enable-feature=native-histograms", "--log.level=warn", *flags]}
        self.ready = {"prometheus": f"{self.query_url}/-/ready"}
        self.write_urls = [f"{self.query_url}/api/v1/write"]

    def wait_seen(self):
        pass

    def blocks(self):
        return [self.folder / "data"]


class Victoria(cluster.Engine):
    """Debian's."""

    # It stores decimal numbers.
    title, replicas, tolerance, victim = "VictoriaMetrics", 1, 1e-12, "victoria"

    def __init__(self, folder, flags=()):
        super().__init__(folder)
        (port,) = cluster.free_ports(1)
        self.query_url = f"http://127.0.0.1:{port}"
        # Without deduplication, a request that is sent again after an unknown outcome counts twice.
        self.words = {"victoria": [
            "victoria-metrics", f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{port}",
            "-search.latencyOffset=0s", "-dedup.minScrapeInterval=1ms", "-retentionPeriod=100y",
            "-search.maxUniqueTimeseries=10000000", "-loggerLevel=WARN", *flags]}
        self.ready = {"victoria": f"{self.query_url}/health"}
        self.write_urls = [f"{self.query_url}/api/v1/write"]

    def wait_seen(self):
        urllib.request.urlopen(f"{self.query_url}/internal/force_flush", timeout=60).close()

    def bytes_of_sample(self):
        """After a merge: bytes on the disk, and samples."""
        self.wait_seen()
        urllib.request.urlopen(f"{self.query_url}/internal/force_merge", timeout=600).close()
        time.sleep(5)
        with urllib.request.urlopen(f"{self.query_url}/metrics", timeout=60) as answer:
            lines = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
        rows = sum(float(value) for name, value in lines if name.startswith("vm_rows{type=\"storage/"))
        return used(self.folder / "data/data") + used(self.folder / "data/indexdb"), rows


def used(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def blocks(folder):
    """Bytes and samples of the blocks of a TSDB."""
    size = samples = 0
    for meta in Path(folder).glob("*/meta.json"):
        size += used(meta.parent)
        samples += json.loads(meta.read_text())["stats"]["numSamples"]
    return size, samples


def ask_sites(url, since):
    """The answer of `fathom fleet sites`, its duration and the CPU time of fathom."""
    began, cpu = time.monotonic(), os.times()
    done = subprocess.run([FATHOM, "fleet", "sites", "--engine", url, "--since", since, "--by", "provider", "--json"],
                          capture_output=True, text=True)
    seconds, now = time.monotonic() - began, os.times()
    spent = now.children_user + now.children_system - cpu.children_user - cpu.children_system
    if done.returncode:
        return None, seconds, spent
    document = json.loads(done.stdout)
    return document["fleet"], seconds, spent


def utc(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms / 1000))


class Bench:
    """One engine, from 1,000 sites to as many as are wanted."""

    def __init__(self, engine, recordings, args, scratch):
        self.engine, self.recordings, self.args, self.scratch = engine, recordings, args, Path(scratch)
        self.begin_ms = int(time.time() * 1000) - TESTS * TEST_STEP_MS
        self.failed, self.ledgers = [], 0

    def send(self, **words):
        self.ledgers += 1
        ledger = self.scratch / f"{self.engine.folder.name}-{self.ledgers}.json"
        words = {"senders": 8, "batch": 20, "seed": self.args.seed, **words}
        done = replay("send", recordings=self.recordings, url=",".join(self.engine.write_urls), ledger=ledger, **words)
        return ledger, done

    def check(self, ledger, regions, url=None):
        first = random.Random(self.args.seed).randrange(REGIONS)
        return replay("check", recordings=self.recordings, engine=url or self.engine.query_url, ledger=ledger,
                      regions=regions, first_region=first, tolerance=self.engine.tolerance)

    def expect(self, is_met, text):
        print(f"  {text}{'' if is_met else '  NOT WITHIN THE LIMITS'}", flush=True)
        if not is_met:
            self.failed.append(f"{self.engine.title}: {text}")

    def grow(self, begin, end, tests_alone=False):
        """Adds the tests of sites, and one point of each other series."""
        if end <= begin:
            return
        self.send(**{"from": begin}, sites=end, tests=1, rounds=TESTS, begin_ms=self.begin_ms, step_ms=TEST_STEP_MS)
        if tests_alone:
            return
        _, done = self.send(**{"from": begin}, sites=end, rounds=1, span=self.span, begin_ms=int(time.time() * 1000) - 1000,
                            step_ms=1000)
        self.per_site = done["samples"] / (end - begin)

    # Rounds that all replays of a site may need: less than the minutes of a day.
    span = 600

    def ask(self, sites):
        """The time of `fathom fleet sites`; its answer."""
        self.engine.wait_seen()
        since, times = utc(self.begin_ms - 60_000), 3 if sites <= 10_000 else 1
        cpu = self.engine.cpu()
        all = [ask_sites(self.engine.query_url, since) for _ in range(times)]
        cpu = (self.engine.cpu() - cpu) / times
        answer = all[0][0]
        found = len(answer["sites"]) if answer else 0
        tests = sum(site["tests"] for site in answer["sites"]) if answer else 0
        seconds = statistics.median(one[1] for one in all)
        own = statistics.median(one[2] for one in all)
        self.expect(found == sites and tests == sites * TESTS,
                    f"fathom fleet sites: {found:,} sites, {tests:,} tests, {seconds:.2f} s; CPU time {cpu:.2f} s of the engine, "
                    f"{own:.2f} s of fathom")
        return answer, since

    def kill_during_writes(self, sites, seconds, kill_at, away_s, regions, answers_meanwhile):
        """Sends for a while, kills a node meanwhile, and compares everything."""
        reference, since = self.ask(sites)
        step_ms = 30_000
        rounds = seconds * 1000 // step_ms
        begin_ms = int(time.time() * 1000) + 1000
        result, polls = {}, []

        def writer():
            try:
                result["sent"] = self.send(sites=sites, rounds=rounds, skip=1, span=self.span, begin_ms=begin_ms, step_ms=step_ms,
                                           batch=4, paced=1, senders=16)
            except RuntimeError as error:
                result["error"] = error

        thread = threading.Thread(target=writer)
        thread.start()
        began, events = time.monotonic(), [(kill_at, "kill"), (kill_at + away_s, "start")]
        killed_ms, starter = 0, None

        def kill():
            nonlocal killed_ms
            # While the engine is asked.
            time.sleep(KILL_AFTER_S)
            self.engine.kill(self.engine.victim)
            killed_ms = int(time.time() * 1000)

        killer = threading.Thread(target=kill)
        while thread.is_alive():
            now = time.monotonic() - began
            if events and now >= events[0][0]:
                what = events.pop(0)[1]
                if what == "kill":
                    killer.start()
                else:
                    starter = threading.Thread(target=self.engine.start, args=(self.engine.victim,))
                    starter.start()
            answer, took, _ = ask_sites(self.engine.query_url, since)
            phase = "before" if not killed_ms else "down" if events or starter.is_alive() else "after"
            polls.append((phase, "failed" if answer is None else "equal" if answer == reference else "different", took))
            time.sleep(POLL_S)
        thread.join()
        if starter:
            starter.join()
        if "error" in result:
            self.expect(False, f"not everything was acknowledged: {result['error']}")
            return None
        ledger, sent = result["sent"]
        print(f"  {sites:,} sites, {sent['samples']:,} samples in {sent['seconds']:.0f} s, one request per 4 sites; "
              f"{self.engine.victim} killed after {kill_at} s, started again after {away_s} s; "
              f"{sent['retries']:,} requests sent again, at most {sent['behind_ms'] / 1000:.1f} s late")
        for phase in ("before", "down", "after"):
            of = [state for one, state, _ in polls if one == phase]
            longest = max((took for one, _, took in polls if one == phase), default=0)
            wrong = of.count("different") + (of.count("failed") if answers_meanwhile or phase != "down" else 0)
            self.expect(wrong == 0, f"answers while the node was {'down' if phase == 'down' else 'up, ' + phase}: "
                        f"{of.count('equal')} equal, {of.count('different')} different, {of.count('failed')} failed; "
                        f"longest {longest:.1f} s")
        self.engine.wait_seen()
        found = self.check(ledger, regions)
        wrong = found["duplicate"] + found["extra"] + found["different"] + found["unknown_series"]
        missing = found["missing"]
        text = (f"{found['samples']:,} samples of {found['series']:,} series of {found['sites']:,} sites ({regions} of "
                f"{REGIONS} regions, seed {self.args.seed}): {missing:,} missing, {found['duplicate'] + found['extra']:,} "
                f"duplicated, {found['different']:,} different")
        is_met = not wrong and not missing
        if missing and isinstance(self.engine, Victoria):
            earliest = killed_ms - found["missing_from_ms"]
            text += f", due {earliest / 1000:.1f} to {(killed_ms - found['missing_to_ms']) / 1000:.1f} s before it was killed"
            is_met = not wrong and earliest <= MAY_LOSE_MS and found["missing_to_ms"] <= killed_ms
        self.expect(is_met, text)
        if not is_met:
            for example in found["examples"]:
                print(f"    {example}")
        self.skip = rounds + 1
        return ledger

    def ingest(self, sites, rounds):
        """The highest rate: requests of one site, as the gateway forwards them, and of many."""
        rates = []
        for batch in (1, 50):
            begin_ms = int(time.time() * 1000)
            cpu = self.engine.cpu()
            _, done = self.send(sites=sites, rounds=rounds, skip=self.skip, span=self.span, begin_ms=begin_ms, step_ms=1000,
                                batch=batch)
            self.skip += rounds
            rate = done["samples"] / done["seconds"]
            rates.append((batch, rate, (self.engine.cpu() - cpu) / done["samples"]))
            print(f"  {rate:,.0f} samples/s with requests of {batch} sites; {rates[-1][2] * 1e6:.1f} us of CPU time per sample",
                  flush=True)
            time.sleep(max(0, rounds - done["seconds"]) + 1)
        return rates


def disk(engine_of, recordings, args, scratch, sites, rounds):
    """Bytes per sample on the disk, of a day of some sites."""
    engine = engine_of(scratch / "disk")
    try:
        engine.start_all()
        begin_ms = int(time.time() * 1000) // 60_000 * 60_000 - rounds * 60_000
        bench = Bench(engine, recordings, args, scratch)
        # In the order of time: what is an hour older than the newest sample is refused.
        _, done = bench.send(sites=sites, rounds=rounds, begin_ms=begin_ms, batch=sites, senders=1)
        if isinstance(engine, Victoria):
            size, samples = engine.bytes_of_sample()
        else:
            # A node of Thanos writes what it has in memory when it is stopped.
            if engine.replicas > 1:
                engine.stop()
            for _ in range(60):
                # The newest samples of Prometheus stay in memory: at most three hours.
                time.sleep(1)
                all = [blocks(folder) for folder in engine.blocks()]
                size, samples = sum(one[0] for one in all) / len(all), sum(one[1] for one in all) / len(all)
                if samples >= done["samples"] * (1 - 3.2 * 60 / rounds):
                    break
        per_day = done["samples"] / sites / rounds * 1440
        print(f"  {size / max(samples, 1):.2f} bytes per sample on the disk of a node ({samples:,.0f} samples of {sites} sites, "
              f"{rounds / 60:.0f} h); {per_day:,.0f} samples per site and day", flush=True)
        return size / max(samples, 1), per_day
    finally:
        engine.discard()


def kill_meanwhile(engine, seconds):
    """A node is down for a third of the time."""
    time.sleep(seconds / 3)
    engine.kill(engine.victim)
    time.sleep(seconds / 3)
    engine.start(engine.victim)
    time.sleep(seconds / 3)


def measure(name, engine_of, recordings, args, scratch, figures):
    print(f"\n{name}, load average {os.getloadavg()[0]:.1f}", flush=True)
    quick = args.quick
    engine = engine_of(scratch / "engine")
    row = figures[name] = {"replicas": engine.replicas}
    try:
        engine.start_all()
        empty = engine.memory(engine.victim.split("-")[0])
        bench = Bench(engine, recordings, args, scratch)
        bench.grow(0, 1_000)
        bench.ask(1_000)
        bench.grow(1_000, args.sites)
        row["per_site"] = bench.per_site
        if engine.replicas > 1:
            seconds, kill_at, away_s = (120, 30, 30) if quick else (210, 45, 60)
        else:
            seconds, kill_at, away_s = (60, 20, 10) if quick else (90, 30, 20)
        ledger = bench.kill_during_writes(args.sites, seconds, kill_at, away_s, 5 if quick else args.regions, engine.replicas > 1)
        if ledger and "penalty" in getattr(engine, "query_urls", {}):
            found = bench.check(ledger, 2, engine.query_urls["penalty"])
            print(f"  for comparison, a querier with --deduplication.func=penalty: {found['missing']:,} of "
                  f"{found['samples']:,} samples missing")
            row["penalty"] = (found["missing"], found["samples"])
        if ledger:
            row["rates"] = bench.ingest(args.sites, 3 if quick else 5)
        if args.most[name] > args.sites:
            bench.grow(args.sites, args.most[name])
            bench.ask(args.most[name])
        series = (bench.per_site + TEST_SERIES) * max(args.most[name], args.sites) * engine.replicas
        row["memory"] = (engine.memory(engine.victim.split("-")[0]) - empty) / series
        print(f"  {row['memory']:,.0f} bytes of memory per series of a node ({series / engine.replicas:,.0f} series, "
              f"{engine.memory() / 1e9:.1f} GB in all)", flush=True)
        if args.tests_of > args.most[name]:
            bench.grow(max(args.most[name], args.sites), args.tests_of, tests_alone=True)
            bench.ask(args.tests_of)
        row["failed"] = bench.failed
    finally:
        engine.discard()
    row["disk"] = disk(engine_of, recordings, args, scratch, 20 if quick else 60, 720 if quick else 1_380)


def shares(sites):
    """Measured goodput as a share of each line's rate, up and down: smallest and largest."""
    rates, found = lines.rates(FATHOM), []
    for site in sites:
        up, down = rates[site["labels"]["plan"]]
        found += [site["goodput_up_bits_per_second"] / up, site["goodput_down_bits_per_second"] / down]
    return min(found), max(found)


def of_agents(done, described):
    print(f"\n{done['agents']} agents, {agents.TARGETS} targets per second each, {done['live_s']:.0f} s")
    site_day = done["sample_file_bytes"] / done["sample_files"] * 24
    windows_day = done["window_file_bytes"] / max(done["window_files"], 1) * 24
    rows = [
        ("tests of the lines", f"{min(done['tests'])} to {max(done['tests'])} of each; goodput {done['shares'][0]:.0%} to {done['shares'][1]:.0%} of the line's rate"),
        ("series per site", f"{described['series'][1]} + {described['series_of_tests'][1]} of tests"),
        ("CPU time of an agent", f"{done['cpu_s_per_day']:.0f} s per day ({done['cpu_s_per_day'] / DAY_S:.2%} of a core)"),
        ("memory of an agent", f"{done['memory'] / 1e6:.0f} MB, {done['memory_of_catching_up'] / 1e6:.0f} MB while a day is sent at once"),
        ("bytes sent per day (bodies of remote-write 1.0)", f"{done['bytes_per_day'] / 1e6:.2f} MB"),
        ("a day at once, after an outage", f"{done['bytes_of_a_day_at_once']['native'] / 1e6:.2f} MB, each agent within {done['caught_up_s']:.1f} s"),
        ("Parquet in the archive, every probe", f"{site_day / 1e6:.2f} MB per day, {site_day * 365.25 / 1e6:.0f} MB per year"),
        ("Parquet in the archive, windows of 10 min", f"{windows_day / 1e3:.0f} kB per day, {windows_day * 365.25 / 1e6:.1f} MB per year"),
    ]
    for name, value in rows:
        print(f"  {name:48} {value}")


def extrapolate(figures):
    print("\nextrapolated: sites that send once per minute")
    print(f"  {'engine':20} {'sites':>10} {'series':>14} {'samples/s':>12} {'cores':>7} {'memory':>10} {'disk per year':>14}")
    for name, row in figures.items():
        if "rates" not in row or "disk" not in row:
            continue
        per_sample, per_day = row["disk"]
        for sites in (10_000, 100_000, 1_000_000):
            series = sites * (row["per_site"] + TEST_SERIES)
            rate = sites * per_day / DAY_S
            cores = rate * row["rates"][0][2]
            memory = series * row["memory"] * row["replicas"]
            size = rate * YEAR_S * per_sample * row["replicas"]
            print(f"  {name:20} {sites:10,} {series:14,.0f} {rate:12,.0f} {cores:7.1f} {memory / 1e9:7,.0f} GB {size / 1e12:11,.2f} TB")
    print("  series, samples/s: before replication; cores, memory and disk: of all nodes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="agents,thanos,prometheus,victoria")
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--most", type=int, help="the most sites of each engine")
    parser.add_argument("--tests-of", type=int, help="as many sites have tests: those beyond --most nothing else")
    parser.add_argument("--regions", type=int, default=REGIONS)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10_000)
    parser.add_argument("--keep", type=Path, help="a folder for the recordings, which are used again")
    args = parser.parse_args()
    wanted = args.only.split(",")
    kinds = {
        cluster.Thanos.title: ("thanos", lambda folder: cluster.Thanos(folder, queriers=("chain", "penalty")), "native", 30_000),
        Prometheus.title: ("prometheus", Prometheus, "native", 50_000),
        Victoria.title: ("victoria", Victoria, "classic", 50_000),
    }
    args.tests_of = args.tests_of or (0 if args.quick else 100_000)
    args.most = {name: args.most or (0 if args.quick else most) for name, (_, _, _, most) in kinds.items()}
    cluster.build()
    lines.own_network()
    began, figures = time.monotonic(), {}
    print(f"seed {args.seed}, {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} at the start", flush=True)
    with tempfile.TemporaryDirectory(prefix="fathom-fleet", dir=os.environ.get("SCRATCH")) as scratch:
        scratch = Path(scratch)
        recorded = args.keep or scratch / "agents"
        if not (recorded / "figures.json").exists():
            # Each agent sends a day, at its own pace: the engine must take points out of order.
            first = cluster.Thanos(scratch / "first", ["--tsdb.out-of-order.time-window=3d"]).start_all()
            try:
                done = agents.record(recorded, AGENTS, 90 if args.quick else 180, {"native": first.write_urls[0]},
                                     lambda seconds: kill_meanwhile(first, seconds))
                done["check"] = replay("check", recordings=recorded / "native", engine=first.query_url)
                answer, _, _ = ask_sites(first.query_url, "3d")
                if answer is None:
                    raise RuntimeError("fathom fleet sites: no answer about the agents")
                done["sites"] = len(answer["sites"])
                done["tests"] = sorted({site["tests"] for site in answer["sites"]})
                done["shares"] = shares(answer["sites"])
            finally:
                first.discard()
            (recorded / "figures.json").write_text(json.dumps(done))
        done = json.loads((recorded / "figures.json").read_text())
        described = replay("describe", recordings=recorded / "native")
        of_agents(done, described)
        found = done["check"]
        wrong = sum(found[key] for key in ("missing", "duplicate", "extra", "different", "unknown_series"))
        print(f"  through the gateway to three nodes, one of them killed and started again: {done['sites']} sites, "
              f"{done['refused']} requests refused;\n  {found['samples']:,} samples of {found['series']:,} series: "
              f"{found['missing']} missing, {found['duplicate'] + found['extra']} duplicated, {found['different']} different")
        failed = [] if done["sites"] == AGENTS and not done["refused"] and not wrong else [f"agents: {done}"]
        for name, (key, engine_of, kind, _) in kinds.items():
            if key in wanted:
                try:
                    measure(name, engine_of, recorded / kind, args, scratch, figures)
                except (RuntimeError, OSError) as error:
                    print(f"  {error}")
                    failed.append(f"{name}: {error}")
                failed += figures[name].get("failed", [])
        if figures:
            extrapolate(figures)
    print(f"\n{(time.monotonic() - began) / 60:.0f} min, load average {os.getloadavg()[0]:.1f} at the end")
    if failed:
        sys.exit("outside the limits: " + "; ".join(failed))


if __name__ == "__main__":
    main()
