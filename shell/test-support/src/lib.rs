//! Network namespaces for tests, without root.
//!
//! A process can enter a user namespace only before it starts its first thread, and the test harness starts threads. A test
//! program that links this crate therefore enters one before `main`, unless it is privileged already. Where the system
//! forbids that, each test that asks for a namespace fails and names the setting.

#![expect(unsafe_code, reason = "a function that runs before main is a static in a section of the linker")]

use fathom_os::netlink::{LOOPBACK, Netlink};
use fathom_os::netns::NetNs;
use fathom_os::userns::{self, Refusal};
use std::sync::OnceLock;

/// Why this process may not make namespaces; unset if it may.
static REFUSAL: OnceLock<Refusal> = OnceLock::new();

/// The C library calls the functions of this section in the only thread of the process, before `main`.
// SAFETY: the section holds function pointers of this type, and the function uses nothing that `main` would set up.
#[unsafe(link_section = ".init_array")]
#[used]
static BEFORE_MAIN: extern "C" fn() = enter_user_namespace;

extern "C" fn enter_user_namespace() {
    if let Err(refusal) = userns::become_root() {
        let _ = REFUSAL.set(refusal);
    }
}

/// Checks that this process may make namespaces.
///
/// # Panics
/// If it may not; the message names the setting that forbids it and what to try.
pub fn require_namespaces() {
    if let Some(refusal) = REFUSAL.get() {
        panic!("this test needs namespaces: {refusal}");
    }
    assert!(userns::is_privileged(), "this process did not enter a user namespace before main");
}

/// Makes a network namespace.
///
/// # Panics
/// If the system refuses it; the message says why.
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
        namespace.enter().expect("a namespace of this process can be entered");
        let mut netlink = Netlink::open().expect("rtnetlink is there");
        netlink.set_up(LOOPBACK, None, None).expect("the loopback interface can be brought up");
        test()
    };
    std::thread::scope(|scope| {
        scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
