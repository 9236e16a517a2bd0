//! Measures a path with the real kernel in virtual time: `fathom test` against `fathom serve` in a
//! User-Mode Linux, over the kernel's own queues. The truth is how long each packet waited in them.
mod packets;
mod peers;

use crate::draw::Path;
use crate::measure::{Measured, parse};
use fathom_link::BottleneckParams;
use fathom_qdisc::{FifoParams, Limit, Spec};
use fathom_run::Run;
use fathom_scenario::{HopPlan, Plan};
use fathom_units::{Direction, WallTime};
use packets::Packets;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use peers::Peers;

/// Longest time that a path may take, in real seconds.
const PATIENCE_S: &str = "1800";
/// The program that captures packets on both sides of the queues (`line.sh`).
const CAPTURER: &str = "tcpdump";
/// The only hop of a drawn path.
const HOP: &str = "line";
/// The kernel and the program to run in it.
pub(crate) struct Machine {
    kernel: PathBuf,
    fathom: PathBuf,
    /// Where results stay. A path with results there is not measured again.
    kept: Option<PathBuf>,
}

impl Machine {
    /// The kernel is `$FATHOM_UML`, or built by `bench/conformance/build`. The program is
    /// `$FATHOM`, or next to this one.
    pub(crate) fn find(kept: Option<PathBuf>) -> Result<Self, String> {
        // The kernel starts in another directory.
        let kept = kept.map(std::path::absolute).transpose().map_err(|why| format!("--keep: {why}"))?;
        let fathom = match std::env::var_os("FATHOM") {
            Some(path) => PathBuf::from(path),
            None => std::env::current_exe().map_err(|why| why.to_string())?.with_file_name("fathom"),
        };
        if !fathom.is_file() {
            return Err(format!("{} is missing (build fathom-cli, or set FATHOM)", fathom.display()));
        }
        let kernel = match std::env::var_os("FATHOM_UML") {
            Some(path) => PathBuf::from(path),
            None => build()?,
        };
        if !is_installed(CAPTURER) {
            return Err(format!("--kernel: {CAPTURER} is missing (install {CAPTURER})"));
        }
        if !kernel.is_file() {
            return Err(format!(
                "{} is missing (FATHOM_UML must be a kernel with time travel)",
                kernel.display()
            ));
        }
        Ok(Machine { kernel, fathom, kept })
    }
    /// Measures `path` with `fathom test`.
    pub(crate) fn measure(&self, path: &Path) -> Result<Measured, String> {
        let plan = parse(path).map_err(|why| why.to_string())?;
        self.within(path, |work| {
            self.boot(work, &plan, "inside.sh", "test.done")?;
            let mut run: Run =
                serde_json::from_str(&read(work, "run.json")?).map_err(|why| why.to_string())?;
            let start: WallTime = run.started.parse().map_err(|_| format!("bad time \"{}\"", run.started))?;
            let packets = Packets::read(work, "test.", start)?;
            run.series.extend(Direction::BOTH.map(|direction| packets.drops(direction)));
            let waits = packets.waits.into_iter().map(|(_, waits)| waits).collect();
            Ok(Measured { plan: plan.clone(), run, waits, lost_probes: None })
        })
    }
    /// Measures `path` with other tools.
    pub(crate) fn peers(&self, path: &Path) -> Result<Peers, String> {
        let plan = parse(path).map_err(|why| why.to_string())?;
        if let Some(tool) = peers::TOOLS.iter().find(|tool| !is_installed(tool)) {
            return Err(format!("--peers: {tool} is missing (install {})", peers::TOOLS.join(", ")));
        }
        self.within(path, |work| {
            self.boot(work, &plan, "peers.sh", "peers.done")?;
            peers::read(work, &plan)
        })
    }
    /// Calls `then` with the directory of a path's results. Those of a failed path stay, with the
    /// reason.
    fn within<T>(&self, path: &Path, then: impl FnOnce(&FilePath) -> Result<T, String>) -> Result<T, String> {
        let name = path.name.replace(':', "-");
        let work = match &self.kept {
            Some(kept) => kept.join(name),
            None => std::env::temp_dir().join(format!("fathom-score-{}-{name}", std::process::id())),
        };
        std::fs::create_dir_all(&work).map_err(|why| format!("cannot create {}: {why}", work.display()))?;
        let done = then(&work).map_err(|why| format!("{}: {why}", path.name));
        if done.is_ok() && self.kept.is_none() {
            let _ = std::fs::remove_dir_all(&work);
        }
        done
    }
    /// Boots the kernel with an init script, which copies the path to the file `done` at its end.
    /// If it did so for the same path before, its results are there.
    fn boot(&self, work: &FilePath, plan: &Plan, script: &str, done: &str) -> Result<(), String> {
        let (settings, file) = (settings(plan)?, work.join("path"));
        let is_done = || std::fs::read_to_string(work.join(done)).is_ok_and(|of| of == settings);
        if is_done() {
            return Ok(());
        }
        std::fs::write(&file, &settings).map_err(|why| format!("cannot write {}: {why}", file.display()))?;
        let init = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("kernel").join(script);
        let booted = Command::new("timeout")
            .args(["--kill-after=10", PATIENCE_S])
            .arg(&self.kernel)
            .args([
                "mem=320M",
                "rootfstype=hostfs",
                "rootflags=/",
                "rw",
                "con=null",
                "con0=fd:0,fd:1",
                "quiet",
            ])
            .args([&format!("init={}", init.display()), "time-travel=inf-cpu", "--"])
            .args([work, self.fathom.as_path()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        booted.map_err(|why| format!("cannot start {}: {why}", self.kernel.display()))?;
        is_done().then_some(()).ok_or_else(|| format!("no result (see the files of {})", work.display()))
    }
}

/// Whether a program is found.
fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn read(work: &FilePath, file: &str) -> Result<String, String> {
    std::fs::read_to_string(work.join(file))
        .map_err(|why| format!("no result (cannot read {}/{file}: {why})", work.display()))
}

/// The direction of the main queue.
fn slow_direction(plan: &Plan) -> Result<Direction, String> {
    let [hop] = plan.line.hops.as_slice() else { return Err("the kernel's path has one hop".to_owned()) };
    let rate = |side: &BottleneckParams| side.nominal_rate().map(|rate| rate.as_bits_per_second());
    Ok(if rate(&hop.up) <= rate(&hop.down) { Direction::Up } else { Direction::Down })
}

/// Builds the kernel once.
fn build() -> Result<PathBuf, String> {
    let script = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/build");
    let built = Command::new(&script).stderr(Stdio::inherit()).output();
    let built = built.map_err(|why| format!("cannot run {}: {why}", script.display()))?;
    if !built.status.success() {
        return Err(format!("{} failed: there is no kernel with time travel", script.display()));
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&built.stdout).trim()))
}

