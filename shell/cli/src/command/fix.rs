//! `fathom fix`.
mod auto;
mod check;
mod measured;
mod show;
mod status;
mod undo;

use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_os::userns;
use fathom_shaper::{
    ApplyError, Boot, Framing, Look, Place, ShapeRequest, Transaction, WatchdogEnd, conflicts, run_watchdog,
};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The watchdog acts only if this process does not by itself.
const WATCHDOG_MARGIN: Duration = Duration::from_secs(10);
/// A commit follows at once.
const COMMIT_LIMIT: Duration = Duration::from_secs(20);
/// In which something passes by any line that is used.
const A_WHILE: Duration = Duration::from_secs(5);
/// How soon Ctrl-C is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Fixes, or shows, or undoes.
pub(crate) fn run(args: &FixArgs) -> Outcome {
    match (args.status, args.undo, &args.device) {
        _ if args.watchdog => watchdog(args),
        (true, _, device) => status::run(&args.state, device.as_deref(), args.json),
        (_, true, device) => {
            need_root()?;
            undo::run(args, device.as_deref())
        }
        _ if args.auto.auto => {
            need_root()?;
            auto::run(args)
        }
        _ if args.server.is_some() => {
            need_root()?;
            measured::run(args)
        }
        (_, _, Some(device)) => fix(args, device),
        (_, _, None) => Err(Failure::input(
            "which interface, and to which rates?\n  try: fathom fix --server HOST, which finds both (HOST runs `fathom serve`); or \
             fathom fix eth0 --up 9.5mbit --down 47mbit",
        )),
    }
}

fn need_root() -> Result<(), Failure> {
    if userns::is_privileged() {
        return Ok(());
    }
    Err(Failure::environment(
        "queues can be changed by root only (CAP_NET_ADMIN)\n  try: sudo fathom fix ...",
    ))
}

/// The error of a step, with the exit code of its kind.
fn failure(error: &ApplyError) -> Failure {
    let hint = if error.is_permission() { "\n  try: sudo fathom fix ..." } else { "" };
    Failure::environment(format!("{error}{hint}"))
}

fn fix(args: &FixArgs, device: &str) -> Outcome {
    let request = request(args, device)?;
    need_root()?;
    let place = Place::new(&args.state, device);
    let mut transaction = Transaction::begin(&request, &place).map_err(|error| failure(&error))?;
    if let Some(words) = transaction.recovered() {
        terminal::note(&format!("{device}: {words}"));
    }
    let mut conflicts = conflicts::detect(Path::new("/"), device);
    conflicts.extend(conflicts::hardware(device));
    if !args.json {
        terminal::print(&show::plan(transaction.plan(), &conflicts))?;
    }
    if args.dry_run {
        return finish(args, &transaction, "dry run", &conflicts, None);
    }
    let limit = if args.commit { COMMIT_LIMIT } else { keep_for(args) + WATCHDOG_MARGIN };
    // Ctrl-C is noticed from here on, so that nothing is left half done.
    let stop = signal::stop_flag()?;
    transaction.apply(watchdog_command(args, device), limit).map_err(|error| failure(&error))?;
    if args.commit {
        commit(args, device, transaction, &conflicts)
    } else {
        hold(args, transaction, &conflicts, &stop)
    }
}

fn request(args: &FixArgs, device: &str) -> Result<ShapeRequest, Failure> {
    if args.up.is_none() && args.down.is_none() {
        let message = "neither --up nor --down: to which rate shall it be shaped?\n  \
                       try: fathom test, for what the line carries; then some 5 % less";
        return Err(Failure::input(message));
    }
    let framing = Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm };
    Ok(ShapeRequest { device: device.to_owned(), up: args.up, down: args.down, shaper: args.shaper, framing })
}

fn keep_for(args: &FixArgs) -> Duration {
    Duration::from_nanos(args.keep_for.as_nanos())
}

/// This program again: the file that it was started from may have been replaced meanwhile.
fn watchdog_command(args: &FixArgs, device: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["fix", "--watchdog", device, "--state"]).arg(&args.state);
    command
}

fn watchdog(args: &FixArgs) -> Outcome {
    let device = args.device.as_deref().unwrap_or_default();
    let duty = run_watchdog(&Place::new(&args.state, device)).map_err(|error| failure(&error))?;
    match duty {
        WatchdogEnd::Dismissed => {}
        WatchdogEnd::Orphaned(_) => terminal::note(&format!(
            "fathom fix: its process ended before it was done; {device} is as it was before"
        )),
        WatchdogEnd::Overdue(_) => terminal::note(&format!(
            "fathom fix: it took longer than its limit; {device} is as it was before"
        )),
    }
    Ok(Exit::Healthy)
}

