//! Tests of the lab with kernel TCP in real time. They run in a user namespace unless run as root.
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

/// A lab with exclusive access: two real-time lines would delay each other.
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

/// A line of one symmetric link; `link` is the content of its TOML table.
fn one_link(link: &str) -> Alone {
    start(&format!("[[hop]]\nname = \"link\"\nup = {{ {link} }}\ndown = {{ {link} }}\n"), &options())
}

/// Exclusive access to labs, in this or another process.
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

/// Retries `found` for up to two seconds.
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
