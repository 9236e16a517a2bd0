#!/usr/bin/env python3
"""Compares the prober of `fathom watch` with fping and smokeping_prober: CPU per ping, and errors
of round-trip times.

CPU: all targets are addresses of 127/8 in a namespace, probed once a second. CPU time of the
process is from /proc, pings from the kernel's ICMP counters, so the kernel's work for the replies
is included for all alike. Fathom's includes its history on disk, the state of all targets and its
page. "Bare sockets" is the machine's limit: a C program, compiled here, with only batched system
calls (bare.py). Errors: 200 targets behind a veth pair. The truth is a capture at the near end,
from the departure of the request to the arrival of the reply, with kernel timestamps. Fathom's
values are from its history, which stores them to 1.1 %.

Limits: at most a quarter of fping's CPU per ping at 1,000 targets, mean error below 5 us, 100,000
targets on half a CPU.
"""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bare
from common import FATHOM, pair_of_hosts, percentile, sh

PROBER = "/usr/bin/prometheus-smokeping-prober"
NEAR, FAR = [f"fathom-{who}-{os.getpid()}" for who in ("near", "far")]
BARE = "bare sockets"
WARM_UP, SECONDS = 8, 20
TICK = os.sysconf("SC_CLK_TCK")


def build():
    pair_of_hosts(NEAR, FAR)
    sh(f"ip -n {NEAR} addr add 10.98.255.1/16 dev v0; ip -n {NEAR} link set v0 up")
    # The whole network is local to the other end, so that it answers for each address.
    sh(f"ip -n {FAR} addr add 10.98.255.2/16 dev v0; ip -n {FAR} link set v0 up; ip -n {FAR} route add local 10.98.0.0/17 dev lo")
    # One neighbor for all: resolving 200 of them is not part of the measurement.
    sh(f"ip -n {NEAR} route add 10.98.0.0/17 via 10.98.255.2")


