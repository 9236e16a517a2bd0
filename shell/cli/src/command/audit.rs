//! `fathom audit`.
use crate::args::{AuditArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_audit::{Asked, Facts, Level, LinkRate, Place, Seen, Tree, Worst, audit, links};
use fathom_report::Audited;
use fathom_units::Time;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Version of the document that `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// Time between two samples: a queue that fills and drains in less is no problem.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &AuditArgs, when: When) -> Outcome {
    let tree = gather(args)?;
    if let Some(folder) = &args.save {
        save(&tree, folder)?;
    }
    let facts = Facts::of(&tree);
    if facts.interfaces.is_empty() {
        let whose = args.host.as_deref().map_or_else(|| whose_root(args), str::to_owned);
        return Err(Failure::environment(format_args!("{whose}: no network interfaces below sys/class/net")));
    }
    let asked = asked(args, &facts)?;
    let seen = args.observe.map(|time| observe(Duration::from_nanos(time.as_nanos()))).transpose()?;
    let (found, links) = (audit(&facts, &asked, seen.as_ref()), links(&facts, &asked, seen.as_ref()));
    let audited = Audited {
        host: &facts.host,
        from: args.host.as_deref(),
        links: &links,
        places: &found,
        seen: seen.as_ref(),
        all: args.all,
    };
    if args.json {
        terminal::print(&format!("{:#}\n", document(&audited)))?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::audit(&audited, columns, style))?;
    }
    let is_bad = found.iter().any(|place| place.level == Level::Bad);
    Ok(if is_bad { Exit::Bloated } else { Exit::Healthy })
}

fn whose_root(args: &AuditArgs) -> String {
    args.root.as_ref().map_or_else(|| "/".to_owned(), |root| root.display().to_string())
}

fn gather(args: &AuditArgs) -> Result<Tree, Failure> {
    if let Some(host) = &args.host {
        let patience = Duration::from_nanos(args.timeout.as_nanos());
        return fathom_audit_facts::remote(&args.rsh, host, patience).map_err(Failure::environment);
    }
    if let Some(root) = &args.root {
        return Ok(fathom_audit_facts::files(root));
    }
    let mut tree = fathom_audit_facts::files(Path::new("/"));
    match fathom_audit_facts::add_all(&mut tree) {
        Err(error) => terminal::note(&format!(
            "the kernel does not list its queue disciplines ({error}): the defaults are assumed"
        )),
        Ok(false) => terminal::note(
            "/sys shows another network namespace than this program is in\n  try: ip netns exec NAME fathom audit",
        ),
        Ok(true) => {}
    }
    // A kernel without Wi-Fi has nothing to tell of it; the rate is then the user's to tell.
    let _ = fathom_audit_facts::add_wifi(&mut tree);
    // Nor has one without nf_tables of flow tables; configuration files tell the rest.
    let _ = fathom_audit_facts::add_flowtables(&mut tree);
    Ok(tree)
}

fn save(tree: &Tree, folder: &Path) -> Result<(), Failure> {
    let count = fathom_audit_facts::save(tree, folder).map_err(|(path, error)| {
        Failure::environment(format_args!("{path}: {error}\n  try: --save DIR elsewhere"))
    })?;
    terminal::note(&format!("wrote {count} files below {}", folder.display()));
    Ok(())
}

fn asked(args: &AuditArgs, facts: &Facts) -> Result<Asked, Failure> {
    let mut asked = Asked::default();
    for given in &args.rate {
        match &given.name {
            None => asked.line = Some(given.rate),
            Some(name) if facts.interfaces.iter().any(|interface| interface.name == *name) => {
                asked.own.insert(name.clone(), given.rate);
            }
            Some(name) => {
                let names: Vec<&str> =
                    facts.interfaces.iter().map(|interface| interface.name.as_str()).collect();
                let known = names.join(", ");
                return Err(Failure::input(format_args!(
                    "--rate {name}=...: no such interface (there are: {known})"
                )));
            }
        }
    }
    Ok(asked)
}

/// Samples until the time is over, or until Ctrl-C.
fn observe(span: Duration) -> Result<Seen, Failure> {
    let ended = signal::stop_flag()?;
    let start = Instant::now();
    let mut seen = Seen::default();
    while start.elapsed() < span && !ended.load(std::sync::atomic::Ordering::Relaxed) {
        let begun = Instant::now();
        let mut tree = fathom_audit_facts::sampled(Path::new("/"));
        // What this kernel does not tell is not seen, and the place says so.
        let _ = fathom_audit_facts::add_qdiscs(&mut tree);
        let _ = fathom_audit_facts::add_unsent(&mut tree);
        let now = Time::from_nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        seen.add(&tree, now);
        std::thread::sleep(SAMPLE_EVERY.saturating_sub(begun.elapsed()));
    }
    Ok(seen)
}

fn document(audited: &Audited<'_>) -> Value {
    let watched =
        audited.seen.map(|seen| json!({ "span_s": seen.span.as_secs_f64(), "samples": seen.samples }));
    json!({
        "schema_version": SCHEMA_VERSION,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "command": "audit",
        "target": audited.from.or(audited.host.name.as_deref()),
        "kernel": audited.host.kernel,
        "results": {
            "interfaces": audited.links.iter().map(link_document).collect::<Vec<Value>>(),
            "observed": watched,
        },
        "findings": audited.places.iter().map(place_document).collect::<Vec<Value>>(),
    })
}

fn link_document(link: &LinkRate) -> Value {
    json!({
        "name": link.name,
        "kind": link.kind.name(),
        "way_out": link.is_way_out,
        "rate_bits_per_second": link.rate.map(|(rate, _)| rate.as_bits_per_second()),
        "rate_source": link.rate.map(|(_, source)| source.name()),
        "mismatch_ratio": link.mismatch,
    })
}

fn place_document(place: &Place) -> Value {
    let worst = |worst: &Worst| {
        json!({
            "bytes": worst.sum.total().0,
            "delay_s": worst.sum.delay().as_secs_f64(),
            "sum": worst.sum.text(),
            "super_packets": worst.super_packets.as_ref().map(|sum| json!({
                "bytes": sum.total().0, "delay_s": sum.delay().as_secs_f64(), "sum": sum.text(),
            })),
        })
    };
    json!({
        "place": place.spot.number(),
        "name": place.spot.name(),
        "object": place.object,
        "level": level(place.level),
        "what": place.what,
        "worst": place.worst.as_ref().map(worst),
        "timer_s": place.timer.map(fathom_units::Duration::as_secs_f64),
        "observed_bytes": place.seen.map(|bytes| bytes.0),
        "observed_delay_s": place.seen_delay.map(fathom_units::Duration::as_secs_f64),
        "mismatch_ratio": place.mismatch,
        "why": place.why,
        "fix": place.fix,
        "undo": place.undo,
    })
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Quiet => "no problem",
        Level::Dark => "dark",
        Level::Unknown => "unknown",
        Level::Bad => "bad",
    }
}
