//! Runs the program as a user does.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

static REAL_TIME: RwLock<()> = RwLock::new(());

/// Held by tests that assert times, so that they do not disturb each other on a machine with few
/// CPUs.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    REAL_TIME.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held by tests that assert times of a line of at most 20 Mbit/s, which needs hardly any CPU.
/// Several of them may run at once.
pub(crate) fn on_slow_line() -> RwLockReadGuard<'static, ()> {
    REAL_TIME.read().unwrap_or_else(PoisonError::into_inner)
}

/// The result of running the program.
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
    /// Exit code and all output, for messages of failed asserts.
    pub(crate) fn describe(&self) -> String {
        format!("exit {:?}\nstdout: {}\nstderr: {}", self.code, self.out, self.err)
    }
    /// The document on stdout, which must match the published schema.
    #[track_caller]
    pub(crate) fn document(&self) -> serde_json::Value {
        let document = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.describe()));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/result.schema.json");
        let schema = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        document
    }
}

impl Ran {
    /// The lines of `--json-lines`, which must match the published schema.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        let read = |name: &str| std::fs::read_to_string(schemas.join(name)).unwrap();
        // Both in one document, so that no reference leads to another file.
        let text = read("event.schema.json").replace("\"result.schema.json\"", "\"#/$defs/document\"");
        let mut schema: serde_json::Value =
            serde_json::from_str(&text.replace("result.schema.json#", "#")).unwrap();
        let mut document: serde_json::Value = serde_json::from_str(&read("result.schema.json")).unwrap();
        schema["$defs"] = document.as_object_mut().unwrap().remove("$defs").unwrap();
        schema["$defs"]["document"] = document;
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let lines: Vec<serde_json::Value> =
            self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &lines {
            let errors: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{errors:#?}");
        }
        lines
    }
}

/// The text of the program: exit code, stdout and stderr of several runs, as in a file of
/// `golden/text`. Other tests assert exit codes, files and the numbers of `--json`. The wording is
/// asserted only here, so that `make golden` updates it. Dropping this value compares it with the
/// file.
pub(crate) struct Words {
    file: PathBuf,
    folder: PathBuf,
    seen: String,
}

impl Words {
    /// The file `golden/text/NAME.txt`. The program runs in `folder`, so that the file has relative
    /// names.
    pub(crate) fn of(name: &str, folder: &Path) -> Words {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/text");
        Words { file: golden.join(format!("{name}.txt")), folder: folder.to_owned(), seen: String::new() }
    }
    /// Runs the program, checks its exit code, and adds its output.
    pub(crate) fn run(&mut self, args: &[&str], code: i32) -> Ran {
        let ran = fathom(args).current_dir(&self.folder).output().unwrap().into();
        self.add(&format!("fathom {}", args.join(" ")), &ran, code);
        ran
    }
    /// Checks the exit code of a run, and adds its output below `title`.
    pub(crate) fn add(&mut self, title: &str, ran: &Ran, code: i32) {
        assert_eq!(ran.code, Some(code), "{title}: {}", ran.describe());
        assert!(!ran.err.contains("panicked"), "{title}: {}", ran.describe());
        for (mark, text) in [("$ ", title), ("", &*ran.out), ("! ", &*ran.err)] {
            for line in text.lines() {
                self.seen += &(format!("{mark}{}", self.without_places(line)).trim_end().to_owned() + "\n");
            }
        }
        self.seen += &format!("? {code}\n\n");
    }
    /// Replaces what differs between machines: directories, ports that the kernel chose, and the
    /// duration of a simulation.
    fn without_places(&self, line: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let mut line = line.to_owned();
        for (folder, name) in [(&self.folder, "FOLDER"), (&scratch(), "SCRATCH"), (&root, "REPOSITORY")] {
            line = line.replace(&*folder.to_string_lossy(), name);
        }
        if let Some((simulated, rest)) =
            line.split_once(" s in ").filter(|_| line.starts_with("fathom sim: "))
        {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            line = format!("{simulated} s in TIME{rest}");
        }
        let mut parts = line.split("127.0.0.1:");
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            kept += "127.0.0.1:PORT";
            kept += part.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        kept
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            check_golden(&self.file, &self.seen);
        }
    }
}

/// Compares a text with its golden file, or writes that file for `make golden`.
pub(crate) fn check_golden(file: &Path, seen: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, seen).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    let differs = seen.lines().zip(expected.lines()).find(|(seen, expected)| seen != expected);
    assert!(seen == expected, "{} differs at {differs:#?}; `make golden` rewrites it", file.display());
}

pub(crate) use fathom_test_support::until;

/// The result of a program that ends within `patience`. Reads its output meanwhile: a program that
/// writes more than a pipe holds would never end otherwise.
pub(crate) fn ended(child: Child, patience: Duration) -> Ran {
    let pid = child.id().to_string();
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let output = receiver.recv_timeout(patience).unwrap_or_else(|_| {
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        let _ = reader.join();
        panic!("process {pid} did not end within {patience:?} ({killed:?})");
    });
    output.into()
}

pub(crate) fn fathom(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    // The characters of the files in `golden/` are those of such a terminal.
    command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
    command.args(args).stdin(Stdio::null()).env_remove("FATHOM_TOKEN").current_dir(scratch());
    command
}

pub(crate) fn run(args: &[&str]) -> Ran {
    fathom(args).output().unwrap().into()
}

/// A directory for this test process, below the build directory.
pub(crate) fn scratch() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("it-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// `fathom serve` on loopback. Dropping it ends the server.
pub(crate) struct Serve {
    child: Child,
    pub(crate) port: u16,
}

impl Serve {
    pub(crate) fn start(extra: &[&str]) -> Serve {
        use std::io::{BufRead, BufReader};
        let mut args = vec!["serve", "--listen", "127.0.0.1"];
        if !extra.contains(&"--port") {
            args.extend(["--port", "0"]);
        }
        args.extend(extra);
        let mut child = fathom(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        let digits = first.split("port ").nth(1).unwrap_or_else(|| panic!("{first}"));
        let port = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        Serve { child, port }
    }
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
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
