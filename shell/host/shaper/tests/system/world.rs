//! A namespace with a router's interface `eth0`.
use crate::entry::{FOLDER, KILL_AT, KILL_WATCHDOG, SHAPER};
use fathom_os::netns::NetNs;
use fathom_shaper::{Framing, Place, ShapeRequest, ShaperKind, Transaction};
use fathom_test_support::new_namespace;
use fathom_units::Rate;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A namespace, and a directory for the state.
pub(crate) struct World {
    pub(crate) namespace: NetNs,
    pub(crate) folder: PathBuf,
}

impl World {
    /// Creates `eth0`, a veth that is up, and runs the commands in `setup`.
    pub(crate) fn new(setup: &[&str]) -> World {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("apply-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let namespace = new_namespace();
        let world = World { namespace, folder };
        let link = ["ip link add eth0 type veth peer name p0", "ip link set eth0 up", "ip link set p0 up"];
        link.iter().chain(setup).for_each(|command| drop(world.shell(command)));
        world
    }
    /// Runs `act` in the namespace.
    pub(crate) fn inside<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        inside(&self.namespace, act)
    }
    /// Applies a fix, which stays for at most a minute.
    pub(crate) fn applied(&self, request: &ShapeRequest) -> Transaction {
        self.inside(|| {
            let mut transaction = Transaction::begin(request, &self.place()).unwrap();
            transaction.apply(watchdog_command(&self.place()), Duration::from_secs(60)).unwrap();
            transaction
        })
    }
    /// Runs a command in the namespace; returns its output.
    pub(crate) fn shell(&self, command: &str) -> String {
        let run = || Command::new("sh").args(["-c", command]).output().unwrap();
        let output = self.inside(run);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
    pub(crate) fn place(&self) -> Place {
        Place::new(&self.folder, "eth0")
    }
    /// All qdiscs as `tc` shows them, and all interfaces, without the one counter that `tc` always
    /// shows.
    pub(crate) fn shown(&self) -> String {
        self.shell(
            "ip -o link | sed 's/ state .*//' | cut -d' ' -f2; tc qdisc show | sed 's/direct_packets_stat [0-9]*//'; tc class show dev eth0; \
             tc filter show dev eth0; tc filter show dev eth0 root; tc filter show dev eth0 ingress; \
             tc filter show dev eth0 egress; \
             for c in $(tc class show dev eth0 | cut -d' ' -f3); do tc filter show dev eth0 parent $c; done",
        )
    }
    /// Starts a process that applies a fix and is killed before request `at`; returns whether it
    /// was killed.
    pub(crate) fn killed_at(&self, kind: ShaperKind, at: usize, with_watchdog: bool) -> bool {
        let mut command = me("entry::fix", &self.place());
        command.env(SHAPER, kind.name()).env(KILL_AT, at.to_string());
        if with_watchdog {
            command.env(KILL_WATCHDOG, "1");
        }
        let status = self.inside(|| command.stdout(Stdio::null()).status().unwrap());
        status.code().is_none()
    }
    /// Waits until no trial is open; returns the duration.
    pub(crate) fn settled(&self) -> Duration {
        let begun = Instant::now();
        until("the end of the trial", || self.place().read().unwrap().is_none().then_some(()));
        begun.elapsed()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs `act` in a namespace.
pub(crate) fn inside<T: Send>(namespace: &NetNs, act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| {
            namespace.enter().unwrap();
            act()
        });
        inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Retries `look` until it returns a value.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the egress shaper is empty.
pub(crate) fn gone(transaction: &mut Transaction) {
    until("an empty queue", || {
        let up = transaction.look().unwrap().up.unwrap();
        (up.backlog_bytes == 0).then_some(())
    });
}

/// A command that runs this program at an entry point.
fn me(entry: &str, place: &Place) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([entry, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, &place.folder).env_remove(SHAPER).env_remove(KILL_AT).env_remove(KILL_WATCHDOG);
    command
}

pub(crate) fn watchdog_command(place: &Place) -> Command {
    let mut command = me("entry::watchdog", place);
    // The output of the test harness is not needed.
    command.stderr(Stdio::null());
    command
}

pub(crate) fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// A request for 8 Mbit/s egress and 30 Mbit/s ingress.
pub(crate) fn request(kind: Option<ShaperKind>) -> ShapeRequest {
    ShapeRequest {
        device: "eth0".into(),
        up: Some(mbit(8)),
        down: Some(mbit(30)),
        shaper: kind,
        framing: Framing::default(),
        round_trip: None,
    }
}

/// Possible earlier configurations of an interface.
pub(crate) const BEFORE: &[(&str, &[&str])] = &[
    ("the kernel's own queue", &[]),
    ("a short queue with a name", &["tc qdisc add dev eth0 root handle 5: pfifo limit 77"]),
    (
        "a size table",
        &["tc qdisc add dev eth0 root handle 5: stab overhead 22 linklayer ethernet bfifo limit 9999"],
    ),
    ("a token bucket", &["tc qdisc add dev eth0 root tbf rate 17mbit burst 5k latency 33ms"]),
    (
        "a token bucket with an inner queue",
        &[
            "tc qdisc add dev eth0 root handle 1: tbf rate 17mbit burst 5k latency 33ms peakrate 50mbit mtu 2000",
            "tc qdisc add dev eth0 parent 1:1 handle 2: pfifo limit 33",
        ],
    ),
    (
        "classes, leaves and filters",
        &[
            "tc qdisc add dev eth0 root handle 1: htb default 0x30 r2q 7 direct_qlen 55",
            "tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit burst 15k",
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit ceil 20mbit prio 1 overhead 18 mpu 64",
            "tc class add dev eth0 parent 1:1 classid 1:30 htb rate 148kbit ceil 50gbit linklayer atm quantum 2000",
            "tc qdisc add dev eth0 parent 1:10 handle 10: bfifo limit 30000",
            "tc qdisc add dev eth0 parent 1:30 handle 30: tbf rate 3mbit burst 3000 limit 20000",
            "tc filter add dev eth0 parent 1: protocol ip prio 5 u32 match ip dport 53 0xffff flowid 1:10",
            "tc filter add dev eth0 parent 1: protocol ipv6 prio 3 u32 match ip6 dst fd00::/64 flowid 1:30",
            "tc filter add dev eth0 parent 1: protocol all prio 9 bpf bytecode '4,48 0 0 4294963200,21 0 1 2048,6 0 0 65552,6 0 0 0' flowid 1:10",
            "tc filter add dev eth0 parent 1:1 protocol all prio 2 u32 match u32 0 0 flowid 1:30",
        ],
    ),
    (
        "a hash of filters",
        &[
            "tc qdisc add dev eth0 root handle 1: htb default 1",
            "tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit",
            "tc filter add dev eth0 parent 1: prio 5 protocol ip u32",
            "tc filter add dev eth0 parent 1: protocol ip prio 5 handle 2: u32 divisor 4",
            "tc filter add dev eth0 parent 1: protocol ip prio 5 u32 ht 2:1: match ip dst 10.0.0.1 flowid 1:1",
            "tc filter add dev eth0 parent 1: protocol ip prio 5 u32 ht 800:: match ip dst 10.0.0.0/24 hashkey mask 0x3 at 16 link 2:",
        ],
    ),
    (
        "filters of what arrives",
        &[
            "ip link add ifb-other type ifb",
            "tc qdisc add dev eth0 ingress",
            "tc filter add dev eth0 parent ffff: protocol ip prio 7 u32 match ip protocol 1 0xff action mirred egress mirror dev ifb-other",
        ],
    ),
    (
        "both hooks",
        &[
            "tc qdisc add dev eth0 clsact",
            "tc filter add dev eth0 egress protocol ip prio 7 u32 match u32 0 0 flowid 1:1",
        ],
    ),
    (
        "a queue on each of the hardware's",
        &[
            "ip link del eth0",
            "ip link add name eth0 numtxqueues 3 type veth peer name p0",
            "ip link set eth0 up; ip link set p0 up",
            "tc qdisc add dev eth0 root handle 6: mq",
            "tc qdisc add dev eth0 parent 6:1 handle 61: bfifo limit 30000",
            "tc qdisc add dev eth0 parent 6:3 handle 63: tbf rate 3mbit burst 3000 limit 20000",
        ],
    ),
    ("an ifb that has our name", &["ip link add ifb-eth0 type ifb"]),
];
