//! The command line: prints the tables, and writes files.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its tables are its result")]
use crate::args::{self, Command, Source, Subject};
use crate::comparison::Table;
use crate::draw::{self, Path};
use crate::kernel::Machine;
use crate::{diagram, explain, json, score, tally};
use std::path::{Path as FilePath, PathBuf};
use std::process::ExitCode;

impl Source {
    const fn name(&self) -> &'static str {
        match self {
            Source::Simulator => "simulated paths",
            Source::Kernel { has_peers: false, .. } => "paths of the kernel",
            Source::Kernel { has_peers: true, .. } => "other tools on paths of the kernel",
        }
    }
    /// Where the tables are recorded, from the top of the repository.
    const fn tables(&self) -> &'static str {
        match self {
            Source::Simulator => "golden/figures/score.txt",
            Source::Kernel { has_peers: false, .. } => "golden/figures/score_kernel.txt",
            Source::Kernel { has_peers: true, .. } => "golden/figures/score_peers.txt",
        }
    }
    fn draw(&self, seed: u64, index: u64) -> Path {
        match self {
            Source::Simulator => draw::path(seed, index),
            Source::Kernel { .. } => draw::kernel_path(seed, index),
        }
    }
    /// Calls `then` with what measures paths.
    fn with_measure<T>(
        &self,
        then: impl FnOnce(score::Measure<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        match self {
            Source::Simulator => then(&score::simulated),
            Source::Kernel { kept, .. } => {
                let machine = Machine::find(kept.clone())?;
                then(&|path| machine.measure(path))
            }
        }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let done = args::parse(std::env::args().skip(1)).and_then(|command| match command {
        Command::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Command::Score { source, seeds, paths, json, is_recorded } => {
            let run = Sample { source, seeds, paths };
            let tables = match &run.source {
                Source::Kernel { kept, has_peers: true } => run.peers(kept.clone())?,
                _ => run.score(json.as_deref(), is_recorded)?,
            };
            if is_recorded { run.record(&tables) } else { Ok(()) }
        }
        Command::Path { source, subject, page } => run_path(&source, &subject, page.as_deref()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("score: {why}");
            ExitCode::from(2)
        }
    }
}

/// The paths to judge.
struct Sample {
    source: Source,
    seeds: Vec<u64>,
    /// Of each seed.
    paths: u64,
}

impl Sample {
    fn draw(&self) -> Vec<Path> {
        let of_seed = |seed| (0..self.paths).map(move |index| self.source.draw(seed, index));
        self.seeds.iter().flat_map(|seed| of_seed(*seed)).collect()
    }
    /// Prints and returns the tables.
    fn score(&self, json: Option<&FilePath>, is_recorded: bool) -> Result<String, String> {
        let all = self.draw();
        let scored = self.source.with_measure(|by| score::score(&all, by, &|| false))?;
        let tables = tally::tables(&scored);
        print!("{tables}\n{}", tally::wrong(&scored));
        if let Some(file) = json {
            write(file, &format!("{:#}\n", json::json(&scored)))?;
        }
        if is_recorded && self.source == Source::Simulator {
            write(&top().join("docs/images/score.svg"), &diagram::svg(&tally::calibration(&scored)))?;
        }
        Ok(tables)
    }
    /// Prints and returns what other tools report.
    fn peers(&self, kept: Option<PathBuf>) -> Result<String, String> {
        let machine = Machine::find(kept)?;
        let mut table = Table::default();
        for path in self.draw() {
            let peers = machine.peers(&path)?;
            score::with_explained(&path, &|drawn| machine.measure(drawn), |explained| {
                table.add(explained, &peers)
            })??;
        }
        let text = table.finish();
        print!("{text}");
        Ok(text)
    }
    fn record(&self, tables: &str) -> Result<(), String> {
        let list: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let (name, seeds, paths) = (self.source.name(), list.join(","), self.paths);
        let title = format!("bench/score: {name}, --seed {seeds} --paths {paths}\n\n");
        write(&top().join(self.source.tables()), &(title + tables))
    }
}

/// The top of the repository.
fn top() -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run_path(source: &Source, subject: &Subject, page: Option<&FilePath>) -> Result<(), String> {
    let path = match subject {
        Subject::Drawn { seed, index } => source.draw(*seed, *index),
        Subject::File(file) => read(file)?,
    };
    let explain = |explained: &explain::Explained<'_>| {
        print!("{}", explain::text(explained));
        page.map_or(Ok(()), |file| write(file, &explain::page(explained)))
    };
    source.with_measure(|by| score::with_explained(&path, by, explain))?
}

/// A scenario file; the traces that it names are read from its folder.
pub(crate) fn read(file: &FilePath) -> Result<Path, String> {
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
