//! What this machine can measure: each ability is tried, not guessed.
use fathom_diagnose::Diagnosis;
use fathom_os::distribution::{Wanted, install_command};
use fathom_os::echo::{ALLOW_ECHO, EchoSocketError, echo_socket};
use fathom_os::error::without_code;
use fathom_os::netns::NetNs;
use fathom_os::raw::FlowSockets;
use fathom_os::ring::Ring;
use fathom_os::socket::congestion_controls;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_os::tun::Tun;
use fathom_os::{ethtool, files, link, userns};
use fathom_report::{Ability, Check, CommandDocument, command_document};
use fathom_shaper::{Abilities, ShaperKind};
use fathom_text::rate;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// What was found.
#[derive(Debug)]
pub struct Machine {
    /// Its kernel, processor and number of CPUs.
    pub name: String,
    /// What it can and cannot do.
    pub checks: Vec<Check>,
}

/// Tries everything, in about two seconds. Sends a TCP load through the loopback interface.
///
/// Enters a user namespace if this process has no privileges, so it must be the only thread.
#[must_use]
pub fn examine() -> Machine {
    let is_privileged = userns::is_privileged();
    let mut checks = vec![
        time_stamps(),
        timer(),
        load(),
        icmp(),
        raw(
            "raw sockets",
            "path, ecn, test",
            FlowSockets::open(None, LOOPBACK).map_err(|error| error.kind()),
        ),
        raw("packet capture", "trace, buffer", Ring::open("lo", SNAPLEN).map_err(|error| error.kind())),
        congestion(),
        open_files(),
    ];
    // From here on, this process may be in a namespace.
    let namespaces = namespaces();
    checks.extend([emulation(namespaces.clone()), shaping(namespaces, is_privileged)]);
    Machine { name: name(), checks }
}

/// The JSON document of a machine.
#[must_use]
pub fn document(machine: &Machine) -> CommandDocument {
    let data = serde_json::json!({ "machine": machine.name, "checks": machine.checks });
    let headline = fathom_report::doctor_headline(&machine.checks);
    command_document("doctor", headline, &Diagnosis::default(), ("doctor", data))
}

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn name() -> String {
    let host = fathom_client::host();
    let kernel = Some(host.kernel).filter(|kernel| !kernel.trim().is_empty());
    let kernel = kernel.unwrap_or_else(|| "unknown kernel".to_owned());
    let cpus = fathom_text::counted(host.cpus.into(), "CPU", "CPUs");
    format!("{kernel}, {}, {cpus}", std::env::consts::ARCH)
}

/// Whether this process may create network namespaces, or why it may not.
fn namespaces() -> Result<(), String> {
    if !Path::new("/proc/self").exists() {
        return Err("no /proc".to_owned());
    }
    userns::become_root().map_err(|error| error.to_string())
}

fn check(name: &'static str, commands: &'static str, ability: Ability, found: impl Into<String>) -> Check {
    Check { name, commands, ability, found: found.into(), enable: None }
}

/// Datagrams until one must have a timestamp, and the time between them.
const STAMP_TRIES: usize = 20;
const STAMP_PAUSE: Duration = Duration::from_millis(10);

/// Whether the kernel says when a datagram arrived: the time that this program needs to notice it
/// does not count as delay then.
fn time_stamps() -> Check {
    const NAME: &str = "kernel timestamps";
    const COMMANDS: &str = "test, ping, serve";
    let stamp = || -> io::Result<bool> {
        let socket = UdpSocket::bind((LOOPBACK, 0))?;
        enable(socket.as_fd(), Stamping::Arrivals)?;
        socket.set_read_timeout(Some(Duration::from_secs(1)))?;
        // The kernel begins a little after the first socket asks for timestamps.
        for _ in 0..STAMP_TRIES {
            socket.send_to(&[0], socket.local_addr()?)?;
            socket.peek(&mut [0])?;
            if receive(socket.as_fd(), &mut [0])?.stamp.is_some() {
                return Ok(true);
            }
            std::thread::sleep(STAMP_PAUSE);
        }
        Ok(false)
    };
    match stamp() {
        Ok(true) => check(NAME, COMMANDS, Ability::Yes, "of each arriving datagram"),
        Ok(false) => {
            check(NAME, COMMANDS, Ability::Partly, "none: delays include the time to notice a datagram")
        }
        Err(error) => check(
            NAME,
            COMMANDS,
            Ability::Partly,
            format!("none ({}): delays include the time to notice a datagram", without_code(&error)),
        ),
    }
}

