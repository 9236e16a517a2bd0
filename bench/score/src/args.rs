//! The command line.
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: score [--kernel [--keep DIR]] [--seed S[,S...]] [--paths N] [--json FILE] [--record]
       score --kernel --peers [--keep DIR] [--seed S[,S...]] [--paths N] [--record]
       score [--kernel [--keep DIR]] --path SEED:INDEX|FILE.toml [--explain] [--out FILE.html]

Draws random paths, measures and diagnoses them, and compares every claim with the truth.

  --seed S[,S...]   Seeds of the paths [1]
  --paths N         Paths of each seed [100]
  --json FILE       Also write every claim to FILE
  --kernel          Measure paths with the real kernel in virtual time (User-Mode Linux)
  --keep DIR        With --kernel: keep results in DIR, and take those that are there
  --peers           With --kernel: also run fping, irtt and iperf3, and compare with them
  --record          Write the table to golden/figures, and that of the simulator's paths as a diagram to docs/images
  --path PATH       One path, or a scenario file: print its claims and its truth
  --explain         Also write a page that shows the true delay under the measured latency
  --out FILE        File of that page [score-SEED-INDEX.html]";

/// Maximum number of paths per seed: a typing error should not take days.
pub const MAX_PATHS: u64 = 1_000_000;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    Help,
    Score { source: Source, seeds: Vec<u64>, paths: u64, json: Option<PathBuf>, is_recorded: bool },
    Path { source: Source, subject: Subject, page: Option<PathBuf> },
}

/// Where paths are measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Simulator,
    Kernel {
        /// Directory of the results.
        kept: Option<PathBuf>,
        /// Compare with other tools.
        has_peers: bool,
    },
}

impl Source {
    fn parse(is_kernel: bool, kept: Option<PathBuf>, has_peers: bool) -> Result<Self, String> {
        match is_kernel {
            true => Ok(Source::Kernel { kept, has_peers }),
            false if kept.is_some() || has_peers => Err("--keep and --peers require --kernel".to_owned()),
            false => Ok(Source::Simulator),
        }
    }
}

/// The path of `--path`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Subject {
    Drawn { seed: u64, index: u64 },
    File(PathBuf),
}

impl Subject {
    fn parse(text: &str) -> Result<Self, String> {
        if text.ends_with(".toml") {
            return Ok(Subject::File(PathBuf::from(text)));
        }
        let Some((seed, index)) = text.split_once(':') else {
            return Err(format!("--path: \"{text}\" is neither SEED:INDEX nor a .toml file (try 1:17)"));
        };
        Ok(Subject::Drawn { seed: number("--path", seed)?, index: number("--path", index)? })
    }
    fn page(&self) -> PathBuf {
        match self {
            Subject::Drawn { seed, index } => PathBuf::from(format!("score-{seed}-{index}.html")),
            Subject::File(file) => PathBuf::from(file.with_extension("html").file_name().unwrap_or_default()),
        }
    }
}

/// Parses the words after the program's name.
pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let (mut seeds, mut paths, mut json, mut is_recorded) = (None, None, None, false);
    let (mut subject, mut is_explained, mut out) = (None, false, None);
    let (mut is_kernel, mut kept, mut has_peers) = (false, None, false);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word}: value missing"));
        match word.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--seed" => {
                let list = value()?;
                let parsed: Result<Vec<u64>, _> =
                    list.split(',').map(|seed| number("--seed", seed)).collect();
                seeds = Some(parsed?);
            }
            "--paths" => paths = Some(number("--paths", &value()?)?),
            "--json" => json = Some(PathBuf::from(value()?)),
            "--kernel" => is_kernel = true,
            "--keep" => kept = Some(PathBuf::from(value()?)),
            "--peers" => has_peers = true,
            "--record" => is_recorded = true,
            "--path" => subject = Some(Subject::parse(&value()?)?),
            "--explain" => is_explained = true,
            "--out" => out = Some(PathBuf::from(value()?)),
            other => return Err(format!("unknown argument \"{other}\" (see --help)")),
        }
    }
    let source = Source::parse(is_kernel, kept, has_peers)?;
    let Some(subject) = subject else {
        if is_explained || out.is_some() {
            return Err("--explain and --out require --path".to_owned());
        }
        let paths = paths.unwrap_or(100);
        if !(1..=MAX_PATHS).contains(&paths) {
            return Err(format!("--paths: {paths} is out of range (expected 1 to {MAX_PATHS})"));
        }
        if has_peers && json.is_some() {
            return Err("--peers cannot be combined with --json".to_owned());
        }
        return Ok(Command::Score { source, seeds: seeds.unwrap_or(vec![1]), paths, json, is_recorded });
    };
    if seeds.is_some() || paths.is_some() || json.is_some() || is_recorded || has_peers {
        return Err("--path cannot be combined with --seed, --paths, --json, --record or --peers".to_owned());
    }
    let page = (is_explained || out.is_some()).then(|| out.unwrap_or_else(|| subject.page()));
    Ok(Command::Path { source, subject, page })
}

fn number(flag: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{flag}: \"{text}\" is not a whole number from 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn commands() {
        let source = Source::Kernel { kept: Some(PathBuf::from("runs")), has_peers: false };
        let command = Command::Score { source, seeds: vec![3, 4], paths: 7, json: None, is_recorded: false };
        assert_eq!(parsed("--kernel --keep runs --seed 3,4 --paths 7"), Ok(command));
        let page = Some(PathBuf::from("score-1-2.html"));
        let subject = Subject::Drawn { seed: 1, index: 2 };
        assert_eq!(
            parsed("--path 1:2 --explain"),
            Ok(Command::Path { source: Source::Simulator, subject, page })
        );
    }

    #[test]
    fn bad_input_is_named() {
        for (line, expected) in [
            ("--seed x", "--seed: \"x\" is not a whole number from 0 to 18446744073709551615"),
            ("--seed -1", "--seed: \"-1\" is not a whole number from 0 to 18446744073709551615"),
            ("--paths", "--paths: value missing"),
            ("--paths 0", "--paths: 0 is out of range (expected 1 to 1000000)"),
            ("--path 12", "--path: \"12\" is neither SEED:INDEX nor a .toml file (try 1:17)"),
            ("--explain", "--explain and --out require --path"),
            ("--fast", "unknown argument \"--fast\" (see --help)"),
            (
                "--path 1:2 --seed 3",
                "--path cannot be combined with --seed, --paths, --json, --record or --peers",
            ),
            ("--peers", "--keep and --peers require --kernel"),
            ("--kernel --peers --json x", "--peers cannot be combined with --json"),
        ] {
            assert_eq!(parsed(line), Err(expected.to_owned()), "{line}");
        }
    }
}
