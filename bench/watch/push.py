#!/usr/bin/env python3
"""What a watch sends, beside what its history has: real receivers on loopback, each of which is killed and comes again.

`fathom watch` asks addresses of loopback ten times a second, some of which nobody answers at. It sends to Debian's Prometheus (which
knows remote-write 1.0 and native histograms), to Debian's VictoriaMetrics (classic histograms) and, if PROMETHEUS3 names a program
of version 3, to that by remote-write 2.0 and by OTLP. In the middle the receivers are away for a while, and fathom itself is killed
with -9 and started again. At the end each count that a receiver has is compared with the history's, as `fathom watch export` writes
it; and each quantile of the round trips. Prometheus scrapes /metrics meanwhile: once as protobuf, once as OpenMetrics.

Then a day of 500 targets (made up by shell/watch/store/examples/watch_store, a sample a second) is sent at once, as after an outage of a day, by
remote-write 2.0 at a point a minute to a receiver that takes all: how long that takes, and what it costs.

Limits: no count differs; a quantile differs by at most one bucket of the history (2.2 %), for classic histograms by a factor of two.
"""
import csv
import gzip
import http.server
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

FATHOM = os.path.abspath(os.environ.get("FATHOM", "target/release/fathom"))
WATCH_STORE = os.path.abspath(os.environ.get("WATCH_STORE", "target/release/examples/watch_store"))
PROMETHEUS3 = os.environ.get("PROMETHEUS3")
RUN_S, AWAY_S, INTERVAL_S, SETTLE_S = 40, 25, 5, 16
PAGE, OLD, NEW, VICTORIA, OPEN = 18077, 19090, 19390, 18428, 19091
QUANTILES = (0.1, 0.5, 0.9, 0.99)
# 2026-01-05T00:00:00Z, where watch_store begins.
BEGIN_MS, DAY_S, SERIES, SINK = 1_767_571_200_000, 86_400, 500, 19555
BUCKET = 2 ** (1 / 32) - 1


