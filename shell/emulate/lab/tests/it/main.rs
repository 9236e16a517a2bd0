//! The lab with real kernel TCP, in real time. Runs in a user namespace unless it is run as root.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bytes;
mod captures;
mod ends;
mod lifetime;
mod line;
mod privilege;
mod routers;

use fathom_lab::{Lab, LabOptions};
use fathom_os::clock::Clock;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A lab, and the right to be the only one: two lines in real time would make each other late.
struct Alone {
    lab: Lab,
    _turn: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Alone {
    type Target = Lab;
    fn deref(&self) -> &Lab {
        &self.lab
    }
}

fn options() -> LabOptions {
    LabOptions::new(Clock::start(), 1)
}

/// A line of one link that is alike both ways; `link` is the inside of its TOML table.
fn one_link(link: &str) -> Alone {
    start(&format!("[[hop]]\nname = \"link\"\nup = {{ {link} }}\ndown = {{ {link} }}\n"), &options())
}

/// The right to have a lab, here or in a process of one's own.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(hops: &str, options: &LabOptions) -> Alone {
    let turn = turn();
    let text = format!("name = \"test\"\nabout = \"test\"\nsource = \"test\"\n{hops}");
    let plan = fathom_scenario::parse(&text, "test.toml").unwrap();
    fathom_test_support::require_namespaces();
    let lab = Lab::start(&plan.line, options).unwrap_or_else(|e| panic!("{e}"));
    Alone { lab, _turn: turn }
}

/// Asks `found` again and again for up to two seconds.
fn soon(mut found: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) {
        if found() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
