//! The command line.
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: score [--kernel] [--seed S[,S...]] [--paths N] [--json FILE] [--record]
       score [--kernel] --path SEED:INDEX|FILE.toml [--explain] [--out FILE.html]

Draws random paths, measures and diagnoses them, and compares every claim with the truth.

  --seed S[,S...]   Seeds of the paths [1]
  --paths N         Paths of each seed [100]
  --json FILE       Also write every claim to FILE
  --kernel          Measure paths with the real kernel in virtual time (User-Mode Linux)
  --record          Write the table to golden/figures, and that of the simulator's paths as a diagram to docs/images
  --path PATH       One path, or a scenario file: print its claims and its truth
  --explain         Also write a page that shows the true delay under the measured latency
  --out FILE        File of that page [score-SEED-INDEX.html]";

/// Most paths per seed: a typing error should not take days.
const MAX_PATHS: u64 = 1_000_000;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    Help,
    Score { is_kernel: bool, seeds: Vec<u64>, paths: u64, json: Option<PathBuf>, is_recorded: bool },
    Path { is_kernel: bool, subject: Subject, page: Option<PathBuf> },
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
    let (mut subject, mut is_explained, mut out, mut is_kernel) = (None, false, None, false);
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
            "--record" => is_recorded = true,
            "--path" => subject = Some(Subject::parse(&value()?)?),
            "--explain" => is_explained = true,
            "--out" => out = Some(PathBuf::from(value()?)),
            other => return Err(format!("unknown argument \"{other}\" (see --help)")),
        }
    }
    let Some(subject) = subject else {
        if is_explained || out.is_some() {
            return Err("--explain and --out require --path".to_owned());
        }
        let paths = paths.unwrap_or(100);
        if !(1..=MAX_PATHS).contains(&paths) {
            return Err(format!("--paths: {paths} is out of range (expected 1 to {MAX_PATHS})"));
        }
        return Ok(Command::Score { is_kernel, seeds: seeds.unwrap_or(vec![1]), paths, json, is_recorded });
    };
    if seeds.is_some() || paths.is_some() || json.is_some() || is_recorded {
        return Err("--path cannot be combined with --seed, --paths, --json or --record".to_owned());
    }
    let page = (is_explained || out.is_some()).then(|| out.unwrap_or_else(|| subject.page()));
    Ok(Command::Path { is_kernel, subject, page })
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
        let command =
            Command::Score { is_kernel: true, seeds: vec![3, 4], paths: 7, json: None, is_recorded: false };
        assert_eq!(parsed("--kernel --seed 3,4 --paths 7"), Ok(command));
        let page = Some(PathBuf::from("score-1-2.html"));
        let subject = Subject::Drawn { seed: 1, index: 2 };
        assert_eq!(parsed("--path 1:2 --explain"), Ok(Command::Path { is_kernel: false, subject, page }));
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
            ("--path 1:2 --seed 3", "--path cannot be combined with --seed, --paths, --json or --record"),
        ] {
            assert_eq!(parsed(line), Err(expected.to_owned()), "{line}");
        }
    }
}
