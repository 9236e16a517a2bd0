//! Commands that run inside namespaces and end with this process.
//!
//! ```text
//!  this process            PID 1 of a new PID namespace        the command
//!  keeper thread  --fork-->  reaps orphans, waits      --fork-->  exec
//!                 <--SIGKILL when the keeper ends     <--SIGKILL when PID 1 ends
//! ```
//! If any of them is killed, even with SIGKILL, the kernel ends the others. PID 1 forwards SIGTERM,
//! SIGINT and SIGHUP to the process group of the command.
use crate::netns::NetNs;
use rustix::io::retry_on_intr;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgrp, kill_process, set_parent_process_death_signal,
    setpgid, waitid, waitpid,
};
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// A signal that asks a program to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForwardedSignal {
    /// SIGTERM.
    Terminate,
    /// SIGINT.
    Interrupt,
    /// SIGHUP.
    HangUp,
}

/// Signals that PID 1 waits for.
const AWAITED: [libc::c_int; 4] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// A command in a network namespace. It ends, with all processes it started, when this value is
/// dropped or this process ends for any reason.
#[derive(Debug)]
pub struct Child {
    /// PID of the namespace's PID 1 until it has been reaped; after that the number may be reused.
    pid: Arc<Mutex<Option<Pid>>>,
    keeper: Option<thread::JoinHandle<io::Result<ExitStatus>>>,
}

impl Child {
    /// Starts `command` in `namespace`, in its own PID namespace with its own `/proc`. If standard
    /// input is a terminal, the command becomes its foreground process group until it ends.
    ///
    /// # Errors
    /// If the command cannot be started: not found, not executable, or namespaces refused.
    pub fn spawn(command: Command, namespace: &NetNs) -> io::Result<Child> {
        let namespace = namespace.try_clone()?;
        let pid = Arc::new(Mutex::new(None));
        let (started, outcome) = mpsc::channel();
        let pid_of_keeper = Arc::clone(&pid);
        // PR_SET_PDEATHSIG fires when the *thread* that forked ends, so the thread that forks must
        // be the one that waits.
        let keeper = thread::Builder::new()
            .name("lab-command".into())
            .spawn(move || keep(command, &namespace, &pid_of_keeper, &started))?;
        outcome.recv().map_err(|_| io::Error::other("the thread that starts a command panicked"))??;
        Ok(Child { pid, keeper: Some(keeper) })
    }
    /// Waits for the command to end. Death by a signal is reported as exit code 128 + signal, as in
    /// a shell.
    ///
    /// # Errors
    /// See `waitpid(2)`.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.join().unwrap_or_else(|| Err(io::Error::other("the command has ended")))
    }
    /// Whether the command has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.keeper.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }
    /// Sends a signal to the command's process group: SIGTERM, SIGINT or SIGHUP.
    pub fn forward(&self, signal: ForwardedSignal) {
        self.send(match signal {
            ForwardedSignal::Terminate => Signal::TERM,
            ForwardedSignal::Interrupt => Signal::INT,
            ForwardedSignal::HangUp => Signal::HUP,
        });
    }
    /// Kills the command and all processes it started.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }
    /// Sends a signal to PID 1 of the namespace.
    fn send(&self, signal: Signal) {
        let pid = lock(&self.pid);
        if let Some(pid) = *pid {
            // While the lock is held, the PID is not reaped and reused.
            let _ = kill_process(pid, signal);
        }
    }
    fn join(&mut self) -> Option<io::Result<ExitStatus>> {
        let keeper = self.keeper.take()?;
        Some(
            keeper
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread that waits for a command panicked"))),
        )
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        self.join();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Main function of the keeper thread.
fn keep(
    command: Command,
    namespace: &NetNs,
    pid: &Mutex<Option<Pid>>,
    started: &mpsc::Sender<io::Result<()>>,
) -> io::Result<ExitStatus> {
    let foreground = in_foreground();
    let child = match start(command, namespace) {
        Ok(child) => child,
        Err(e) => {
            let never_ran = Err(io::Error::from(e.kind()));
            // The receiver waits for this message, so it still exists.
            let _ = started.send(Err(e));
            return never_ran;
        }
    };
    *lock(pid) = Some(child);
    let _ = started.send(Ok(()));
    let ended = wait_and_forget(child, pid);
    if foreground {
        // If taking the terminal back fails, only the parent shell is affected.
        let _ = take_terminal(getpgrp());
    }
    ended
}

fn start(mut command: Command, namespace: &NetNs) -> io::Result<Pid> {
    namespace.enter()?;
    // SAFETY: it does not unshare descriptors. It affects the PID namespace of this thread's
    // children only.
    unsafe { unshare_unsafe(UnshareFlags::NEWPID) }?;
    let foreground = in_foreground();
    // SAFETY: between fork and exec the hook only makes system calls: no allocation, no lock.
    unsafe { command.pre_exec(move || become_command(foreground)) };
    Ok(Pid::from_child(&command.spawn()?))
}

/// Runs in the forked child, PID 1 of the new namespace. Returns only in the process that will
/// exec.
fn become_command(foreground: bool) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    mount_own_proc();
    // Before the fork, so that PID 1 misses no signal. In its own group it does not also
    // receive those of a terminal.
    setpgid(None, None)?;
    let before = block(&AWAITED);
    // SAFETY: between fork and exec; both processes only make system calls.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            restore(&before);
            lead_group(foreground)
        }
        command => reap_until(command),
    }
}

