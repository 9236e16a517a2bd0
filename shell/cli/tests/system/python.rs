//! The Python package, with the tests in `shell/python/tests`: its results are those of this
//! program. `make python` builds it.
use crate::program::alone;
use std::path::Path;
use std::process::Command;

#[test]
fn the_package_has_the_results_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let python = root.join("target/python/venv/bin/python");
    assert!(python.exists(), "no {}: run make python", python.display());
    // They need both CPUs for a minute: those of sweeps start clusters, and kill them.
    let _alone = alone();
    let ran = Command::new(python)
        .args(["-m", "pytest", "--color=no"])
        .current_dir(root)
        .env("FATHOM", env!("CARGO_BIN_EXE_fathom"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    // It fails if it finds no tests; this shows that it found those of each file.
    let passed = out.lines().last().and_then(|line| line.split(' ').next()?.parse::<u32>().ok());
    assert!(passed.is_some_and(|count| count > 110), "{out}");
}
