//! Reads files of another host through its shell; nothing is installed or written there.
use fathom_audit::{Tree, listing, script};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

/// Maximum output. A host's files are a few hundred kilobytes.
const MOST_BYTES: u64 = 64 << 20;

/// Why the files of another host could not be read.
#[derive(Debug)]
pub enum RemoteError {
    /// The hostname starts like an option.
    Name(String),
    /// The remote shell program did not start.
    Start(String, io::Error),
    /// It ended before the last file.
    Cut {
        /// The host.
        host: String,
        /// How the program ended.
        status: String,
        /// Its last error output.
        words: String,
    },
    /// It did not end in time.
    Late(String, Duration),
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::Name(host) => write!(f, "invalid host \"{host}\"\n  try: --host user@router"),
            RemoteError::Start(program, error) => write!(f, "{program}: {error}\n  try: --rsh COMMAND"),
            RemoteError::Cut { host, status, words } => {
                let words = if words.is_empty() { "no error output" } else { words };
                write!(
                    f,
                    "{host}: the transfer of files ended early ({status}; {words})\n  try: ssh {host} true"
                )
            }
            RemoteError::Late(host, patience) => {
                write!(
                    f,
                    "{host}: the transfer of files did not finish in {} s\n  try: --timeout 5min",
                    patience.as_secs()
                )
            }
        }
    }
}
impl std::error::Error for RemoteError {}

/// Runs `rsh HOST sh` with a script that prints files, and parses the output.
///
/// # Errors
/// If the program does not start, ends early, or takes longer than `patience`.
pub fn remote(rsh: &str, host: &str, patience: Duration) -> Result<Tree, RemoteError> {
    if host.is_empty() || host.starts_with('-') {
        return Err(RemoteError::Name(host.to_owned()));
    }
    let mut arguments = rsh.split_whitespace();
    let program = arguments.next().unwrap_or("ssh");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args([host, "sh"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| RemoteError::Start(program.to_owned(), error))?;
    let streams = streams(&mut child);
    let deadline = Instant::now() + patience;
    let output = streams.recv_timeout(patience);
    let Ok((bytes, last_words)) = output else {
        end(&mut child);
        return Err(RemoteError::Late(host.to_owned(), patience));
    };
    let status = wait(&mut child, deadline);
    let (tree, is_whole) = listing(&bytes);
    let words = last_words.lines().next_back().unwrap_or_default().to_owned();
    if is_whole { Ok(tree) } else { Err(RemoteError::Cut { host: host.to_owned(), status, words }) }
}

/// Sends the script. The channel receives the output and error output when both have ended.
fn streams(child: &mut Child) -> mpsc::Receiver<(Vec<u8>, String)> {
    let (done, wait_for) = mpsc::channel();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::spawn(move || {
        // A program that ended early has closed its input; its error output says why.
        let _ = stdin.map(|mut to| to.write_all(script().as_bytes()));
        let complaints = thread::spawn(move || stderr.map(all).unwrap_or_default());
        let bytes = stdout.map(all).unwrap_or_default();
        let words = String::from_utf8_lossy(&complaints.join().unwrap_or_default()).trim().to_owned();
        let _ = done.send((bytes, words));
    });
    wait_for
}

fn all(from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = from.take(MOST_BYTES).read_to_end(&mut bytes);
    bytes
}

fn wait(child: &mut Child, deadline: Instant) -> String {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            _ => break,
        }
    }
    end(child);
    "did not end".to_owned()
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