/// The path as variables of a shell.
fn settings(plan: &Plan) -> Result<String, String> {
    let ([hop], Some(load)) = (plan.line.hops.as_slice(), &plan.load) else {
        return Err("the kernel's path has one hop and a load".to_owned());
    };
    let HopPlan { up, down, .. } = hop;
    let rate = |of: Option<fathom_units::Rate>| of.map_or(0, |rate| rate.as_bits_per_second());
    let loss = |ratio: f64| format!("{:.4}%", ratio * 100.0);
    Ok(format!(
        "HALF={}us\nRATE_UP={}bit\nRATE_DOWN={}bit\nQUEUE_UP='{}'\nQUEUE_DOWN='{}'\nLOSS_UP={}\nLOSS_DOWN={}\n\
         FLOWS={}\nCONTROL={}\nREVERSE={}\n",
        up.delay.as_nanos() / 1000,
        rate(up.nominal_rate()),
        rate(down.nominal_rate()),
        tc(&up.queue)?,
        tc(&down.queue)?,
        loss(up.impairment.loss.0),
        loss(down.impairment.loss.0),
        load.up_flows.max(load.down_flows),
        load.congestion_control,
        if slow_direction(plan)? == Direction::Down { "-R" } else { "" },
    ))
}

/// The queue in the words of tc(8).
fn tc(spec: &Spec) -> Result<String, String> {
    match spec {
        Spec::Fifo(FifoParams { limit: Limit::Packets(packets), .. }) => Ok(format!("pfifo limit {packets}")),
        Spec::Fifo(FifoParams { limit: Limit::Bytes(bytes), .. }) => {
            Ok(format!("bfifo limit {}", bytes.get()))
        }
        Spec::Codel(params) => Ok(format!(
            "codel limit {} target {}us",
            params.limit_packets,
            params.control.target.as_nanos() / 1000
        )),
        Spec::FqCodel(params) => Ok(format!(
            "fq_codel limit {} target {}us",
            params.limit_packets,
            params.control.target.as_nanos() / 1000
        )),
        Spec::Pie(params) => Ok(format!(
            "pie limit {} target {}us",
            params.limit_packets,
            params.control.target.as_nanos() / 1000
        )),
        Spec::Cake(_) => Ok("cake unlimited besteffort".to_owned()),
        other => Err(format!("the kernel's path cannot have the queue {other}")),
    }
}

/// `1732465589.521000000` as nanoseconds.
pub(super) fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + fraction.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::kernel_path;

    #[test]
    fn each_path_of_the_kernel_has_settings() {
        for index in 0..200 {
            let plan = parse(&kernel_path(1, index)).expect("a drawn path is valid");
            let settings = settings(&plan).expect("a path of the kernel");
            assert!(settings.contains("QUEUE_UP='") && !settings.contains("=0bit"), "{settings}");
        }
    }
}
