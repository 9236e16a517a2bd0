#!/usr/bin/env python3
"""Kills `fathom watch`, `fix`, `serve` and `lab` with SIGKILL at random moments, 200 times each, and
fills the disk of a history 20 times.

What must hold after each kill:
  watch  the history is undamaged (`fathom watch verify`), and has all probes up to 11 s before
  fix    the queues of the interface are as before, as `tc` shows them
  serve  a new server gets the port at once, and opens a session
  lab    no process, interface or namespace is left

  bench/kills.py [--times N]     as root; prints the seed; exit code 1 if anything is wrong
"""
import argparse
import glob
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from common import FATHOM

# Seconds of a watch that a kill may lose: samples are written every 10 s, checked each second.
WATCH_LOSS_S = 11


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def kill_after(process, seconds):
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def watch(folder, rng, times):
    """One history for all kills: damage would add up."""
    config, store = f"{folder}/watch.toml", f"{folder}/store"
    with open(config, "w") as file:
        file.write(f'[watch]\nstore = "{store}"\nlisten = "127.0.0.1:0"\n')
        for number in range(1, 21):
            file.write(f'[[target]]\nname = "{number}"\nhost = "127.0.0.{number}"\ninterval = "100ms"\n')
    wrong, most_lost = [], 0.0
    for _ in range(times):
        began = time.time()
        process = subprocess.Popen([FATHOM, "watch", config], stderr=subprocess.DEVNULL)
        # Some die while opening the history, some after a regular write at 10 s.
        kill_after(process, rng.choice([rng.uniform(0, 0.4), rng.uniform(0.3, 2.0), rng.uniform(9.5, 11.5) if rng.random() < 0.15 else 1.0]))
        ended = time.time()
        done = subprocess.run([FATHOM, "watch", "verify", config], capture_output=True, text=True)
        if not os.path.exists(f"{store}/history.db"):
            # It was killed before it began.
            continue
        if done.returncode:
            wrong.append(f"verify: {done.stdout} {done.stderr}")
            continue
        export = [FATHOM, "watch", "export", config, "--from", f"{int(ended - began) + 2}s", "--target", "1"]
        # Fails while the target has no probe.
        text = subprocess.run(export, capture_output=True, text=True).stdout
        last = max((int(line.split(",")[2]) for line in text.splitlines()[1:]), default=0) / 1e3
        lost = ended - max(last, began)
        most_lost = max(most_lost, lost)
        if lost > WATCH_LOSS_S + 1:
            wrong.append(f"{lost:.1f} s are lost")
    return wrong, f"at most {most_lost:.1f} s lost"


def fix(folder, rng, times):
    """On a veth pair in a namespace, over an earlier queue."""
    namespace, state = f"kills-{os.getpid()}", f"{folder}/state"
    inside = ["ip", "netns", "exec", namespace]
    output("ip", "netns", "add", namespace)
    wrong, longest = [], 0.0
    try:
        output("ip", "-n", namespace, "link", "add", "line", "type", "veth", "peer", "name", "peer")
        for name in ("line", "peer"):
            output("ip", "-n", namespace, "link", "set", name, "up")
        output(*inside, "tc", "qdisc", "add", "dev", "line", "root", "handle", "5:", "pfifo", "limit", "77")
        shown = lambda: output(*inside, "tc", "qdisc", "show") + output(*inside, "ip", "-o", "link").replace("\\", "")
        before = shown()
        command = [*inside, FATHOM, "fix", "line", "--up", "8mbit", "--down", "30mbit", "--state", state, "--keep-for", "60s"]
        for _ in range(times):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            kill_after(process, rng.uniform(0, 0.5))
            began = time.monotonic()
            while shown() != before and time.monotonic() - began < 5:
                time.sleep(0.01)
            longest = max(longest, time.monotonic() - began)
            if shown() != before:
                wrong.append(f"not restored:\n{shown()}instead of\n{before}")
                subprocess.run([*inside, FATHOM, "fix", "--undo", "line", "--state", state])
    finally:
        output("ip", "netns", "del", namespace)
    return wrong, f"restored within {longest:.2f} s"


def session(port):
    with socket.create_connection(("127.0.0.1", port), 5) as control:
        control.sendall(b"FATHOM/1 CONTROL\n")
        return b'"hello"' in control.recv(4096)


def serve(_, rng, times):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    wrong, longest = [], 0.0
    start = lambda: subprocess.Popen(
        [FATHOM, "serve", "--listen", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    for _ in range(times):
        began = time.monotonic()
        process = start()
        line = process.stderr.readline().decode()
        if "ready" not in line or not session(port):
            wrong.append(line)
        longest = max(longest, time.monotonic() - began)
        # With a load flow in progress.
        control = socket.create_connection(("127.0.0.1", port), 5)
        control.sendall(b"FATHOM/1 CONTROL\n")
        identifier = control.recv(4096).decode().split('"session":"')[1][:32]
        flow = socket.create_connection(("127.0.0.1", port), 5)
        flow.sendall(f"FATHOM/1 FLOW {identifier} 1 down -\n".encode())
        kill_after(process, rng.uniform(0, 0.1))
        process.stderr.close()
        control.close()
        flow.close()
    return wrong, f"serves {longest:.2f} s after its start"


def lab(_, rng, times):
    wrong, longest = [], 0.0
    mark = f"3{os.getpid()}"
    left = lambda: [path for path in glob.glob("/proc/[0-9]*/cmdline") if is_marked(path, mark)]
    links, spaces = output("ip", "-o", "link"), output("ip", "netns", "list")
    for _ in range(times):
        process = subprocess.Popen(
            [FATHOM, "lab", "--line", "dsl", "--", "sleep", mark], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        kill_after(process, rng.uniform(0, 0.8))
        began = time.monotonic()
        while left() and time.monotonic() - began < 5:
            time.sleep(0.01)
        longest = max(longest, time.monotonic() - began)
        if left():
            wrong.append(f"processes are left: {left()}")
    if (output("ip", "-o", "link"), output("ip", "netns", "list")) != (links, spaces):
        wrong.append("interfaces or namespaces are left")
    return wrong, f"nothing left after {longest:.2f} s"


def is_marked(path, mark):
    try:
        with open(path, "rb") as file:
            return mark.encode() in file.read().split(b"\0")
    except OSError:
        return False


def disk_full(folder, _, times):
    """The example of the tests, in virtual time on a small disk of its own."""
    program = os.environ.get("HISTORY_CHILD", "target/debug/examples/history_child")
    wrong, disk = [], f"{folder}/disk"
    os.mkdir(disk)
    for number in range(times):
        size, child = (("12m", "small-disk"), ("7m", "disk-without-room"))[number % 2]
        script = f'mount -t tmpfs -o size={size} none "$1" && exec "$0" {child} "$1"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, program, disk], capture_output=True, text=True)
        if done.returncode:
            wrong.append(done.stderr[-500:])
    return wrong, "nothing lost that memory could hold"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print(f"seed {args.seed}")
    failed = False
    for fault, times in ((serve, args.times), (fix, args.times), (lab, args.times), (watch, args.times), (disk_full, max(1, args.times // 10))):
        folder = tempfile.mkdtemp()
        try:
            wrong, note = fault(folder, rng, times)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        failed |= bool(wrong)
        print(f"{fault.__name__.replace('_', ' '):10}{times:>5} times{len(wrong):>4} wrong   {note}", flush=True)
        for one in wrong[:3]:
            print(f"  {one}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
