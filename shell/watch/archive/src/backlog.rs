//! Which objects are to be sent.
use crate::cursor::{Counts, RECENT_HOURS, SentResult};
use crate::feed::Content;
use crate::hour::Hour;
use crate::object::Object;
use crate::results::{Found, find};
use crate::worker::{Halt, Worker};
use fathom_os::error::without_code;
use fathom_units::WallTime;
use fathom_watch_store::HistoryError;
use std::time::{Duration, Instant};

/// Interval of checks for new results.
const RESULTS_EVERY: Duration = Duration::from_secs(60);
/// The cursor, which names all results, is saved after a hundredth of them.
const SAVES_PER_RESULTS: usize = 100;

/// Number of samples: those of sent and of failed probes.
const fn samples(counts: &Counts) -> u64 {
    counts[0].saturating_add(counts[4])
}

impl Worker {
    /// Sends what is next; returns whether there may be more.
    pub(crate) fn advance(&mut self) -> Result<bool, Halt> {
        self.begin_again_if_removed();
        self.watch_clock();
        self.send_site()?;
        self.send_results()?;
        let next = match self.next_again()? {
            Some(hour) => Some(hour),
            None => self.next_hour()?,
        };
        match next {
            Some(hour) => {
                let counts = self.feed.counts(hour, 1)?;
                self.send_hour(hour, counts.first().copied().unwrap_or_default())?;
            }
            None => self.compare_recent()?,
        }
        self.reported.unreadable = false;
        for fault in self.feed.faults() {
            self.note(&format!("skipped a damaged part of the history: {fault}"));
        }
        Ok(next.is_some())
    }
    /// While the clock is before what was sent, remembers each hour, which gets more samples.
    fn watch_clock(&mut self) {
        let current = Hour::of((self.clock)());
        let is_behind = self.cursor.upto > current;
        let was_behind = std::mem::replace(&mut self.behind, is_behind.then_some(current));
        if !is_behind {
            return;
        }
        if was_behind.is_none() {
            let (upto, from) = (self.cursor.upto.start(), current.start());
            self.note(&format!("the clock was set back: sent until {upto}, sending again from {from}"));
        }
        // An outage may have taken some hours.
        let first = was_behind.filter(|was| *was <= current && current.minus(RECENT_HOURS) <= *was);
        let before = self.cursor.again.len();
        self.cursor.again.extend((first.unwrap_or(current).0..=current.0).map(Hour));
        if self.cursor.again.len() > before {
            self.save();
        }
    }
    fn send_site(&mut self) -> Result<(), Halt> {
        let now = (self.clock)();
        if let Some(text) = self.description.due(&self.archive, &self.cursor.site, now) {
            self.deliver(&Object::Site(text.clone()))?;
            self.cursor.site = text;
            self.save();
        }
        Ok(())
    }
    /// Sends new and changed results.
    fn send_results(&mut self) -> Result<(), Halt> {
        let Some(dir) = self.archive.results.clone() else { return Ok(()) };
        if self.results_seen.is_some_and(|seen| seen.elapsed() < RESULTS_EVERY) {
            return Ok(());
        }
        let all = match find(&dir) {
            Ok(all) => all,
            Err(error) => {
                if !std::mem::replace(&mut self.reported.no_results, true) {
                    self.note(&format!("results {}: {}; will retry", dir.display(), without_code(&error)));
                }
                self.results_seen = Some(Instant::now());
                return Ok(());
            }
        };
        self.reported.no_results = false;
        let before = self.cursor.results.len();
        self.cursor.results.retain(|name, _| all.binary_search_by(|found| found.name.cmp(name)).is_ok());
        let mut unsaved = before - self.cursor.results.len();
        let now = (self.clock)();
        for found in all.iter().filter(|found| found.is_complete(now)) {
            unsaved += usize::from(self.send_result(found)?);
            if unsaved > self.cursor.results.len() / SAVES_PER_RESULTS {
                self.save();
                unsaved = 0;
            }
        }
        if unsaved > 0 {
            self.save();
        }
        self.results_seen = Some(Instant::now());
        Ok(())
    }
    /// Sends a result unless it was sent; returns whether the cursor has changed.
    fn send_result(&mut self, found: &Found) -> Result<bool, Halt> {
        let sent = self.cursor.results.get(&found.name);
        if sent.is_some_and(|sent| found.is(sent)) {
            return Ok(false);
        }
        let date = sent.map_or_else(|| found.date(), |sent| sent.date.clone());
        let object =
            Object::Result { name: found.name.clone(), date: date.clone(), path: found.path.clone() };
        let is_sent = self.deliver(&object)?;
        if is_sent {
            let result = SentResult { bytes: found.bytes, modified_ms: found.modified_ms, date };
            self.cursor.results.insert(found.name.clone(), result);
        }
        Ok(is_sent)
    }
    /// The time before which the clock and the history are; `None` without a history.
    fn horizon(&mut self) -> Result<Option<WallTime>, Halt> {
        let now = (self.clock)();
        Ok(self.feed.written()?.map(|written| written.min(now)))
    }
    /// The next settled hour in which the clock was set back.
    fn next_again(&mut self) -> Result<Option<Hour>, Halt> {
        if self.cursor.again.is_empty() {
            return Ok(None);
        }
        let Some(horizon) = self.horizon()? else { return Ok(None) };
        Ok(self.cursor.again.iter().copied().find(|hour| hour.is_settled(horizon)))
    }
    /// The next hour to send, if it is settled. Moves the cursor over hours without samples.
    fn next_hour(&mut self) -> Result<Option<Hour>, Halt> {
        let upto = self.cursor.upto;
        // The history need not be read.
        if !upto.is_settled((self.clock)()) {
            return Ok(None);
        }
        let Some(horizon) = self.horizon()? else { return Ok(None) };
        if !upto.is_settled(horizon) {
            return Ok(None);
        }
        let Some(first) = self.feed.next(upto)? else { return Ok(None) };
        // Samples with times in the future do not move the cursor there.
        let next = first.min(Hour::first_unsettled(horizon));
        if next > upto {
            self.report_dropped(upto, next)?;
            self.cursor.upto = next;
            self.save();
        }
        Ok(next.is_settled(horizon).then_some(next))
    }
    /// Sends the tables of an hour.
    fn send_hour(&mut self, hour: Hour, counts: Counts) -> Result<(), Halt> {
        if counts != Counts::default() {
            let has_samples = self.deliver(&Object::Table(Content::Samples, hour))?;
            if has_samples {
                self.deliver(&Object::Table(Content::Windows, hour))?;
            } else {
                self.report_dropped(hour, hour.next())?;
            }
        }
        self.cursor.sent(hour, counts, Hour::first_unsettled((self.clock)()));
        self.save();
        Ok(())
    }
    /// Sends recent hours again that have changed since they were sent.
    fn compare_recent(&mut self) -> Result<(), Halt> {
        let end = self.cursor.upto.min(Hour::first_unsettled((self.clock)()));
        if self.compared == Some(end) {
            return Ok(());
        }
        // Hours of which samples were dropped keep their object.
        let from = end.minus(RECENT_HOURS).max(self.feed.oldest()?).min(end);
        let all = self.feed.counts(from, end.0 - from.0)?;
        for (number, counts) in (from.0..).zip(all) {
            let hour = Hour(number);
            let sent = self.cursor.recent.get(&hour).copied().unwrap_or_default();
            // Fewer samples mean that a damaged part of the history was set aside.
            let is_better = samples(&counts) >= samples(&sent);
            if sent != counts && is_better {
                self.send_hour(hour, counts)?;
            }
        }
        self.compared = Some(end);
        Ok(())
    }
    /// Notes that the history of a period no longer has its samples.
    fn report_dropped(&mut self, from: Hour, to: Hour) -> Result<(), Halt> {
        // At the beginning, nothing was lost.
        if from == Hour(0) {
            return Ok(());
        }
        if let Some((first, last)) = self.counted(from, to)? {
            let (start, end) = (first.start(), last.end());
            self.note(&format!("samples from {start} to {end} were dropped unsent"));
        }
        Ok(())
    }
    /// The first and last hour of a period that have counts.
    fn counted(&mut self, from: Hour, to: Hour) -> Result<Option<(Hour, Hour)>, HistoryError> {
        let mut found: Option<(Hour, Hour)> = None;
        let mut at = from;
        while at < to {
            let hours = (to.0 - at.0).min(RECENT_HOURS);
            for (number, counts) in (at.0..).zip(self.feed.counts(at, hours)?) {
                if counts != Counts::default() {
                    found = Some((found.map_or(Hour(number), |(first, _)| first), Hour(number)));
                }
            }
            at = Hour(at.0 + hours);
        }
        Ok(found)
    }
}
