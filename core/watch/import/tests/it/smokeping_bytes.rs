//! Properties that hold for any bytes given as a SmokePing configuration: the result is a valid
//! configuration.
use fathom_watch_import::smokeping::{Imported, import};

/// Files are separated by zero bytes. The first is the main file, the others are `1`, `2` and so
/// on.
pub(crate) fn check(bytes: &[u8]) -> Option<Imported> {
    let text = String::from_utf8_lossy(bytes);
    let files: Vec<&str> = text.split('\0').collect();
    let mut load = |name: &str| {
        let number = name.parse::<usize>().ok().and_then(|n| files.get(n));
        number.map(ToString::to_string).ok_or_else(|| "no such file".to_owned())
    };
    match import("0", &mut load) {
        Ok(imported) => {
            assert!(imported.notes.iter().all(|note| note.place.line >= 1 && !note.what.contains('\n')));
            if imported.targets.is_empty() {
                return Some(imported);
            }
            let plan = fathom_watch_plan::parse(&imported.toml, "made");
            let plan = plan.unwrap_or_else(|error| panic!("{error}\n{}", imported.toml));
            let names = |name: &str| plan.targets.iter().any(|target| target.name == name);
            assert!(imported.targets.iter().all(|target| names(&target.name)), "{}", imported.toml);
            Some(imported)
        }
        Err(mistake) => {
            assert!(mistake.place.line >= 1 && !mistake.what.contains('\n'), "{mistake}");
            None
        }
    }
}
