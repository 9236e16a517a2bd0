"""Real agents of a fleet, each behind an emulated line: what each costs, and a recording of what they
send.

Each `fathom watch` has a history of a day, as after an outage of its receiver. It probes the far end
of its line and two addresses of loopback once per second, and tests the line. It is enrolled at a
real `fathom fleet gateway`, which forwards to a recorder, which passes on to an engine and keeps
each acknowledged body.
"""
import gzip
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import lines

TOP = Path(__file__).resolve().parent.parent.parent
FATHOM = os.path.abspath(os.environ.get("FATHOM", TOP / "target/release/fathom"))
WATCH_STORE = os.path.abspath(os.environ.get("WATCH_STORE", TOP / "target/release/examples/watch_store"))
TARGETS, DAY_S = 3, 86_400
PROVIDERS, REGIONS = 4, 5
# Pushes have the default interval of a minute; with their settling, a point is this old at most.
FRESH_S = 150
CATCH_UP_S = 300
# Agents start one after the other, because each tests its line at once, and two cores emulate them.
STAGGER_S = 10
# A test takes half a minute, at most a minute.
TEST_S = 90
TICK = os.sysconf("SC_CLK_TCK")


class Recorder:
    """Keeps the bodies that an engine acknowledged, by the kind of their histograms."""

    def __init__(self, folder, forward):
        self.bytes, self.requests, self.refused, self.lock = {}, {}, [], threading.Lock()
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                kind = self.path.strip("/")
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, why = 204, b""
                if kind in forward:
                    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
                    try:
                        urllib.request.urlopen(urllib.request.Request(forward[kind], body, headers), timeout=30).close()
                    except urllib.error.HTTPError as error:
                        status, why = error.code, error.read()[:200]
                    except OSError as error:
                        status, why = 503, str(error).encode()
                with recorder.lock:
                    if status == 204:
                        number = recorder.requests[kind] = recorder.requests.get(kind, 0) + 1
                        recorder.bytes[kind] = recorder.bytes.get(kind, 0) + len(body)
                        (folder / kind / f"{number:06}").write_bytes(body)
                    else:
                        recorder.refused.append((status, why))
                self.send_response(status)
                self.send_header("Content-Length", str(len(why) if status != 204 else 0))
                self.end_headers()
                if status != 204:
                    self.wfile.write(why)

        for kind in ("native", "classic"):
            (folder / kind).mkdir(parents=True)
        http.server.ThreadingHTTPServer.request_queue_size = 128
        self.server = http.server.ThreadingHTTPServer((lines.HOST, 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://{lines.HOST}:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def counts(self):
        with self.lock:
            return dict(self.bytes), dict(self.requests)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def configuration(folder, number, recorder, recording):
    """The file of an agent. While recording, it also sends classic histograms."""
    text = f"""[watch]
store = "{folder}/store-{number}"
listen = "127.0.0.1:{free_port()}"
interface = "line0"
[site]
name = "agent-{number:02}"
labels = {{ provider = "provider-{number % PROVIDERS}", plan = "{lines.line_of(number)}", region = "region-{number % REGIONS}" }}
[defaults]
interval = "1s"
[[push]]
kind = "gateway"
name = "fleet"
version = "1.0"
[[archive]]
kind = "gateway"
[[test]]
name = "line"
server = "{lines.SERVER}"
interval = "10min"
"""
    for target in range(TARGETS):
        host = f"127.0.0.{2 + target}" if target else lines.SERVER
        text += f"[[target]]\nname = 'target-{target}'\nhost = '{host}'\n"
    if recording:
        text += f"[[push]]\nkind = 'remote_write'\nname = 'classic'\nurl = '{recorder.url}/classic'\n"
        text += f"version = '1.0'\nhistogram = 'classic'\ninstance = 'agent-{number:02}'\n"
    path = folder / f"agent-{number}.toml"
    path.write_text(text)
    return str(path)


def history(folder, number, end_s):
    """A history of a day, of which nothing was sent."""
    store = folder / f"store-{number}"
    lines.run(WATCH_STORE, "past", str(store), str(number), str(DAY_S), str(end_s))
    begin_ms = (end_s - DAY_S) // 60 * 60_000
    for name in ("fleet", "classic"):
        with gzip.open(store / f"push-{name}.json.gz", "wt") as file:
            json.dump({"fathom_push": 1, "upto_ms": begin_ms, "series": []}, file)


def sent_upto_s(folder, number, name):
    try:
        with gzip.open(folder / f"store-{number}/push-{name}.json.gz") as file:
            return json.load(file)["upto_ms"] / 1000
    except (OSError, EOFError):
        return 0


def usage(process):
    """CPU seconds, resident memory and its maximum in bytes."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    size = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Vm")}
    return (int(fields[11]) + int(fields[12])) / TICK, size["VmRSS"], size["VmHWM"]


def stop(processes):
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()


def gateway(folder, recorder, log):
    """A gateway; its URL and fingerprint."""
    listen = f"{lines.HOST}:{free_port()}"
    words = [FATHOM, "fleet", "gateway", "--state", str(folder / "state"), "--listen", listen,
             "--engine", f"{recorder.url}/native", "--objects", str(folder / "objects"), "--max-samples", "100000000"]
    (folder / "objects").mkdir()
    process = subprocess.Popen(words, stdout=log, stderr=log)
    for _ in range(300):
        text = Path(log.name).read_text()
        if "fingerprint: " in text and listen in text:
            return process, f"https://{listen}", text.split("fingerprint: ")[1].split()[0]
        time.sleep(0.1)
    process.kill()
    sys.exit(f"{' '.join(words)}: does not start: {Path(log.name).read_text()}")


def enroll(folder, plan, url, fingerprint):
    token = folder / "token"
    token.write_text(lines.run(FATHOM, "fleet", "token", "--state", str(folder / "state")))
    lines.run(FATHOM, "watch", "enroll", plan, url, "--token-file", str(token), "--fingerprint", fingerprint)


def tests_of(folder, number):
    """The results of the agent's tests: names of files."""
    return sorted(path.name for path in (folder / f"store-{number}/results").glob("*"))


def wait_until(is_done, limit_s, why):
    """Waits. Returns the seconds."""
    began = time.monotonic()
    while not is_done():
        if time.monotonic() - began > limit_s:
            raise RuntimeError(why())
        time.sleep(0.2)
    return time.monotonic() - began


def wait_for_backlog(folder, number, refused):
    """Waits until an agent has sent its day. Returns the seconds."""
    def is_sent():
        return all(sent_upto_s(folder, number, name) >= time.time() - FRESH_S for name in ("fleet", "classic"))

    return wait_until(is_sent, CATCH_UP_S, lambda: f"agent {number}: a day is not sent within {CATCH_UP_S} s: {refused[:3]}")


def wait_for_tests(folder, count):
    def untested():
        return [number for number in range(count) if not tests_of(folder, number)]

    wait_until(lambda: not untested(), TEST_S, lambda: f"agents {untested()} have no result of a test: see {folder}/log")


def start(plans, log, when_started):
    """Starts an agent for each plan, one after the other."""
    running = []
    try:
        for number, plan in enumerate(plans):
            running.append(lines.Agent(FATHOM, number, plan, log))
            when_started(number)
    except BaseException:
        stop(running)
        raise
    return running


def record(folder, count, live_s, forward, meanwhile=time.sleep):
    """Runs the agents, and `meanwhile` for some seconds when they have caught up. Returns their
    figures; the recordings are in `native` and `classic` of the folder, and the archive in `objects`.
    """
    folder.mkdir(parents=True)
    # All histories end at the same time, which makes the replays of the sites equally long.
    end_s = int(time.time())
    for number in range(count):
        history(folder, number, end_s)
    recorder = Recorder(folder, forward)
    running = []
    with open(folder / "log", "w") as log, open(folder / "gateway.log", "w") as gateway_log:
        try:
            process, url, fingerprint = gateway(folder, recorder, gateway_log)
            running.append(process)
            plans = [configuration(folder, number, recorder, True) for number in range(count)]
            for plan in plans:
                enroll(folder, plan, url, fingerprint)
            backlog_s = []

            def first_test(number):
                backlog_s.append(wait_for_backlog(folder, number, recorder.refused))
                time.sleep(max(0, STAGGER_S - backlog_s[-1]))

            agents = start(plans, log, first_test)
            running += agents
            wait_for_tests(folder, count)
            # Until the last one is sent: at least two points of the host's gauges.
            tested = time.time()
            wait_until(lambda: all(sent_upto_s(folder, number, "fleet") > tested for number in range(count)),
                       2 * FRESH_S, lambda: f"not sent within {2 * FRESH_S} s: {recorder.refused[:3]}")
            peak = max(usage(agent)[2] for agent in agents)
            stop(agents)
            running = running[:1]
            sent = recorder.counts()[0]
            # As they run all the time: without classic histograms.
            plans = [configuration(folder, number, recorder, False) for number in range(count)]
            agents = start(plans, log, lambda number: None)
            running += agents
            time.sleep(20)
            before, bytes_before, at = [usage(agent)[0] for agent in agents], recorder.counts()[0], time.monotonic()
            meanwhile(live_s)
            seconds = time.monotonic() - at
            after, bytes_after = [usage(agent) for agent in agents], recorder.counts()[0]
            # No request is under way when the recorder ends.
            stop(agents)
        finally:
            for process in running:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
            for process in running:
                process.wait()
            recorder.server.shutdown()
    cpu = sum(now[0] - then for now, then in zip(after, before, strict=True))
    objects = [path for path in (folder / "objects").rglob("*.parquet") if "samples" in str(path)]
    windows = [path for path in (folder / "objects").rglob("*.parquet") if "windows" in str(path)]
    # An hour of each site is one file.
    return {
        "agents": count, "live_s": seconds, "caught_up_s": max(backlog_s),
        "cpu_s_per_day": cpu / count / seconds * DAY_S,
        "memory": max(now[1] for now in after), "memory_of_catching_up": peak,
        "bytes_per_day": (bytes_after["native"] - bytes_before["native"]) / count / seconds * DAY_S,
        "bytes_of_a_day_at_once": {kind: size / count for kind, size in sent.items()},
        "refused": len(recorder.refused), "refusals": recorder.refused[:3],
        "sample_files": len(objects), "sample_file_bytes": sum(path.stat().st_size for path in objects),
        "window_files": len(windows), "window_file_bytes": sum(path.stat().st_size for path in windows),
    }
