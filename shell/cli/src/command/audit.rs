//! `fathom audit`: lists the places where packets can queue.
use crate::args::AuditArgs;
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::{self, Console, warn};
use fathom_app::CancelToken;
use fathom_app::audit::{self, AuditEvent, AuditRequest, AuditSource};
use fathom_diagnose::Health;
use fathom_report::Audited;
use fathom_text::counted;

pub(crate) fn run(args: &AuditArgs, console: Console) -> Outcome {
    let request = request(args);
    let is_observed = matches!(request.source, AuditSource::Local { observe: Some(_) });
    let cancel = if is_observed { signal::cancel_token()? } else { CancelToken::new() };
    let outcome = audit::run(&request, &cancel, &mut |event| report(&event, console))?;
    let (host, diagnosis) = (&outcome.host, &outcome.diagnosis);
    if args.json {
        terminal::print(&format!("{}\n", outcome.document()))?;
    } else {
        let (style, columns) = console.stdout_form();
        let audited = Audited { host, diagnosis, all: args.all };
        terminal::print(&fathom_report::audit(&audited, columns, style))?;
    }
    Ok(if diagnosis.health == Health::Bloated { Exit::Bloated } else { Exit::Healthy })
}

fn request(args: &AuditArgs) -> AuditRequest {
    let source = match (&args.host, &args.root) {
        (Some(host), _) => {
            AuditSource::Remote { host: host.clone(), rsh: args.rsh.clone(), timeout: args.timeout }
        }
        (None, Some(root)) => AuditSource::Directory(root.clone()),
        (None, None) => AuditSource::Local { observe: args.observe },
    };
    AuditRequest { source, rates: args.rate.clone(), save: args.save.clone() }
}

fn report(event: &AuditEvent<'_>, console: Console) {
    match event {
        AuditEvent::QdiscsUnknown(error) => warn(&format!(
            "warning: the kernel does not list its queue disciplines ({error}): the audit assumes the defaults"
        )),
        AuditEvent::OtherNamespace => warn(
            "warning: /sys shows another network namespace than that of this process\n  try: ip netns exec NAME fathom audit",
        ),
        AuditEvent::Saved { files, directory } => {
            let files = counted(*files as u64, "file", "files");
            console.note(&format!("wrote {files} to {}", directory.display()));
        }
    }
}