fn commit(
    args: &FixArgs,
    device: &str,
    transaction: Transaction,
    conflicts: &[conflicts::Conflict],
) -> Outcome {
    let about = fathom_shaper::about(transaction.plan());
    let words = boot_words(args, device, transaction.plan())?;
    transaction.commit().map_err(|error| failure(&error))?;
    let boot = match words {
        Some((boot, text)) => {
            boot.write(&text).map_err(|error| failure(&error))?;
            Some(boot.file)
        }
        None => None,
    };
    if args.json {
        let document = show::document(about, "committed", conflicts, None);
        return show::print_json(&document);
    }
    let state = show::state_flag(&args.state);
    terminal::print(&format!("\n{device} is shaped, and stays so.\n"))?;
    if let Some(file) = boot {
        terminal::print(&format!("It comes back when the system starts, by {}.\n", file.display()))?;
    }
    terminal::print(&format!("undo: fathom fix --undo {device}{state}\n"))?;
    Ok(Exit::Healthy)
}

/// What is written for the start of the system; looked for before anything is committed.
fn boot_words(
    args: &FixArgs,
    device: &str,
    plan: &fathom_shaper::Plan,
) -> Result<Option<(Boot, String)>, Failure> {
    if !args.boot {
        return Ok(None);
    }
    let boot = Boot::of(&args.root, device).map_err(|error| failure(&error))?;
    let program =
        std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
    let program = program.display().to_string();
    // The system starts it somewhere else.
    let folder = std::path::absolute(&args.state).unwrap_or_else(|_| args.state.clone());
    let state = ["--state".to_owned(), folder.display().to_string()];
    let mut apply = vec![program.clone(), "fix".into(), device.to_owned(), "--commit".into()];
    for (flag, side) in [("--up", &plan.up), ("--down", &plan.down)] {
        apply.extend(side.iter().flat_map(|side| [flag.to_owned(), side.shaper.rate.to_string()]));
    }
    apply.extend(["--shaper".to_owned(), plan.kind.name().to_owned()]);
    if let Some(overhead) = plan.sides().find_map(|side| side.shaper.framing.overhead) {
        apply.extend(["--overhead".to_owned(), overhead.to_string()]);
    }
    apply.extend(["--mpu".to_owned(), args.mpu.to_string()]);
    apply.extend(args.atm.then(|| "--atm".to_owned()));
    apply.extend(state.clone());
    let mut undo = vec![program, "fix".into(), "--undo".into(), device.to_owned(), "--keep-boot".into()];
    undo.extend(state);
    let text = boot.text(device, &apply, &undo);
    Ok(Some((boot, text)))
}

/// Keeps the shaper on for a while, then rolls back and prints what its counters show.
fn hold(
    args: &FixArgs,
    mut transaction: Transaction,
    conflicts: &[conflicts::Conflict],
    stop: &std::sync::atomic::AtomicBool,
) -> Outcome {
    let before = transaction.look().map_err(|error| failure(&error))?;
    if !args.json {
        terminal::note(&format!("on for {}; Ctrl-C ends it at once", args.keep_for));
    }
    let begun = Instant::now();
    while begun.elapsed() < keep_for(args) && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
    }
    // The shaper may be gone by now; it is put back all the same, and then said.
    let after = transaction.look();
    let mut found = conflicts.to_vec();
    found.extend(after.iter().flat_map(|after| conflicts::observed(&before, after)));
    let is_while = begun.elapsed() >= A_WHILE;
    found.extend(after.iter().filter(|_| is_while).filter_map(|after| conflicts::idle(&before, after)));
    let about = fathom_shaper::about(transaction.plan());
    transaction.roll_back("its time was over").map_err(|error| failure(&error))?;
    let after = after.map_err(|error| failure(&error))?;
    tell(args, about, &found, [&before, &after])
}

fn tell(args: &FixArgs, about: Value, found: &[conflicts::Conflict], looks: [&Look; 2]) -> Outcome {
    if args.json {
        let counters = json!({ "up": show::counters(looks[0].up.as_ref(), looks[1].up.as_ref()),
                               "down": show::counters(looks[0].down.as_ref(), looks[1].down.as_ref()) });
        return show::print_json(&show::document(about, "put back", found, Some(counters)));
    }
    terminal::print(&show::held(looks, found))?;
    Ok(Exit::Healthy)
}

fn finish(
    args: &FixArgs,
    transaction: &Transaction,
    result: &str,
    conflicts: &[conflicts::Conflict],
    counters: Option<Value>,
) -> Outcome {
    if args.json {
        let about = fathom_shaper::about(transaction.plan());
        return show::print_json(&show::document(about, result, conflicts, counters));
    }
    terminal::print("\nNothing was changed (--dry-run).\n")?;
    Ok(Exit::Healthy)
}