def get(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode(), answer.headers.get("Content-Type")


def wait(url):
    for _ in range(300):
        try:
            return get(url)
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit(f"{url} does not answer")


def prometheus(folder, port, program="prometheus", scrape=False, flags=()):
    config = os.path.join(folder, f"{port}.yml")
    with open(config, "w") as file:
        file.write("global: {scrape_interval: 5s}\n")
        if scrape:
            file.write(f"scrape_configs: [{{job_name: scraped, static_configs: [{{targets: ['127.0.0.1:{PAGE}']}}]}}]\n")
    words = [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/{port}", f"--web.listen-address=127.0.0.1:{port}"]
    return [*words, *flags], f"http://127.0.0.1:{port}/-/ready"


def receivers(folder):
    """Name: how it is started, and where it says that it is ready."""
    write = "--web.enable-remote-write-receiver"
    all = {
        "prometheus": prometheus(folder, OLD, scrape=True, flags=[write, "--enable-feature=native-histograms"]),
        "victoria-metrics": ([ "victoria-metrics", f"-storageDataPath={folder}/victoria", f"-httpListenAddr=127.0.0.1:{VICTORIA}",
                              "-search.latencyOffset=0s"], f"http://127.0.0.1:{VICTORIA}/health"),
    }
    if PROMETHEUS3:
        all["prometheus 3"] = prometheus(folder, NEW, PROMETHEUS3, flags=[write, "--web.enable-otlp-receiver"])
    return all


def destinations():
    """Name: receiver, port, what the configuration says, what a label selects."""
    write = "kind = 'remote_write'\nurl = 'http://127.0.0.1:{}/api/v1/write'\n"
    all = {
        "old": ("prometheus", OLD, write.format(OLD), "remote-write 2.0, falls back to 1.0"),
        "victoria": ("victoria-metrics", VICTORIA, write.format(VICTORIA) + "version = '1.0'\nhistogram = 'classic'\n",
                     "remote-write 1.0, classic"),
    }
    if PROMETHEUS3:
        all["new"] = ("prometheus 3", NEW, write.format(NEW), "remote-write 2.0")
        all["otlp"] = ("prometheus 3", NEW, f"kind = 'otlp'\nurl = 'http://127.0.0.1:{NEW}/api/v1/otlp/v1/metrics'\n", "OTLP")
    return all


def configuration(folder):
    text = f"""[watch]
store = "{folder}/store"
listen = "127.0.0.1:{PAGE}"
interface = "lo"
[defaults]
interval = "100ms"
timeout = "1s"
[[target]]
name = "answers"
host = "127.0.0.1"
probe = ["icmp", "tcp:{PAGE}"]
[[group]]
name = "silent"
[[group.target]]
name = "refused"
host = "127.0.0.9"
probe = "tcp:9"
[[group.target]]
name = "nobody"
host = "127.0.0.10"
probe = "dns"
port = 9
"""
    for name, (_, _, lines, _) in destinations().items():
        text += f"[[push]]\nname = '{name}'\ninstance = '{name}'\ninterval = '{INTERVAL_S}s'\n{lines}"
    path = os.path.join(folder, "watch.toml")
    with open(path, "w") as file:
        file.write(text)
    return path


def start(words, log):
    return subprocess.Popen(words, stdout=log, stderr=log)


def stop(process, how=signal.SIGTERM):
    process.send_signal(how)
    process.wait()


def query(port, promql, at_s):
    words = urllib.parse.urlencode({"query": promql, "time": f"{at_s:.3f}"})
    answer = json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?{words}")[0])
    return [(one["metric"], float(one["value"][1])) for one in answer["data"]["result"] if "value" in one]


def truth(folder, to_ms):
    """Outcomes and round trips by target and probe, of what was sent before a time."""
    to = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(to_ms / 1000)) + f".{to_ms % 1000:03}Z"
    words = [FATHOM, "watch", "export", "--store", f"{folder}/store", "--from", "2h", "--to", to]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    all = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        if row["target"] == "this host":
            continue
        one = all.setdefault((row["target"], row["probe"]), {"answered": 0, "late": 0, "lost": 0, "failed": 0, "rtt": []})
        one[row["outcome"]] += 1
        if row["rtt_s"]:
            one["rtt"].append(float(row["rtt_s"]))
    return all


def nearest_rank(values, q):
    values = sorted(values)
    rank = max(1, -(-int(q * len(values) * 1e6) // 10**6))
    return values[rank - 1]


def compare(folder, name):
    """Counts that agree, counts in all, the largest share by which a quantile is off."""
    _, port, lines, _ = destinations()[name]
    with gzip.open(f"{folder}/store/push-{name}.json.gz") as file:
        upto_ms = json.load(file)["upto_ms"]
    if port == VICTORIA:
        get(f"http://127.0.0.1:{port}/internal/force_flush")
    same, counts, off = 0, 0, 0.0
    for (target, probe), one in truth(folder, upto_ms).items():
        labels = f'target="{target}",probe="{probe}",instance="{name}"'
        for outcome in ("answered", "late", "lost", "failed"):
            found = query(port, f'fathom_probes_total{{{labels},outcome="{outcome}"}}', upto_ms / 1000)
            counts += 1
            same += [value for _, value in found] == [one[outcome]]
            if [value for _, value in found] != [one[outcome]]:
                print(f"  {name} {labels} {outcome}: {found}, history {one[outcome]}")
        for q in QUANTILES if one["rtt"] else ():
            series = "fathom_rtt_seconds_bucket" if "classic" in lines else "fathom_rtt_seconds"
            found = query(port, f"histogram_quantile({q}, {series}{{{labels}}})", upto_ms / 1000)
            off = max(off, abs(found[0][1] / nearest_rank(one["rtt"], q) - 1))
    return same, counts, off, upto_ms


def scraped(port):
    """Whether all scrapes succeeded, and how many series of /metrics there are."""
    now = time.time()
    ups = query(port, 'min_over_time(up{job="scraped"}[15s])', now)
    return ups[0][1] == 1, int(query(port, 'count({job="scraped",__name__=~"fathom_.*"})', now)[0][1])


def open_metrics():
    text, kind = get(f"http://127.0.0.1:{PAGE}/metrics", "application/openmetrics-text;version=1.0.0")
    assert kind.startswith("application/openmetrics-text; version=1.0.0"), kind
    assert text.endswith("# EOF\n"), text[-100:]
    return text.count("_created{")


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes all, and counts requests and bytes."""
    protocol_version = "HTTP/1.1"
    requests, taken = 0, 0

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        self.rfile.read(size)
        Sink.requests, Sink.taken = Sink.requests + 1, Sink.taken + size
        self.send_response(204)
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
        self.end_headers()

    def log_message(self, *_):
        pass


def status(pid):
    """CPU seconds so far, and the most memory in MB."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status") as file:
        most = next(line for line in file if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(most.split()[1]) / 1024


def catch_up(folder):
    store = os.path.join(folder, "store")
    words = [WATCH_STORE, "fill", store, "fibre,docsis,wifi", str(SERIES), str(DAY_S), "400"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    cursor = os.path.join(store, "push-far.json.gz")
    with gzip.open(cursor, "wt") as file:
        json.dump({"fathom_push": 1, "upto_ms": BEGIN_MS, "series": []}, file)
    plan = os.path.join(folder, "watch.toml")
    with open(plan, "w") as file:
        file.write(f"[watch]\nstore = '{store}'\nlisten = '127.0.0.1:{PAGE}'\n[[target]]\nname = 'here'\nhost = '127.0.0.1'\n"
                   f"[[push]]\nname = 'far'\nkind = 'remote_write'\nurl = 'http://127.0.0.1:{SINK}/w'\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", SINK), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    began = None
    with open(os.path.join(folder, "log"), "w") as log:
        fathom = start([FATHOM, "watch", plan], log)
        try:
            while True:
                time.sleep(0.1)
                began = began or (time.monotonic() if Sink.requests else None)
                with gzip.open(cursor) as file:
                    cursor_now = json.load(file)
                if cursor_now["upto_ms"] >= BEGIN_MS + DAY_S * 1000:
                    break
            cpu, most = status(fathom.pid)
        finally:
            stop(fathom, signal.SIGKILL)
            server.shutdown()
    print(f"\na day of {SERIES} targets: {time.monotonic() - began:.0f} s, {cpu:.1f} CPU-s, {Sink.requests} requests, "
          f"{Sink.taken / 1e6:.0f} MB, at most {most:.0f} MB of memory")


def main():
    failed = []
    with tempfile.TemporaryDirectory(prefix="fathom-push") as folder, open(os.path.join(folder, "log"), "w") as log:
        plan, how = configuration(folder), receivers(folder)
        watch = [FATHOM, "watch", plan]
        running = {name: start(words, log) for name, (words, _) in how.items()}
        # Without native histograms Prometheus asks for OpenMetrics.
        opened, ready = prometheus(folder, OPEN, scrape=True)
        running["scraper"] = start(opened, log)
        told = open(os.path.join(folder, "told"), "w+")
        fathom = start(watch, told)
        try:
            for _, url in [*how.values(), (None, ready)]:
                wait(url)
            time.sleep(RUN_S)
            for name in how:
                stop(running.pop(name))
            time.sleep(AWAY_S)
            stop(fathom, signal.SIGKILL)
            time.sleep(3)
            fathom = start(watch, told)
            for name, (words, url) in how.items():
                running[name] = start(words, log)
                wait(url)
            time.sleep(RUN_S)
            created = open_metrics()
            forms = {"protobuf": scraped(OLD), "OpenMetrics": scraped(OPEN)}
            stop(fathom)
            print(f"sent every {INTERVAL_S} s; receivers away for {AWAY_S} s, fathom killed with -9 once\n")
            print(f"{'receiver':18}{'by':38}{'counts that agree':>18}{'quantile off by':>17}")
            for name, (receiver, _, lines, by) in destinations().items():
                same, counts, off, _ = compare(folder, name)
                print(f"{receiver:18}{by:38}{f'{same} of {counts}':>18}{off:>16.1%}")
                limit = 1.0 if "classic" in lines else BUCKET
                if same != counts or off > limit:
                    failed.append(f"{name}: {same} of {counts}, {off:.1%}")
            print()
            for form, (fine, series) in forms.items():
                print(f"/metrics scraped as {form}: {series} series, {'every scrape' if fine else 'NOT every scrape'} succeeded")
                if not fine:
                    failed.append(form)
            print(f"OpenMetrics: {created} lines of _created, ends in # EOF")
            told.seek(0)
            print("\nwhat fathom watch said:")
            print("".join("  " + line for line in told if ": push " in line), end="")
        finally:
            for process in [*running.values(), fathom]:
                if process.poll() is None:
                    stop(process, signal.SIGKILL)
    with tempfile.TemporaryDirectory(prefix="fathom-push") as folder:
        catch_up(folder)
    if failed:
        sys.exit("not within the limits: " + "; ".join(failed))


main()
