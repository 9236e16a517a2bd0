"""Shared by the benchmarks: run fathom as a user would, and read the run that it prints."""
import json
import os
import subprocess
import sys
import tempfile

FATHOM = os.path.abspath(os.environ.get("FATHOM", "target/release/fathom"))


def compiled(source, folder, name):
    """Compiles a C program that measures the limit of the machine; returns its path."""
    text, program = os.path.join(folder, f"{name}.c"), os.path.join(folder, name)
    with open(text, "w") as file:
        file.write(source)
    subprocess.run(["cc", "-O2", "-o", program, text], check=True)
    return program


def sh(command):
    subprocess.run(command, shell=True, check=True)


def pair_of_hosts(near, far):
    """Two network namespaces, connected by interface v0 of each, which has no address yet."""
    for name in (near, far):
        sh(f"ip netns add {name}; ip -n {name} link set lo up")
    # Ping sockets for everyone, as in most distributions.
    sh(f"ip netns exec {near} sysctl -qw net.ipv4.ping_group_range='0 2147483647'")
    sh(f"ip -n {near} link add v0 type veth peer name v0 netns {far}")


def lab(scenario, command, flags=(), timeout=300):
    """Runs `command` (a list) on `scenario` (a built-in name, or scenario text); returns its
    stdout.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        if "\n" in scenario:
            file.write(scenario)
            file.flush()
            scenario = file.name
        whole = [FATHOM, "lab", "--line", scenario, *flags, "--", *command]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=timeout)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(whole)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def test_over(scenario, test_flags, lab_flags=()):
    """Runs `fathom test` over an emulated line; returns the Run."""
    command = ["sh", "-c", f"exec {FATHOM} test $FATHOM_SERVER --json --no-save {test_flags}"]
    return json.loads(lab(scenario, command, lab_flags))


def simulated(scenario, seed):
    """Runs `fathom sim` on scenario text; returns the Run."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario)
        file.flush()
        whole = [FATHOM, "sim", file.name, "--seed", str(seed), "--json"]
        done = subprocess.run(whole, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(whole)}: exit {done.returncode}\n{done.stderr}\n{scenario}")
    return json.loads(done.stdout)


def series(run, metric, **key):
    """(time in s, value) of the observed values of a metric."""
    for s in run["series"]:
        if s["metric"] == metric and all(s.get(k) == v for k, v in key.items()):
            censored = set(s.get("censored", []))
            return [(at / 1e9, v) for i, (at, v) in enumerate(zip(s["at_ns"], s["values"])) if i not in censored]
    return []


def phase(run, kind):
    return next(p for p in run["phases"] if p["kind"] == kind)


def within(run, metric, kind, **key):
    """Values of a metric in a phase."""
    p = phase(run, kind)
    return [v for at, v in series(run, metric, **key) if p["start_ns"] / 1e9 <= at < p["end_ns"] / 1e9]


def percentile(values, p):
    """Smallest value with at least the share p of the sample at or below it (RFC 2330 section
    11.3).
    """
    ordered = sorted(values)
    return ordered[max(0, -(-int(p * 1000) * len(ordered) // 1000) - 1)]


def goodput_mbit(run, kind, direction):
    """Mean goodput of a phase in Mbit/s, without its first two seconds (slow start)."""
    start = phase(run, kind)["start_ns"] / 1e9 + 2
    end = phase(run, kind)["end_ns"] / 1e9
    values = [v for at, v in series(run, "goodput_bits_per_second", direction=direction, flow=None) if start <= at < end]
    return sum(values) / len(values) / 1e6


def line(up_rate, up_limit, up_delay="5ms", queue="fifo"):
    """A scenario with one hop; the downlink is fast and short."""
    return f"""name = "bench"
about = "one bottleneck"
source = "bench"
[[hop]]
name = "access"
up = {{ rate = "{up_rate}", delay = "{up_delay}", queue = "{queue} limit {up_limit}" }}
down = {{ rate = "200Mbit", delay = "{up_delay}", queue = "fifo limit 1000p" }}
"""
