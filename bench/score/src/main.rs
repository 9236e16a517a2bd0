//! The program `score`: see `docs/score.md`.
use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_bench_score::main()
}
