//! Random paths whose truth is known, and how often each claim of the diagnosis is right. See
//! `docs/score.md`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its tables are its result")]
mod args;
mod claims;
mod diagram;
mod draw;
mod explain;
mod json;
mod kernel;
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

/// Where paths come from, and where their score is recorded, from the top of the repository.
struct Source {
    name: &'static str,
    draw: fn(u64, u64) -> Path,
    is_kernel: bool,
    tables: &'static str,
    diagram: Option<&'static str>,
}

const SIMULATOR: Source = Source {
    name: "simulated paths",
    draw: draw::path,
    is_kernel: false,
    tables: "golden/figures/score.txt",
    diagram: Some("docs/images/score.svg"),
};
const KERNEL: Source = Source {
    name: "paths of the kernel",
    draw: draw::kernel_path,
    is_kernel: true,
    tables: "golden/figures/score_kernel.txt",
    diagram: None,
};

impl Source {
    /// Calls `then` with what measures paths.
    fn with_measure<T>(
        &self,
        then: impl FnOnce(score::Measure<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        if !self.is_kernel {
            return then(&score::simulated);
        }
        let machine = kernel::Machine::find()?;
        then(&|path| machine.measure(path))
    }
}

fn main() -> ExitCode {
    let done = args::parse(std::env::args().skip(1)).and_then(|command| match command {
        Command::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Command::Score { is_kernel, seeds, paths, json, is_recorded } => {
            let source = if is_kernel { &KERNEL } else { &SIMULATOR };
            run_score(source, &seeds, paths, json.as_deref(), is_recorded)
        }
        Command::Path { is_kernel, subject, page } => {
            let source = if is_kernel { &KERNEL } else { &SIMULATOR };
            run_path(source, &subject, page.as_deref())
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("score: {why}");
            ExitCode::from(2)
        }
    }
}

fn run_score(
    source: &Source,
    seeds: &[u64],
    paths: u64,
    json: Option<&FilePath>,
    is_recorded: bool,
) -> Result<(), String> {
    let all = seeds.iter().flat_map(|seed| (0..paths).map(|index| (source.draw)(*seed, index)));
    let all: Vec<Path> = all.collect();
    let scored = source.with_measure(|by| score::score(&all, by))?;
    let tables = tally::tables(&scored);
    print!("{tables}\n{}", tally::wrong(&scored));
    if let Some(file) = json {
        write(file, &format!("{:#}\n", json::json(&scored)))?;
    }
    if is_recorded {
        let top = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let list: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let title = format!("bench/score: {}, --seed {} --paths {paths}\n\n", source.name, list.join(","));
        write(&top.join(source.tables), &(title + &tables))?;
        let diagram = || diagram::svg(&tally::calibration(&scored));
        source.diagram.map_or(Ok(()), |file| write(&top.join(file), &diagram()))?;
    }
    Ok(())
}

fn run_path(source: &Source, subject: &Subject, page: Option<&FilePath>) -> Result<(), String> {
    let path = match subject {
        Subject::Drawn { seed, index } => (source.draw)(*seed, *index),
        Subject::File(file) => read(file)?,
    };
    let explain = |explained: &explain::Explained<'_>| {
        print!("{}", explain::text(explained));
        page.map_or(Ok(()), |file| write(file, &explain::page(explained)))
    };
    source.with_measure(|by| score::with_explained(&path, by, explain))?
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
