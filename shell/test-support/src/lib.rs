//! Network namespaces for tests, without root; ports that no other test uses; and waiting for what
//! another process does.
//!
//! A process can enter a user namespace only before it starts its first thread, and the test
//! harness starts threads. A test program that links this crate therefore enters one before `main`,
//! unless it is already privileged. If the system forbids that, each test that needs a namespace
//! fails and names the setting.

#![expect(unsafe_code, reason = "a function that runs before main is a static in a section of the linker")]

mod row;

pub use row::NamespaceRow;

use fathom_os::netlink::{LOOPBACK, Netlink};
use fathom_os::netns::NetNs;
use fathom_os::userns::{self, Refusal};
use std::net::{TcpListener, UdpSocket};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Why this process may not create namespaces; unset if it may.
static REFUSAL: OnceLock<Refusal> = OnceLock::new();

/// The C library calls the functions of this section before `main`, in the only thread of the
/// process.
// SAFETY: the section holds function pointers of this type, and the function uses nothing that
// `main` would set up.
#[unsafe(link_section = ".init_array")]
#[used]
static BEFORE_MAIN: extern "C" fn() = enter_user_namespace;

extern "C" fn enter_user_namespace() {
    if let Err(refusal) = userns::become_root() {
        let _ = REFUSAL.set(refusal);
    }
}

/// Waits for at most `patience` until `look` returns something, and returns that.
///
/// # Panics
/// If it did not, with `what` it is.
pub fn until<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < patience, "{what} did not happen within {patience:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Checks that this process may create namespaces.
///
/// # Panics
/// If it may not. The message names the setting that forbids it and what to try.
pub fn require_namespaces() {
    if let Some(refusal) = REFUSAL.get() {
        panic!("this test needs namespaces: {refusal}");
    }
    assert!(userns::is_privileged(), "this process did not enter a user namespace before main");
}

/// Creates a network namespace.
///
/// # Panics
/// If the system refuses it. The message says why.
#[must_use]
pub fn new_namespace() -> NetNs {
    require_namespaces();
    NetNs::create().unwrap_or_else(|error| panic!("{}", userns::explain(error)))
}

/// Runs `test` in a thread inside a new network namespace whose loopback interface is up.
///
/// # Panics
/// If the system refuses the namespace, or if `test` panics.
pub fn in_new_namespace<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    let namespace = new_namespace();
    let run = || {
        namespace.enter().expect("cannot enter a namespace of this process");
        let mut netlink = Netlink::open().expect("rtnetlink is unavailable");
        netlink.set_up(LOOPBACK, None, None).expect("cannot bring up the loopback interface");
        test()
    };
    std::thread::scope(|scope| {
        scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A free port of the loopback address that stays free while the test closes and reopens it.
///
/// The kernel may give a closed port of its ephemeral range to any other socket. This port is below
/// that range, and differs for each call and process.
///
/// # Panics
/// If every port below the ephemeral range is in use.
#[must_use]
pub fn unused_port() -> u16 {
    /// Ports below this are often used by services.
    const FIRST: u32 = 10_000;
    /// The default start of Linux's ephemeral range (`ip_local_port_range`).
    const END: u32 = 32_768;
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let is_free = |port: &u16| {
        TcpListener::bind(("127.0.0.1", *port)).is_ok() && UdpSocket::bind(("127.0.0.1", *port)).is_ok()
    };
    let of_process = std::process::id().wrapping_mul(61);
    let offsets = (0..END - FIRST).map(|_| of_process.wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed)));
    let ports = offsets.map(|offset| u16::try_from(FIRST + offset % (END - FIRST)).unwrap_or(u16::MAX));
    ports.into_iter().find(is_free).expect("no free port below the ephemeral range")
}
