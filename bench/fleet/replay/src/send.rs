//! Sends a plan to an engine as Prometheus does: a request that fails is sent again, the same
//! bytes, until it is acknowledged. A site's requests follow each other.
use crate::plan::Plan;
use crate::recording::{Recording, read_all};
use crate::site::Site;
use crate::{Failure, Words};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use ureq::Agent;

/// Waits between attempts: those of Prometheus.
const FIRST_WAIT: Duration = Duration::from_millis(30);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const REQUEST_LIMIT: Duration = Duration::from_secs(60);
/// An engine that takes nothing for this long is broken.
const PATIENCE: Duration = Duration::from_secs(300);

/// What all senders count together.
#[derive(Default)]
struct Counts {
    samples: AtomicU64,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Attempts that were not acknowledged.
    retries: AtomicU64,
    /// The longest delay of a request behind its time, in ms.
    behind_ms: AtomicU64,
}

/// What all senders share.
struct Work<'a> {
    plan: Plan,
    recordings: &'a [Recording],
    urls: Vec<&'a str>,
    batch: u64,
    senders: u64,
    paced: bool,
    counts: Counts,
}

/// Sends everything, writes the ledger, and returns the counts.
pub(crate) fn send(words: &Words) -> Result<Json, Failure> {
    let recordings = read_all(Path::new(words.text("recordings")?))?;
    let work = Work {
        plan: Plan::of(words)?,
        recordings: &recordings,
        urls: words.text("url")?.split(',').collect(),
        batch: words.number("batch", 1)?,
        senders: words.number("senders", 8)?,
        paced: words.number("paced", 0u8)? == 1,
        counts: Counts::default(),
    };
    let began = Instant::now();
    let done: Result<(), Failure> = thread::scope(|scope| {
        let senders: Vec<_> = (0..work.senders)
            .map(|n| {
                let work = &work;
                scope.spawn(move || sender(work, n))
            })
            .collect();
        senders.into_iter().try_for_each(|one| one.join().map_err(|_| "a sender panicked")?)
    });
    done?;
    let Counts { samples, requests, bytes, retries, behind_ms } = &work.counts;
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    // Everything was acknowledged: otherwise a sender would have failed.
    fs::write(words.text("ledger")?, work.plan.to_json().to_string())?;
    Ok(json!({
        "samples": read(samples), "requests": read(requests), "bytes": read(bytes),
        "retries": read(retries), "behind_ms": read(behind_ms), "seconds": began.elapsed().as_secs_f64(),
    }))
}

/// Sends the points of its part of the sites.
fn sender(work: &Work<'_>, number: u64) -> Result<(), Failure> {
    let (from, to) = work.plan.sites;
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(REQUEST_LIMIT))
        .proxy(None)
        .build()
        .into();
    let starts = (from..to).step_by(usize::try_from(work.batch)?).enumerate();
    let own: Vec<u64> =
        starts.filter(|(n, _)| *n as u64 % work.senders == number).map(|(_, start)| start).collect();
    let mut body = Vec::new();
    for round in 0..work.plan.rounds {
        for start in &own {
            body.clear();
            let mut samples = 0;
            let sites = *start..(start + work.batch).min(to);
            for site in sites.clone() {
                let of = (site, &Site::of(work.plan.seed, site));
                samples += work.plan.encode(of, round, work.recordings, &mut body)?;
            }
            if work.paced {
                // A request is sent when its last point is due.
                let due_ms = work.plan.at_ms(sites.end - 1, round);
                let wait = due_ms - now_ms()?;
                if let Ok(wait) = u64::try_from(wait) {
                    thread::sleep(Duration::from_millis(wait));
                }
                work.counts.behind_ms.fetch_max(u64::try_from(-wait).unwrap_or(0), Ordering::Relaxed);
            }
            if samples > 0 {
                deliver(work, &agent, number, &snap::raw::Encoder::new().compress_vec(&body)?)?;
                work.counts.samples.fetch_add(samples, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

fn now_ms() -> Result<i64, Failure> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

/// Sends a request until it is acknowledged.
fn deliver(work: &Work<'_>, agent: &Agent, sender: u64, packed: &[u8]) -> Result<(), Failure> {
    let (mut wait, began, mut attempt) = (FIRST_WAIT, Instant::now(), sender as usize);
    loop {
        let url = work.urls.get(attempt % work.urls.len()).ok_or("no URL")?;
        let answer = agent
            .post(*url)
            .header("Content-Type", "application/x-protobuf")
            .header("Content-Encoding", "snappy")
            .header("X-Prometheus-Remote-Write-Version", "0.1.0")
            .send(packed);
        let why = match answer {
            Ok(answer) if answer.status().is_success() => {
                work.counts.requests.fetch_add(1, Ordering::Relaxed);
                work.counts.bytes.fetch_add(packed.len() as u64, Ordering::Relaxed);
                return Ok(());
            }
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                let text = answer.body_mut().read_to_string().unwrap_or_default();
                if status != 429 && status < 500 {
                    return Err(format!("{url} refuses for good: {status} {text}").into());
                }
                format!("{status} {text}")
            }
            Err(error) => error.to_string(),
        };
        work.counts.retries.fetch_add(1, Ordering::Relaxed);
        if began.elapsed() > PATIENCE {
            return Err(format!("{url} acknowledges nothing: {why}").into());
        }
        thread::sleep(wait);
        wait = (wait * 2).min(LONGEST_WAIT);
        // As behind a load balancer: another node is asked.
        attempt += 1;
    }
}
