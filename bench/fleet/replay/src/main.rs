//! Replays recorded remote-write requests as those of many sites, for `bench/fleet/engine.py`.
//!
//! ```text
//! fleet_replay describe recordings=FOLDER
//! fleet_replay send KEY=VALUE...    sends to an engine until everything is acknowledged
//! fleet_replay check KEY=VALUE...   compares each sample of an engine with what was acknowledged
//! fleet_replay serve KEY=VALUE...   answers the questions of `fathom fleet`, for bench/fleet/many.py
//! ```
//! Each prints one line of JSON. `send` needs `recordings` (folder), `url` (several with commas),
//! `ledger` (file to write) and the keys of [`plan::Plan`]. `batch` is the sites per request,
//! `senders` the requests at once, and `paced=1` sends each point at its time. `check` needs
//! `recordings` and `engine` (URL before `/api/v1/query`), and may have `tolerance` (relative error
//! of a value). With `ledger` it checks what was replayed, in as many `regions` from `first_region`
//! on; without, what was recorded. `serve` needs `sites` (their number) and `listen` (address).
#![expect(clippy::print_stdout, reason = "its lines are its result")]
mod check;
mod message;
mod plan;
mod recording;
mod send;
mod site;
mod stand_in;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::str::FromStr;

/// Whatever ends the program.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The words `KEY=VALUE`.
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    /// A value that must be there.
    pub(crate) fn text(&self, key: &str) -> Result<&str, Failure> {
        Ok(self.0.get(key).ok_or_else(|| format!("{key}=... is missing"))?)
    }
    /// A number, or what to take without one.
    pub(crate) fn number<T: FromStr<Err: Error + Send + Sync + 'static>>(
        &self,
        key: &str,
        otherwise: T,
    ) -> Result<T, Failure> {
        self.0.get(key).map_or(Ok(otherwise), |text| Ok(text.parse()?))
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let pairs = arguments.map(|word| {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("{word}: expected KEY=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    let words = Words(pairs.collect::<Result<_, String>>()?);
    match command.as_str() {
        "describe" => println!("{}", recording::describe(Path::new(words.text("recordings")?))?),
        "send" => println!("{}", send::send(&words)?),
        "check" => println!("{}", check::check(&words)?),
        "serve" => println!("{}", stand_in::serve(&words)?),
        _ => {
            return Err("expected describe, send, check or serve: see the first lines of this program".into());
        }
    }
    Ok(())
}
