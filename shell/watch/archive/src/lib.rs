//! Sends the history of a watch and its results to an object store: a folder, S3, or HTTP.
//!
//! **The history is the queue.** An [`Archiver`] has a thread and a cursor, `archive-NAME.json`
//! next to the history: the hour up to which everything was sent, and the results that were sent.
//! An outage of the store loses nothing that the history still has, a restart resumes, and nothing
//! is stored twice. No probe waits.
//!
//! | object | content |
//! |---|---|
//! | `samples/site=SITE/date=YYYY-MM-DD/HH.parquet` | every probe of an hour of UTC |
//! | `windows/site=SITE/date=YYYY-MM-DD/HH.parquet` | its windows of ten minutes |
//! | `runs/site=SITE/date=YYYY-MM-DD/NAME` | a result file, unchanged, at the date of its start |
//! | `sites/site=SITE/site.json` | the site, its labels, and the routers on its paths |
//!
//! **Exactly once.** An object is a function of the history of its hour: the same history makes the
//! same bytes, under the same name. Sending it again replaces it by itself, so a process that is
//! killed at any moment leaves nothing missing and nothing twice. An object appears complete or not
//! at all: as a renamed file, or by one PUT. An hour is sent once it is settled: 21 minutes after
//! its end, by the clock and by what the history has. Late replies have then arrived.
//!
//! **Changed hours.** An hour that gets more samples after it was sent is sent again, complete.
//! While the clock is before what was sent, because it was set back, the cursor collects the hours
//! in which the watch runs. It also has the counts of the last 48 hours that were sent, which are
//! compared with the history at each start and every hour. To send older imports, remove the cursor
//! file: everything is then sent again, to the same names. A change of the site or of the store has
//! the same effect.
//!
//! **The site** is described again when its labels change, and at most once an hour when the
//! routers on its paths do.
//!
//! **Bounds.** Memory holds six hours of one series and one row group of 100,000 rows. One object
//! at a time is a temporary file: in the folder, or else next to the history.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod archive;
mod archiver;
mod backlog;
mod credentials;
mod cursor;
mod feed;
mod folder;
mod hour;
mod http;
mod object;
mod outage;
mod place;
mod progress;
mod request;
mod results;
mod s3;
mod site;
mod temporary;
mod worker;

pub use archive::{Archive, Hops, Store, Token};
pub use archiver::{Archiver, Clock, Note};
pub use progress::{Progress, Sent, progress};
