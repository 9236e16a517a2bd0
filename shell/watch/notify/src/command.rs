//! Notification by a command, run without a shell.
use fathom_text::first_line;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time to wait for output that child processes of the command keep open.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);
const MAX_OUTPUT_BYTES: u64 = 4_096;

/// Runs the command with `input` on its standard input. `Ok` and `Err` contain its exit status and
/// the first line of its error output or output.
pub(crate) fn run(
    words: &[String],
    environment: &[(&str, String)],
    input: &[u8],
    limit: Duration,
) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let outputs = [reader(child.stderr.take()), reader(child.stdout.take())];
    feed(&mut child, input);
    let Some(status) = wait(&mut child, limit) else {
        // Fails only if the child has already ended.
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{program} was killed after {} s (timeout)", limit.as_secs_f64()));
    };
    let outputs = outputs.iter().map(|output| output.recv_timeout(OUTPUT_TIMEOUT).unwrap_or_default());
    let line = outputs.map(|bytes| first_line(&bytes)).find(|line| !line.is_empty());
    let outcome = exit_text(status) + &line.map_or_else(String::new, |line| format!(": {line}"));
    if status.success() { Ok(outcome) } else { Err(outcome) }
}

/// Runs in a thread, because the program may read slowly or not at all.
fn feed(child: &mut Child, input: &[u8]) {
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
}

/// Keeps the first output; reads the rest too, so that the program does not block.
fn reader(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let Some(mut from) = from else { return };
        let mut output = Vec::new();
        let _ = from.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut output);
        let _ = sender.send(output);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    });
    receiver
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(LOOK_EVERY),
            _ => return None,
        }
    }
}

fn exit_text(status: ExitStatus) -> String {
    status.code().map_or_else(|| "killed by a signal".to_owned(), |code| format!("exit code {code}"))
}
