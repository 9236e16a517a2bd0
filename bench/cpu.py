#!/usr/bin/env python3
"""Processor time per GB of a download and an upload on loopback: fathom and its server, next to iperf3, curl
and cf-mach, and to the limit that AES sets on this processor (openssl speed).

  bench/cpu.py [GB]     needs iperf3, curl, openssl; cf-mach (`mach`) is compared if it is installed
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from common import FATHOM
from rpm import certificate

GB = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
OWN, WEB, IPERF = 3290, 8490, 5290
HTTPS, HTTP = f"https://127.0.0.1:{WEB}", f"http://127.0.0.1:{WEB}"
BYTES = int(GB * 1e9)


def cpu_s(pid):
    """Processor time of a running process, in s (proc_pid_stat(5))."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(server, command, moved_gb, env=None):
    """Server's and client's s per GB while `command` runs; `moved_gb` reads its output."""
    before_server, before = cpu_s(server.pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # On loopback the processor limits the load, so fathom gives no verdict (4).
    if done.returncode not in (0, 1, 4):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    used = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    gigabytes = moved_gb(done.stdout)
    return (cpu_s(server.pid) - before_server) / gigabytes, used / gigabytes, gigabytes


def start(ready, command):
    """Starts a server and waits until it prints a word. Its further output is discarded."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in server.stdout:
        if ready in line:
            threading.Thread(target=server.stdout.read, daemon=True).start()
            return server
    sys.exit(f"{' '.join(command)}: ended with {server.wait()}")


def delivered(output):
    loads = [phase["load"] for phase in json.loads(output)["phases"] if phase.get("load")]
    return sum(load["delivered_down_bytes"] + load["delivered_up_bytes"] for load in loads) / 1e9


def fathom(target, phase="down"):
    return [FATHOM, "test", target, "--json", "--no-save", "--phases", f"idle,{phase}", "--max-bytes", f"{GB:g}gb"]


def limit():
    """s per GB of AES-128-GCM alone, in records of TLS."""
    done = subprocess.run(["openssl", "speed", "-seconds", "2", "-bytes", "16384", "-evp", "aes-128-gcm"],
                          capture_output=True, text=True, check=True)
    return 1e9 / (float(done.stdout.split()[-1].rstrip("k")) * 1e3)


def main():
    with tempfile.TemporaryDirectory() as folder:
        authority, chain, key = certificate(folder, "127.0.0.1")
        own = start("Ctrl-C", [FATHOM, "serve", "--port", str(OWN), "--with", "web", "--web-port", str(WEB),
                     "--certificate", chain, "--key", key])
        iperf3 = start("listening", ["iperf3", "-s", "-p", str(IPERF), "--forceflush"])
        trust = {"SSL_CERT_FILE": authority}
        curl = lambda url, *flags: ["curl", "-s", "--cacert", authority, "-o", "/dev/null", "-w", "%{size_download}", *flags,
                                    f"{url}/__down?bytes={BYTES}"]
        sent = os.path.join(folder, "sent")
        with open(sent, "wb") as file:
            file.truncate(BYTES)
        curl_up = lambda url, *flags: ["curl", "-s", "--cacert", authority, "-o", "/dev/null", "-w", "%{size_upload}", *flags,
                                       "-T", sent, f"{url}/__up"]
        of_curl = lambda output: float(output) / 1e9
        of_iperf3 = lambda output: json.loads(output)["end"]["sum_received"]["bytes"] / 1e9
        rows = [
            ("iperf3 -R -P 4", iperf3, ["iperf3", "-c", "127.0.0.1", "-p", str(IPERF), "-R", "-P", "4", "-n", str(BYTES), "-J"], of_iperf3),
            ("fathom, own protocol", own, fathom(f"127.0.0.1:{OWN}"), delivered),
            ("fathom, HTTP/1.1", own, fathom(f"{HTTP}/__down?bytes={BYTES}"), delivered),
            ("fathom, HTTP/1.1, TLS", own, fathom(f"{HTTPS}/__down?bytes={BYTES}"), delivered),
            ("fathom, HTTP/2, TLS", own, fathom(f"{HTTPS}/"), delivered),
            ("curl, HTTP/1.1", own, curl(HTTP), of_curl),
            ("curl, HTTP/2, TLS", own, curl(HTTPS, "--http2"), of_curl),
        ]
        if shutil.which("mach"):
            whole = ["mach", "download", "--insecure", f"{HTTPS}/__down?bytes={BYTES}", "h2"]
            rows.append(("cf-mach, HTTP/2, TLS", own, whole, lambda _: GB))
        rows += [
            ("iperf3 -P 4, upload", iperf3, ["iperf3", "-c", "127.0.0.1", "-p", str(IPERF), "-P", "4", "-n", str(BYTES), "-J"], of_iperf3),
            ("fathom, own, upload", own, fathom(f"127.0.0.1:{OWN}", "up"), delivered),
            ("fathom, HTTP/1.1, upload", own, fathom(f"{HTTP}/", "up"), delivered),
            ("fathom, TLS, upload", own, fathom(f"{HTTPS}/", "up"), delivered),
            ("curl, HTTP/1.1, upload", own, curl_up(HTTP), of_curl),
            ("curl, HTTP/2, upload", own, curl_up(HTTPS, "--http2"), of_curl),
        ]
        print(f"{'client':26}{'server s/GB':>12}{'client s/GB':>12}{'GB':>8}")
        try:
            for name, server, command, moved in rows:
                at_server, at_client, gigabytes = measure(server, command, moved, trust)
                print(f"{name:26}{at_server:>12.2f}{at_client:>12.2f}{gigabytes:>8.1f}", flush=True)
        finally:
            for server in (own, iperf3):
                server.send_signal(signal.SIGTERM)
                server.wait(10)
    print(f"AES-128-GCM alone, each end: {limit():.2f} s/GB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