/// Blocks `signals`; returns the earlier mask.
fn block(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: both sets are valid for the calls and filled by them.
    unsafe {
        let (mut blocked, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut blocked);
        for signal in signals {
            libc::sigaddset(&raw mut blocked, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
        before
    }
}

fn restore(mask: &libc::sigset_t) {
    // SAFETY: the set is valid for the call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::from_ref(mask), std::ptr::null_mut()) };
}

/// Mounts a `/proc` of this PID namespace. If mounting is forbidden the host's remains, which only
/// affects tools such as `ps`.
fn mount_own_proc() {
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // SAFETY: it does not unshare descriptors.
    if unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.is_ok() && mount_change(c"/", private).is_ok() {
        let _ = mount(c"proc", c"/proc", c"proc", plain, None);
    }
}

/// Makes the calling process a process group leader and, if we had the terminal, its foreground
/// group: so Ctrl-C reaches the command, and a shell has job control.
fn lead_group(foreground: bool) -> io::Result<()> {
    setpgid(None, None)?;
    if foreground && isatty(io::stdin()) { take_terminal(getpgrp()) } else { Ok(()) }
}

/// Whether this process is in the terminal's foreground group.
fn in_foreground() -> bool {
    tcgetpgrp(io::stdin()) == Ok(getpgrp())
}

/// Makes `group` the terminal's foreground group. A background process that does so receives
/// SIGTTOU, so it is blocked here.
fn take_terminal(group: Pid) -> io::Result<()> {
    let before = block(&[libc::SIGTTOU]);
    let result = tcsetpgrp(io::stdin(), group);
    restore(&before);
    Ok(result?)
}

/// Main function of PID 1: reaps every process of the namespace, forwards signals to the command,
/// and exits with the command's status.
fn reap_until(command: libc::pid_t) -> ! {
    // SAFETY: system calls with integers, and a valid set of signals and its result. Descriptors
    // are closed because PID 1 would otherwise hold pipes open, including the one that informs
    // `spawn` that exec succeeded.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        let mut awaited: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut awaited);
        for signal in AWAITED {
            libc::sigaddset(&raw mut awaited, signal);
        }
        loop {
            let mut signal = 0;
            if libc::sigwait(&raw const awaited, &raw mut signal) != 0 {
                continue;
            }
            match signal {
                libc::SIGCHLD => reap(command),
                // The group of the command; PID 1 is in none that a terminal signals.
                _ => drop(libc::kill(-command, signal)),
            }
        }
    }
}

/// Reaps all processes that ended. Several may share one SIGCHLD.
fn reap(command: libc::pid_t) {
    loop {
        let mut status = 0;
        // SAFETY: system calls with integers and one valid status pointer.
        unsafe {
            match libc::waitpid(-1, &raw mut status, libc::WUNTRACED | libc::WNOHANG) {
                0 => return,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                -1 => libc::_exit(1),
                // After Ctrl-Z: there is no shell that could continue it.
                ended if ended == command && libc::WIFSTOPPED(status) => {
                    libc::kill(-command, libc::SIGCONT);
                }
                ended if ended == command => libc::_exit(exit_code(status)),
                _ => {}
            }
        }
    }
}

fn exit_code(status: libc::c_int) -> libc::c_int {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Waits for `child` to end, then clears its PID.
fn wait_and_forget(child: Pid, pid: &Mutex<Option<Pid>>) -> io::Result<ExitStatus> {
    wait_without_reaping(child)?;
    let mut held = lock(pid);
    let reaped = waitpid(Some(child), WaitOptions::empty());
    *held = None;
    match reaped? {
        Some((_, status)) => Ok(ExitStatus::from_raw(status.as_raw())),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

fn wait_without_reaping(child: Pid) -> io::Result<()> {
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    Ok(retry_on_intr(|| waitid(WaitId::Pid(child), ended)).map(drop)?)
}
