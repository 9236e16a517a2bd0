//! Random paths whose truth is known, and how often each claim of the diagnosis is right. See
//! `docs/score.md`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its tables are its result")]
mod args;
mod claims;
mod diagram;
mod draw;
mod explain;
mod json;
mod measure;
#[cfg(test)]
mod sample;
mod score;
mod tally;
mod truth;

use args::{Command, Subject};
use draw::Path;
use std::path::Path as FilePath;
use std::process::ExitCode;

/// The recorded table, and the diagram of `docs/score.md`, from the top of the repository.
const RECORD: &str = "golden/figures/score.txt";
const DIAGRAM: &str = "docs/images/score.svg";

fn main() -> ExitCode {
    let done = args::parse(std::env::args().skip(1)).and_then(|command| match command {
        Command::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Command::Score { seeds, paths, json, is_recorded } => {
            run_score(&seeds, paths, json.as_deref(), is_recorded)
        }
        Command::Path { subject, page } => run_path(&subject, page.as_deref()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("score: {why}");
            ExitCode::from(2)
        }
    }
}

fn run_score(seeds: &[u64], paths: u64, json: Option<&FilePath>, is_recorded: bool) -> Result<(), String> {
    let all = seeds.iter().flat_map(|seed| (0..paths).map(|index| draw::path(*seed, index)));
    let scored = score::score(&all.collect::<Vec<_>>())?;
    let tables = tally::tables(&scored);
    print!("{tables}\n{}", tally::wrong(&scored));
    if let Some(file) = json {
        write(file, &format!("{:#}\n", json::json(&scored)))?;
    }
    if is_recorded {
        let top = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let list: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let title = format!("bench/score --seed {} --paths {paths}: simulated paths\n\n", list.join(","));
        write(&top.join(RECORD), &(title + &tables))?;
        write(&top.join(DIAGRAM), &diagram::svg(&tally::calibration(&scored)))?;
    }
    Ok(())
}

fn run_path(subject: &Subject, page: Option<&FilePath>) -> Result<(), String> {
    let path = match subject {
        Subject::Drawn { seed, index } => draw::path(*seed, *index),
        Subject::File(file) => read(file)?,
    };
    score::with_explained(&path, |explained| {
        print!("{}", explain::text(explained));
        page.map_or(Ok(()), |file| write(file, &explain::page(explained)))
    })?
}

/// A scenario file; the traces that it names are read from its folder.
fn read(file: &FilePath) -> Result<Path, String> {
    let load = |of: &FilePath| {
        std::fs::read_to_string(of).map_err(|why| format!("cannot read {}: {why}", of.display()))
    };
    let folder = file.parent().unwrap_or(FilePath::new(""));
    let text = load(file)?;
    let names = text.split('"').filter(|word| word.ends_with(".trace"));
    let traces: Result<_, _> =
        names.map(|name| Ok::<_, String>((name.to_owned(), load(&folder.join(name))?))).collect();
    Ok(Path { name: file.display().to_string(), files: traces?, text })
}

fn write(file: &FilePath, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|why| format!("cannot write {}: {why}", file.display()))
}