/// Waits that show how late this host wakes a program.
const WAITS: usize = 200;
const WAIT: Duration = Duration::from_millis(1);
/// Lateness that disturbs a measurement: as much as delays that it shall tell apart.
const LATE_S: f64 = 0.002;

fn timer() -> Check {
    let late = |_| {
        let start = Instant::now();
        std::thread::sleep(WAIT);
        start.elapsed().saturating_sub(WAIT).as_secs_f64()
    };
    let mut late_s: Vec<f64> = (0..WAITS).map(late).collect();
    let p99 = fathom_stats::percentile(&mut late_s, 0.99).unwrap_or_default();
    let ability = if p99 <= LATE_S { Ability::Yes } else { Ability::Partly };
    let found = format!("waits of 1 ms end {:.2} ms late (p99)", p99 * 1e3);
    let busy = (ability == Ability::Partly)
        .then(|| "end other programs, or give this machine more CPU time".to_owned());
    Check { enable: busy, ..check("timer", "test, ping, watch", ability, found) }
}

/// Bytes of each packet of the capture that is tried.
const SNAPLEN: u32 = 128;
/// Time of the load.
const LOAD: Duration = Duration::from_millis(700);
/// What a client of the same speed needs for a load, compared with both ends of a load here.
const HEADROOM: f64 = 2.0;

fn load() -> Check {
    const NAME: &str = "CPU for load";
    const COMMANDS: &str = "test, serve";
    let fastest = link::links().unwrap_or_default().into_iter().filter(|link| link.is_up && link.has_carrier);
    let fastest = fastest.filter_map(|link| Some((ethtool::speed_mbit(&link.name)?, link.name))).max();
    match loopback_load() {
        Err(error) => check(
            NAME,
            COMMANDS,
            Ability::No,
            format!("no TCP on the loopback interface: {}", without_code(&error)),
        ),
        Ok(bits_per_second) => {
            let own = format!("{} of TCP between two programs here", rate(bits_per_second));
            match fastest {
                Some((mbit, name)) if bits_per_second < HEADROOM * f64::from(mbit) * 1e6 => {
                    let found =
                        format!("{own}: too little for the {} of {name}", rate(f64::from(mbit) * 1e6));
                    check(NAME, COMMANDS, Ability::Partly, found)
                }
                Some((mbit, name)) => check(
                    NAME,
                    COMMANDS,
                    Ability::Yes,
                    format!("{own}; {name} has {}", rate(f64::from(mbit) * 1e6)),
                ),
                None => check(NAME, COMMANDS, Ability::Yes, own),
            }
        }
    }
}

/// The rate of one TCP connection of this host with itself.
fn loopback_load() -> io::Result<f64> {
    let listener = TcpListener::bind((LOOPBACK, 0))?;
    let mut sending = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiving, _) = listener.accept()?;
    sending.set_write_timeout(Some(LOAD))?;
    receiving.set_read_timeout(Some(LOAD))?;
    let start = Instant::now();
    let sender = std::thread::spawn(move || {
        let block = vec![0; 256 << 10];
        while start.elapsed() < LOAD && sending.write_all(&block).is_ok() {}
    });
    let received = io::copy(&mut receiving, &mut io::sink());
    let seconds = start.elapsed().as_secs_f64();
    // Without this end, the sender ends too. No other thread may run when a namespace is entered.
    drop(receiving);
    let _ = sender.join();
    Ok(received? as f64 * 8.0 / seconds)
}

fn icmp() -> Check {
    const NAME: &str = "ICMP echo";
    const COMMANDS: &str = "ping, path, watch";
    let works = |v6: bool| match echo_socket(v6) {
        Ok(_) => Ok(()),
        Err(EchoSocketError::NotPermitted) => Err(true),
        Err(EchoSocketError::Io(_)) => Err(false),
    };
    match (works(false), works(true)) {
        (Ok(()), Ok(())) => check(NAME, COMMANDS, Ability::Yes, "IPv4 and IPv6"),
        (Ok(()), Err(_)) => check(NAME, COMMANDS, Ability::Yes, "IPv4; this machine has no IPv6"),
        (Err(_), Ok(())) => check(NAME, COMMANDS, Ability::Yes, "IPv6; this machine has no IPv4"),
        (Err(is_refused), Err(_)) if is_refused => Check {
            enable: Some(format!("sudo {ALLOW_ECHO}")),
            ..check(NAME, COMMANDS, Ability::No, "not permitted")
        },
        (Err(_), Err(_)) => check(NAME, COMMANDS, Ability::No, "this machine has no ICMP sockets"),
    }
}

