//! `fathom audit`.
use crate::args::{AuditArgs, When};
use crate::failure::{Exit, Outcome};
use crate::{signal, terminal};
use fathom_app::CancelToken;
use fathom_app::audit::{self, AuditEvent, AuditRequest, AuditSource};
use fathom_diagnose::Health;
use fathom_report::Audited;

pub(crate) fn run(args: &AuditArgs, when: When) -> Outcome {
    let request = request(args);
    let is_observed = matches!(request.source, AuditSource::Local { observe: Some(_) });
    let cancel = if is_observed { signal::cancel_token()? } else { CancelToken::new() };
    let outcome = audit::run(&request, &cancel, &mut |event| terminal::note(&words(&event)))?;
    let (host, diagnosis) = (&outcome.host, &outcome.diagnosis);
    if args.json {
        terminal::print(&format!("{}\n", outcome.document()))?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
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

fn words(event: &AuditEvent<'_>) -> String {
    match event {
        AuditEvent::QdiscsUnknown(error) => {
            format!("the kernel does not list its queue disciplines ({error}): the defaults are assumed")
        }
        AuditEvent::OtherNamespace => {
            "/sys shows another network namespace than this program is in\n  try: ip netns exec NAME fathom audit"
                .to_owned()
        }
        AuditEvent::Saved { files, directory } => format!("wrote {files} files below {}", directory.display()),
    }
}
