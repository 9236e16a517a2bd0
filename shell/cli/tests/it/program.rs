//! Runs the program as a user does.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Held by tests that assert times, so that they do not disturb each other on a machine of few cores.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static REAL_TIME: Mutex<()> = Mutex::new(());
    REAL_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Exit code and the whole of stderr, for messages of failed asserts.
    pub(crate) fn told(&self) -> String {
        format!("exit {:?}\nstdout: {}\nstderr: {}", self.code, self.out, self.err)
    }
}

/// Waits for something to be so, for `patience` at the most; what was found.
pub(crate) fn until<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < patience, "waited for {what} in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn fathom(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(args).stdin(Stdio::null()).env_remove("FATHOM_TOKEN").current_dir(scratch());
    command
}

pub(crate) fn run(args: &[&str]) -> Ran {
    fathom(args).output().unwrap().into()
}

/// A directory of this test process, below the build directory.
pub(crate) fn scratch() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("it-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// `fathom serve` on loopback, ended when dropped.
pub(crate) struct Serve {
    child: Child,
    pub(crate) port: u16,
}

impl Serve {
    pub(crate) fn start(extra: &[&str]) -> Serve {
        use std::io::{BufRead, BufReader};
        let mut args = vec!["serve", "--listen", "127.0.0.1", "--port", "0"];
        args.extend(extra);
        let mut child = fathom(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        let digits = first.split("port ").nth(1).unwrap_or_else(|| panic!("{first}"));
        let port = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        Serve { child, port }
    }
    pub(crate) fn target(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