def addresses(count, form):
    return [form.format(1 + n // 250, n % 250 + 1) for n in range(count)]


def many(count):
    return [f"127.{1 + n // 62500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(count)]


def start(*command, **how):
    return subprocess.Popen(["ip", "netns", "exec", NEAR, *command], **how)


def of_process(pid):
    """CPU seconds and resident MB of the process started by `ip netns exec`."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    resident = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])
    return (int(fields[11]) + int(fields[12])) / TICK, resident / 1e3


def echoes():
    """Requests sent and replies received in the namespace."""
    text = subprocess.run(["ip", "netns", "exec", NEAR, "cat", "/proc/net/snmp"], capture_output=True, text=True).stdout
    names, values = [line.split() for line in text.splitlines() if line.startswith("Icmp:")]
    count = dict(zip(names, values))
    return int(count["OutEchos"]), int(count["InEchoReps"])


def cpu_of(process):
    time.sleep(WARM_UP)
    used, (sent, came), began = of_process(process.pid)[0], echoes(), time.time()
    time.sleep(SECONDS)
    used_now, resident = of_process(process.pid)
    sent_now, came_now = echoes()
    took = time.time() - began
    sent, came, used = sent_now - sent, came_now - came, used_now - used
    return {"cpu": used / took, "us": used / max(sent, 1) * 1e6, "pps": sent / took, "lost": sent - came, "mb": resident}


def end(process):
    process.terminate()
    process.wait()


def plan(folder, hosts, **keys):
    path = os.path.join(folder, "watch.toml")
    with open(path, "w") as file:
        file.write("[watch]\nmax_packets_per_second = 200000\ninterface = 'none'\n[defaults]\ninterval = '1s'\ntimeout = '2s'\n")
        for n, host in enumerate(hosts):
            file.write(f"[[target]]\nname = 't{n}'\nhost = '{host}'\n")
    return path


def fathom(folder, hosts, port=0):
    command = [FATHOM, "watch", plan(folder, hosts), "--store", os.path.join(folder, "store"), "--listen", f"127.0.0.1:{port}"]
    return start(*command, stderr=open(os.path.join(folder, "reported"), "w"))


def fping(folder, hosts, *flags, out=subprocess.DEVNULL):
    path = os.path.join(folder, "hosts")
    open(path, "w").write("\n".join(hosts) + "\n")
    return start("fping", "-l", "-p", "1000", "-i", "0.1", "-B1", "-r0", "-t", "900", "-f", path, *flags, stdout=out, stderr=subprocess.DEVNULL)


def prober(hosts):
    return start(PROBER, "--web.listen-address=127.0.0.1:9374", "--ping.interval=1s", *hosts, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cpu():
    rows = []
    for name, count in [("fathom watch", 1_000), ("fping", 1_000), (BARE, 1_000), ("smokeping_prober", 200), ("smokeping_prober", 1_000),
                        ("fping", 5_000), ("fathom watch", 10_000), (BARE, 10_000), ("fathom watch", 100_000), (BARE, 100_000)]:
        with tempfile.TemporaryDirectory() as folder:
            hosts = many(count)
            contenders = {
                "fathom watch": lambda: fathom(folder, hosts),
                "fping": lambda: fping(folder, hosts, "-q"),
                "smokeping_prober": lambda: prober(hosts),
                BARE: lambda: start(*bare.command(folder, count)),
            }
            process = contenders[name]()
            found = cpu_of(process)
            end(process)
        rows.append((name, count, found))
        print(f"{name:<17} {count:>7} {found['pps']:>9.0f} {100 * found['cpu']:>9.2f} {found['us']:>8.2f} {found['lost']:>6} {found['mb']:>7.0f}", flush=True)
    return rows


def captured(path):
    """Round-trip times by (address, number of its request), and the time of each request."""
    data, at, sent, truth = open(path, "rb").read(), 24, {}, {}
    count = {}
    while at + 16 <= len(data):
        seconds, nanos, length, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        time_ns, kind = seconds * 10**9 + nanos, frame[34]
        # Identifier, sequence number and the first bytes of the payload.
        name = frame[38:62]
        source, to = frame[26:30], frame[30:34]
        if kind == 8:
            address = ".".join(map(str, to))
            count[address] = count.get(address, -1) + 1
            sent[(to, name)] = (time_ns, address, count[address])
        elif kind == 0 and (source, name) in sent:
            began, address, n = sent.pop((source, name))
            truth[(address, n)] = (began, time_ns - began)
    return truth


def ask_page(path):
    script = f"import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:8099{path}').read().decode())"
    return json.loads(subprocess.run(["ip", "netns", "exec", NEAR, "python3", "-c", script], capture_output=True, text=True, check=True).stdout)


def errors_of(name, hosts, folder):
    """Errors of single round trips in us, and of their mean."""
    capture = os.path.join(folder, "capture")
    tap = start("tcpdump", "-i", "v0", "-w", capture, "-s", "128", "-B", "65536", "--time-stamp-precision=nano", "icmp", stderr=subprocess.DEVNULL)
    time.sleep(2)
    text = os.path.join(folder, "out")
    if name == "fathom watch":
        process = fathom(folder, hosts, 8099)
    elif name == "fping":
        process = fping(folder, hosts, "-D", out=open(text, "w"))
    else:
        process = prober(hosts)
    time.sleep(WARM_UP + SECONDS)
    reported = {}
    if name == "fathom watch":
        # The history is some seconds behind.
        time.sleep(13)
        reported = of_history(hosts)
    mean = None
    if name == "smokeping_prober":
        script = "import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:9374/metrics').read().decode())"
        metrics = subprocess.run(["ip", "netns", "exec", NEAR, "python3", "-c", script], capture_output=True, text=True).stdout
        total = [sum(float(v) for v in re.findall(rf"^smokeping_response_duration_seconds_{part}{{.*}} (\S+)$", metrics, re.M)) for part in ("sum", "count")]
        mean = total[0] / total[1] * 1e6
    end(process)
    time.sleep(1)
    end(tap)
    truth = captured(capture)
    if name == "fping":
        for line in open(text):
            found = re.match(r"\[[\d.]+\] (\S+)\s+: \[(\d+)\], \d+ bytes, ([\d.]+) ms", line)
            if found:
                reported[(found[1], int(found[2]))] = float(found[3]) * 1e3
    true_mean = statistics.mean(rtt for _, rtt in truth.values()) / 1e3
    if mean is not None:
        return [], mean - true_mean, true_mean
    if name == "fathom watch":
        errors = match_by_time(truth, reported)
    else:
        errors = [value - truth[key][1] / 1e3 for key, value in reported.items() if key in truth]
    return errors, statistics.mean(errors), true_mean


def of_history(hosts):
    """Samples of each address: (time in ns, us)."""
    named = {f"t{n}": host for n, host in enumerate(hosts)}
    now = time.time()
    found = {}
    for series in ask_page("/api/v1/series")["series"]:
        host = named.get(series["target"])
        if host is None:
            continue
        samples = ask_page(f"/api/v1/samples?series={series['series']}&from={now - 60}&to={now}")
        found[host] = of_samples(samples)
    return found


def of_samples(samples):
    return [(round(at_s * 1e9), value * 1e6) for at_s, outcome, value in samples["samples"] if outcome == "answered"]


def match_by_time(truth, reported):
    """The time of a sample is that of its slot, at most a tick before the send; requests to an
    address are a second apart.
    """
    errors = []
    by_address = {}
    for (address, _), (began, rtt) in truth.items():
        by_address.setdefault(address, []).append((began, rtt))
    for address, samples in reported.items():
        for at, value in samples:
            near = [rtt for began, rtt in by_address.get(address, []) if abs(began - at) < 300 * 10**6]
            errors += [value - near[0] / 1e3] if len(near) == 1 else []
    return errors


def accuracy():
    rows = {}
    for name in ("fathom watch", "fping", "smokeping_prober"):
        with tempfile.TemporaryDirectory() as folder:
            errors, mean, true = errors_of(name, addresses(200, "10.98.{}.{}"), folder)
        absolute = sorted(abs(e) for e in errors)
        if absolute:
            p50, p99, most = percentile(absolute, 0.5), percentile(absolute, 0.99), absolute[-1]
            print(f"{name:<17} {len(errors):>6} {true:>9.1f} {mean:>9.2f} {p50:>9.2f} {p99:>9.2f} {most:>9.1f}", flush=True)
        else:
            print(f"{name:<17} {'-':>6} {true:>9.1f} {mean:>9.2f} {'-':>9} {'-':>9} {'-':>9}", flush=True)
        rows[name] = mean
    return rows


def verdict(holds, text):
    print(f"{'holds: ' if holds else 'MISSED:'} {text}")


def main():
    build()
    try:
        print(f"each probed once a second for {SECONDS} s\n{'':<17} targets   pings/s   % of CPU  us/ping   lost      MB")
        rows = {(name, count): found for name, count, found in cpu()}
        print(f"\n200 targets behind a veth pair, error compared with a capture, us\n{'':<17}  pings  true mean  mean err   |p50|     |p99|     |max|")
        means = accuracy()
    finally:
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "del", name])
    own, theirs = rows[("fathom watch", 1_000)]["us"], rows[("fping", 1_000)]["us"]
    verdict(own * 4 <= theirs, f"{theirs / own:.1f} times less CPU than fping at 1,000 targets (at least 4)")
    most = rows[("fathom watch", 100_000)]
    verdict(most["cpu"] <= 0.5 and most["lost"] < 100, f"100,000 targets on {most['cpu']:.2f} of a CPU (limit 0.50), {most['lost']} lost")
    floors = ", ".join(f"{rows[('fathom watch', count)]['us'] / rows[(BARE, count)]['us']:.2f} at {count:,}" for count in bare.TICK_US)
    print(f"        times the CPU time of bare sockets: {floors}")
    verdict(abs(means["fathom watch"]) < 5, f"mean error {means['fathom watch']:.2f} us (limit 5)")


if __name__ == "__main__":
    main()