/// What needs CAP_NET_RAW.
fn raw<T>(name: &'static str, commands: &'static str, opened: Result<T, ErrorKind>) -> Check {
    match opened {
        Ok(_) => check(name, commands, Ability::Yes, "permitted"),
        Err(ErrorKind::PermissionDenied) => {
            let program =
                std::env::current_exe().map_or_else(|_| "fathom".into(), |path| path.display().to_string());
            let enable = Some(format!("sudo setcap cap_net_raw+ep {program}"));
            Check { enable, ..check(name, commands, Ability::No, "not permitted") }
        }
        Err(other) => check(name, commands, Ability::No, format!("the kernel refuses them: {other}")),
    }
}

fn congestion() -> Check {
    let usable = congestion_controls();
    let ability = if usable.is_empty() { Ability::No } else { Ability::Yes };
    check("congestion controls", "test, serve", ability, usable.join(", "))
}

/// Descriptors that a server or a watch needs at least for many clients and targets.
const MANY_FILES: u64 = 4096;

fn open_files() -> Check {
    const NAME: &str = "open files";
    const COMMANDS: &str = "serve, watch";
    match files::raise_limit() {
        Ok(limit) if limit >= MANY_FILES => check(NAME, COMMANDS, Ability::Yes, format!("up to {limit}")),
        Ok(limit) => {
            let enable = Some("ulimit -Hn 65536 as root".to_owned());
            Check { enable, ..check(NAME, COMMANDS, Ability::Partly, format!("only {limit}")) }
        }
        Err(error) => check(NAME, COMMANDS, Ability::Partly, format!("the limit cannot be raised: {error}")),
    }
}

/// Network namespaces with a TUN device.
fn emulation(namespaces: Result<(), String>) -> Check {
    const NAME: &str = "emulated lines";
    const COMMANDS: &str = "demo, lab, --line";
    let works = || -> Result<(), String> {
        namespaces?;
        let namespace = NetNs::create().map_err(|error| userns::explain(error).to_string())?;
        let inside = std::thread::spawn(move || {
            namespace.enter().map_err(|error| error.to_string())?;
            Tun::create("fathom0").map(drop).map_err(|error| error.to_string())
        });
        inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    match works() {
        Ok(()) => check(NAME, COMMANDS, Ability::Yes, "network namespaces and TUN"),
        Err(reason) => check(NAME, COMMANDS, Ability::No, reason),
    }
}

/// Shapers of the kernel, and whether this user may set one.
fn shaping(namespaces: Result<(), String>, is_privileged: bool) -> Check {
    const NAME: &str = "shaping";
    const COMMANDS: &str = "fix";
    // Shapers are tried in a namespace.
    let probed = namespaces.and_then(|()| Abilities::probe().map_err(|error| error.to_string()));
    let abilities = match probed {
        Ok(abilities) => abilities,
        Err(reason) => return check(NAME, COMMANDS, Ability::No, reason),
    };
    let kinds: Vec<ShaperKind> =
        abilities.kinds.iter().filter(|(_, result)| result.is_ok()).map(|(kind, _)| *kind).collect();
    let Some(best) = kinds.first() else {
        return check(NAME, COMMANDS, Ability::No, "this kernel has no shaper");
    };
    let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let upload_only = if abilities.redirect.is_ok() { "" } else { "; uploads only, because it has no ifb" };
    let found = format!("{}{upload_only}", names.join(", "));
    let kernel = fathom_client::host().kernel;
    let release = kernel.split_whitespace().last().unwrap_or_default();
    let cake = Some(install_command(Path::new("/"), Wanted::Cake, release))
        .filter(|_| !matches!(best, ShaperKind::Cake | ShaperKind::CakeMq));
    match (is_privileged, cake, abilities.redirect.is_ok()) {
        (false, ..) => Check {
            enable: Some("sudo fathom fix".into()),
            ..check(NAME, COMMANDS, Ability::Partly, format!("{found}; only root may set one"))
        },
        (true, None, true) => check(NAME, COMMANDS, Ability::Yes, found),
        (true, enable, _) => Check { enable, ..check(NAME, COMMANDS, Ability::Partly, found) },
    }
}
