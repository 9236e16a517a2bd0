//! The file of what was tested, next to the history.
use super::TestReport;
use fathom_os::clock::wall_now;
use fathom_store::replace;
use fathom_units::{Bytes, WallTime};
use fathom_watch_schedule::Ledger;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

const FILE: &str = "tests.json";
/// Version of the file.
const VERSION: u64 = 1;

/// The last test of a watch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LastTest {
    /// Its name.
    pub(crate) name: String,
    /// When it began.
    pub(crate) began: WallTime,
    /// When it ended; `None` while it runs, and after the program was killed.
    pub(crate) ended: Option<WallTime>,
}

/// The last test of the watch with this history.
pub(crate) fn last_test(store: &Path) -> Option<LastTest> {
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(store.join(FILE)).ok()?).ok()?;
    let last = whole.get("last")?;
    Some(LastTest {
        name: last.get("name")?.as_str()?.to_owned(),
        began: WallTime(last.get("began_ns")?.as_u64()?),
        ended: last.get("ended_ns")?.as_u64().map(WallTime),
    })
}

/// The ledgers of all tests. The file is replaced atomically at each change.
pub(super) struct LedgerFile {
    path: PathBuf,
    seed: u64,
    ledgers: BTreeMap<String, Ledger>,
    last: Option<LastTest>,
    reports: Sender<TestReport>,
    is_unsaved: bool,
}

impl LedgerFile {
    /// Opens the file. Without one, or with a damaged one, which is reported, starts with full
    /// budgets.
    pub(super) fn open(store: &Path, reports: &Sender<TestReport>) -> LedgerFile {
        let path = store.join(FILE);
        // Only the moments of tests depend on it.
        let seed = wall_now().0 ^ u64::from(std::process::id()) << 40;
        let mut file = LedgerFile {
            path,
            seed,
            ledgers: BTreeMap::new(),
            last: None,
            reports: reports.clone(),
            is_unsaved: false,
        };
        match std::fs::read_to_string(&file.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => file.note(&format!("cannot be read ({error}): the budgets start again")),
            Ok(text) => match parse(&text) {
                Some(read) => (file.seed, file.ledgers) = read,
                None => file.note("is damaged: the budgets start again"),
            },
        }
        file
    }
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }
    pub(super) fn get(&self, name: &str) -> Ledger {
        self.ledgers.get(name).copied().unwrap_or_default()
    }
    pub(super) fn set(&mut self, name: &str, ledger: Ledger) {
        self.ledgers.insert(name.to_owned(), ledger);
        self.save();
    }
    /// Notes that a test begins.
    pub(super) fn begin(&mut self, name: &str, began: WallTime, ledger: Ledger) {
        self.last = Some(LastTest { name: name.to_owned(), began, ended: None });
        self.set(name, ledger);
    }
    /// Notes that the test has ended; `None` if it did not load the line.
    pub(super) fn end(&mut self, at: Option<WallTime>) {
        self.last = self.last.take().zip(at).map(|(last, at)| LastTest { ended: Some(at), ..last });
        self.save();
    }
    fn save(&mut self) {
        let text = format!("{:#}\n", json(self.seed, &self.ledgers, self.last.as_ref()));
        match replace(&self.path, text.as_bytes()) {
            Ok(()) => self.is_unsaved = false,
            Err(error) if !self.is_unsaved => {
                self.is_unsaved = true;
                self.note(&format!("cannot be written ({error}): a restart would repeat tests"));
            }
            Err(_) => {}
        }
    }
    fn note(&self, what: &str) {
        let text = format!("tests: {} {what}", self.path.display());
        let report = TestReport { name: String::new(), at: wall_now(), values: None, text, is_saved: false };
        let _ = self.reports.send(report);
    }
}

fn json(seed: u64, ledgers: &BTreeMap<String, Ledger>, last: Option<&LastTest>) -> Value {
    let one = |(name, ledger): (&String, &Ledger)| {
        let (year, month) = ledger.month;
        let value = json!({
            "done": ledger.done, "year": year, "month": month,
            "used_bytes": ledger.used.get(), "last_bytes": ledger.last.get(),
        });
        (name.clone(), value)
    };
    let tests: Map<_, _> = ledgers.iter().map(one).collect();
    let last = last.map(|LastTest { name, began, ended }| {
        json!({ "name": name, "began_ns": began.0, "ended_ns": ended.map(|ended| ended.0) })
    });
    json!({ "fathom_tests": VERSION, "seed": seed, "tests": tests, "last": last })
}

fn parse(text: &str) -> Option<(u64, BTreeMap<String, Ledger>)> {
    let whole: Value = serde_json::from_str(text).ok()?;
    (whole.get("fathom_tests")?.as_u64()? == VERSION).then_some(())?;
    let one = |(name, value): (&String, &Value)| {
        let number = |key| value.get(key)?.as_u64();
        let ledger = Ledger {
            done: number("done"),
            month: (number("year")?, number("month")?),
            used: Bytes(number("used_bytes")?),
            last: Bytes(number("last_bytes")?),
        };
        Some((name.clone(), ledger))
    };
    let tests = whole.get("tests")?.as_object()?;
    Some((whole.get("seed")?.as_u64()?, tests.iter().map(one).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_ledger_outlives_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let (to, reports) = channel();
        let mut file = LedgerFile::open(folder.path(), &to);
        let ledger = Ledger { done: Some(7), month: (2026, 12), used: Bytes(5), last: Bytes(3) };
        file.set("line", ledger);
        file.set("other", Ledger { month: (2026, 12), ..Ledger::default() });
        let again = LedgerFile::open(folder.path(), &to);
        assert_eq!((again.seed(), again.get("line")), (file.seed(), ledger));
        assert_eq!(again.get("new"), Ledger::default());
        assert!(reports.try_recv().is_err(), "nothing to report");
    }

    #[test]
    fn a_damaged_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (to, reports) = channel();
        for text in
            ["", "{", "{\"fathom_tests\": 2}", "{\"fathom_tests\": 1, \"seed\": 1, \"tests\": {\"a\": {}}}"]
        {
            std::fs::write(folder.path().join("tests.json"), text).unwrap();
            assert_eq!(LedgerFile::open(folder.path(), &to).get("a"), Ledger::default());
            assert!(reports.try_recv().unwrap().text.contains("tests.json is damaged"), "{text}");
        }
    }
}
