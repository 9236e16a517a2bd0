#!/usr/bin/env python3
"""Whether fathom finds the queue: paths of 3 to 8 Linux routers in network namespaces, with tbf at
one or two of their interfaces, and the default limits of ICMP errors (icmp_ratelimit).

For each path, `fathom test` runs over it, and its findings are compared with where the queues are.
A claim is right if it has the right direction and its two hops enclose the queue; the table says
how many of the hops it leaves open. The sizes of buffers that TCP filled are compared with the
limits of tbf. Needs root, iproute2 and nftables.

Usage: bench/paths.py [--fathom target/release/fathom] [--seed 1] [--paths 60] [--only KIND] [--jobs 2]
"""
import argparse
import concurrent.futures
import json
import os
import random
import signal
import statistics
import subprocess
import tempfile
import threading

# Kinds of paths, in turn.
KINDS = ("one", "slow", "two", "silent", "no echo", "rare", "balanced", "asymmetric", "idle", "one", "ipv6", "wifi",
         "icmp loss", "fair", "fair6")
# Interval at which the rate of a link like Wi-Fi changes, in seconds.
WIFI_EVERY = 0.1
TEST = "--phases idle,down,up,drain --no-progress"


def run(command, **options):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


class Path:
    """client -- router 1 -- ... -- router N -- server. Link i leads from node i to node i + 1; node
    0 is the client, node N + 1 the server.
    """

    def __init__(self, number, kind, dice):
        self.kind, self.dice = kind, dice
        self.is_ipv6 = kind in ("ipv6", "fair6")
        self.routers = dice.randint(3, 8)
        self.tag = f"fp{os.getpid() % 10000}-{number}"
        self.names = [f"{self.tag}-{node}" for node in range(self.routers + 2)]
        self.extra = []
        self.rate_bps = int(200_000 * 10 ** dice.uniform(0, 2))
        self.queues = self.draw_queues()

    def draw_queues(self):
        """(direction, link, rate, limit in bytes) of each queue."""
        if self.kind == "idle":
            return []
        draw = lambda rate: int(rate / 8 * self.dice.uniform(0.1, 1.0))
        direction = self.dice.choice(("up", "down"))
        # The first link of an upload is the client's own interface.
        links = list(range(1, self.routers + 1)) if self.kind == "asymmetric" else list(range(self.routers + 1))
        if self.kind != "two":
            return [(direction, self.dice.choice(links), self.rate_bps, draw(self.rate_bps))]
        # One in each direction. In the same direction, the queue of the slower link would hold all.
        near, far = sorted(self.dice.sample(links, 2))
        other = "up" if direction == "down" else "down"
        return [(way, link, self.rate_bps, draw(self.rate_bps)) for way, link in ((direction, near), (other, far))]

    def address(self, link, end):
        """Of the near (0) or far (1) end of a link."""
        if self.is_ipv6:
            return f"2001:db8:{link}::{1 + (end if link else 1 - end)}"
        net = "192.168.1" if link == 0 else f"100.64.{link}" if link == 1 else f"198.51.{link}"
        return f"{net}.{1 + (end if link else 1 - end)}"

    def build(self):
        for name in self.names:
            run(f"ip netns add {name}; ip -n {name} link set lo up")
        for link in range(self.routers + 1):
            near, far = self.names[link], self.names[link + 1]
            run(f"ip -n {near} link add far type veth peer name near netns {far}")
            for name, device, end in ((near, "far", 0), (far, "near", 1)):
                length = "64 nodad" if self.is_ipv6 else 24
                run(f"ip -n {name} addr add {self.address(link, end)}/{length} dev {device}; ip -n {name} link set {device} up")
        for node, name in enumerate(self.names):
            if node <= self.routers:
                congestion = " congctl cubic" if node == 0 else ""
                run(f"ip -n {name} route add default via {self.address(node, 1)}{congestion}")
            for link in range(node - 1):
                net = f"2001:db8:{link}::/64" if self.is_ipv6 else self.address(link, 0).rsplit(".", 1)[0] + ".0/24"
                congestion = " congctl cubic" if node == self.routers + 1 else ""
                run(f"ip -n {name} route add {net} via {self.address(node - 1, 0)}{congestion}")
            run(f"ip netns exec {name} sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0")
        for direction, link, rate, limit in self.queues:
            name, device = (self.names[link], "far") if direction == "up" else (self.names[link + 1], "near")
            if self.kind in ("fair", "fair6"):
                self.fair_queue(name, device, rate, limit)
            else:
                run(f"tc -n {name} qdisc replace dev {device} root tbf rate {rate}bit burst 3200 limit {limit}")
        self.disturb()

    def disturb(self):
        routers = self.names[1:-1]
        if self.kind == "silent":
            # What a router sends itself is dropped; what it forwards is not.
            for node in self.dice.sample(range(1, self.routers + 1), self.dice.randint(1, max(1, self.routers // 2))):
                run(f"ip -n {self.names[node]} rule add iif lo priority 10 blackhole; "
                    f"ip -n {self.names[node]} rule add priority 20 lookup local; ip -n {self.names[node]} rule del priority 0")
        elif self.kind == "no echo":
            for name in routers:
                run(f"ip netns exec {name} sysctl -qw net.ipv4.icmp_echo_ignore_all=1")
        elif self.kind == "rare":
            for name in self.dice.sample(routers, 2):
                run(f"ip netns exec {name} sysctl -qw net.ipv4.icmp_ratelimit=3000 net.ipv4.icmp_echo_ignore_all=1")
        elif self.kind == "slow":
            self.slow_replies(self.dice.randint(1, self.routers))
        elif self.kind == "icmp loss":
            # Forwarded ICMP is lost at random, as by a router that limits it; TCP and UDP are not.
            for name in self.dice.sample(routers, 2):
                share = self.dice.randint(10, 50)
                run(f"ip netns exec {name} nft add table ip bench; ip netns exec {name} nft add chain ip bench lossy "
                    f"'{{ type filter hook forward priority 0; }}'; ip netns exec {name} nft add rule ip bench lossy "
                    f"ip protocol icmp numgen random mod 100 '<' {share} drop")
        elif self.kind == "balanced":
            self.second_way(self.dice.randint(1, self.routers - 1), balanced=True)
        elif self.kind == "asymmetric":
            self.second_way(self.dice.randint(1, self.routers - 1), balanced=False)

    def fair_queue(self, name, device, rate, limit):
        """A FIFO for each of 16 groups of ports, and one for all else, with equal shares of the rate."""
        run(f"tc -n {name} qdisc replace dev {device} root handle 1: htb default 100; "
            f"tc -n {name} class add dev {device} parent 1: classid 1:1 htb rate {rate}bit burst 3200 cburst 3200")
        for group in [*range(16), 256 - 16]:
            minor = f"{16 + group:x}" if group < 16 else "100"
            run(f"tc -n {name} class add dev {device} parent 1:1 classid 1:{minor} htb rate {rate // 17}bit ceil {rate}bit "
                f"burst 1600 cburst 1600 quantum 1514; tc -n {name} qdisc add dev {device} parent 1:{minor} bfifo limit {limit}")
        for group in range(16):
            # The port of this host: of the source in uploads, of the destination in downloads.
            ip, header = ("ipv6 u32 match ip6", 40) if self.kind == "fair6" else ("ip u32 match ip", 20)
            offset = header if device == "far" else header + 2
            run(f"tc -n {name} filter add dev {device} parent 1: protocol {ip} protocol 6 0xff "
                f"match u16 0x{group:04x} 0x000f at {offset} flowid 1:{16 + group:x}")

    def vary(self, stop):
        """Changes the rate of the first link while the test runs: it is faster than the queue, or has it."""
        has_queue = {direction for direction, link, _, _ in self.queues if link == 0}
        while not stop.wait(WIFI_EVERY):
            for direction, name, device in (("up", self.names[0], "far"), ("down", self.names[1], "near")):
                low, high = (0.7, 1.3) if direction in has_queue else (1.5, 8.0)
                rate = int(self.rate_bps * self.dice.uniform(low, high))
                limit = self.queues[0][3] if direction in has_queue else 100_000
                run(f"tc -n {name} qdisc replace dev {device} root tbf rate {rate}bit burst 3200 limit {limit}")

    def add_router(self, suffix, first, second):
        """A router between two (namespace, device) ends; its devices are near and far."""
        name = f"{self.tag}-{suffix}"
        self.extra.append(name)
        run(f"ip netns add {name}; ip -n {name} link set lo up")
        for (owner, device), own, net in ((first, "near", "203.0.113"), (second, "far", "203.0.112")):
            run(f"ip -n {owner} link add {device} type veth peer name {own} netns {name}")
            for at, link, last in ((owner, device, 1), (name, own, 2)):
                run(f"ip -n {at} addr add {net}.{last}/24 dev {link}; ip -n {at} link set {link} up")
        run(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.near.rp_filter=0")
        run(f"ip -n {name} route add default via 203.0.112.1")
        return name

    def slow_replies(self, node):
        """What router `node` sends itself takes a detour that carries 16 kbit/s."""
        router = self.names[node]
        self.add_router("y", (router, "out"), (router, "back"))
        run(f"ip -n {router} route add default via 203.0.113.2 src {self.address(node - 1, 1)} table 100")
        run(f"ip -n {router} rule add iif lo priority 10 lookup 100")
        run(f"tc -n {router} qdisc add dev out root tbf rate 16kbit burst 1600 limit 4000")

    def second_way(self, node, balanced):
        """A second router next to router `node` + 1: for half of the flows, or for the way back."""
        near, far = self.names[node], self.names[node + 2]
        name = self.add_router("x", (near, "xfar"), (far, "xnear"))
        nets = [self.address(link, 0).rsplit(".", 1)[0] for link in range(node)]
        for net in nets:
            run(f"ip -n {name} route add {net}.0/24 via 203.0.113.1")
        if balanced:
            run(f"ip netns exec {near} sysctl -qw net.ipv4.fib_multipath_hash_policy=1")
            run(f"ip -n {near} route replace default nexthop via {self.address(node, 1)} nexthop via 203.0.113.2")
        else:
            for net in nets:
                run(f"ip -n {far} route replace {net}.0/24 via 203.0.112.2")

    def destroy(self):
        for name in self.names + self.extra:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def test(self, fathom):
        server = subprocess.Popen(
            ["ip", "netns", "exec", self.names[-1], fathom, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            # It listens before it prints its first line.
            server.stderr.readline()
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "run.json")
                address = self.address(self.routers, 1)
                # Its exit code says whether the line is bloated.
                command = f"ip netns exec {self.names[0]} {fathom} test {address} {TEST} -o {file}"
                stop = threading.Event()
                changes = threading.Thread(target=self.vary, args=(stop,)) if self.kind == "wifi" else None
                if changes:
                    changes.start()
                try:
                    done = subprocess.run(command.split(), capture_output=True, text=True, timeout=180)
                finally:
                    stop.set()
                    if changes:
                        changes.join()
                if not os.path.exists(file):
                    raise RuntimeError(done.stderr.strip())
                report = subprocess.run([fathom, "report", file, "--json"], capture_output=True, text=True)
                return json.loads(report.stdout)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(10)

    def truth(self):
        return [{"direction": direction, "link": link} for direction, link, _, _ in self.queues]


def judge(path, result):
    """(claims, right, unclaimed queues) as lists of text."""
    located = [f for f in result["findings"] if f["kind"] == "queue_location"]
    queues, right, wrong = path.truth(), [], []
    # A direction without another queue waits at the link that is like Wi-Fi, but maybe not long.
    others = {"up", "down"} - {q["direction"] for q in queues} if path.kind == "wifi" else set()
    for finding in located:
        parameters = finding["parameters"]
        near, far = parameters["near_hop"], parameters["far_hop"]
        text = f"{finding['direction']} {near}-{far} {parameters.get('place', '-')}"
        fits = [q for q in queues if q["direction"] == finding["direction"] and near <= q["link"] and q["link"] + 1 <= far]
        if fits:
            queues.remove(fits[0])
        is_wifi = finding["direction"] in others and near == 0
        (right if fits or is_wifi else wrong).append(text)
    return right, wrong, [f"{q['direction']} {q['link']}-{q['link'] + 1}" for q in queues]


def sizes(path, result):
    """Relative errors of the sizes that are no bounds. A queue of tbf counts Ethernet headers."""
    of = {f["direction"]: f["parameters"] for f in result["findings"] if f["kind"] == "buffer_size"}
    found = [(of[d], limit) for d, _, _, limit in path.queues if d in of and not path.kind.startswith("fair")]
    return [size["ethernet_bytes"] / limit - 1 for size, limit in found if not size["is_lower_bound"]]


def one(number, kind, seed, fathom, keep):
    path = Path(number, kind, random.Random(f"{seed}:{number}"))
    try:
        path.build()
        result = path.test(fathom)
    finally:
        path.destroy()
    if keep:
        with open(os.path.join(keep, f"{seed}-{number}.json"), "w") as file:
            json.dump(result, file)
    return path, judge(path, result), sizes(path, result)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fathom", default="target/release/fathom")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--paths", type=int, default=60)
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the result files")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    kinds = [(n, KINDS[n % len(KINDS)]) for n in range(options.paths)]
    kinds = [(n, kind) for n, kind in kinds if options.only in (None, kind, str(n))]
    print(f"{'path':4}  {'kind':10}  routers  {'queues':20}  {'right':38}  {'wrong':20}  not claimed")
    totals, errors = [0, 0, 0], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(one, n, kind, options.seed, os.path.abspath(options.fathom), options.keep) for n, kind in kinds]
        for (number, kind), job in zip(kinds, jobs):
            try:
                path, (right, wrong, missing), of_sizes = job.result()
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{number:4}  {kind:10}  {error}")
                continue
            queues = ", ".join(f"{d} {l}-{l + 1}" for d, l, _, _ in path.queues)
            print(f"{number:4}  {kind:10}  {path.routers:7}  {queues:20}  {', '.join(right):38}  {', '.join(wrong):20}  {', '.join(missing)}".rstrip(), flush=True)
            totals = [t + len(x) for t, x in zip(totals, (right, wrong, missing))]
            errors += of_sizes
    right, wrong, missing = totals
    print(f"claims right: {right} of {right + wrong}; queues found: {right} of {right + missing}")
    near = sum(abs(error) <= 0.03 for error in errors)
    if errors:
        print(f"sizes by TCP within 3 %: {near} of {len(errors)}, median {100 * statistics.median(errors):+.1f} %, "
              f"{100 * min(errors):+.1f} to {100 * max(errors):+.1f} %")


if __name__ == "__main__":
    main()
