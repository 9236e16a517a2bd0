//! The page for a provider.
use crate::line::{BLOATED, MANAGED};
use fathom_diagnose::diagnose;
use fathom_prose::evidence_for_provider;
use fathom_report::provider_page;
use fathom_run::{Fact, FirstLink, Path, Run};

fn bloated() -> Run {
    let mut run = BLOATED.run();
    run.facts.insert(Fact::Address, "198.51.100.7:3279".into());
    run.facts.insert(Fact::SeenAs, "203.0.113.5".into());
    run.path = Some(Path { first_link: Some(FirstLink::Wired), ..Path::default() });
    run
}

#[test]
fn a_bloated_line_has_conditions_steps_and_requests() {
    let run = bloated();
    let page = provider_page(&run, &diagnose(&run)).expect("a bloated line");
    for expected in [
        "203.0.113.5",
        "Wi-Fi: the computer was connected by cable.",
        "run ping 198.51.100.7: ",
        "Uploading at full speed for 30 s raises the same ping to ",
        "Reduce the upload buffer of the modem from ",
        "RFC 8034",
    ] {
        assert!(readable(&page).contains(expected), "{expected}: {page}");
    }
}

/// Without the spaces that keep numbers and units together.
fn readable(page: &str) -> String {
    page.replace('\u{a0}', " ")
}

/// Wi-Fi is excluded only by a cable, or by a router that answered without the delay.
#[test]
fn wi_fi_is_not_excluded_without_evidence() {
    let mut run = bloated();
    run.path = Some(Path { first_link: Some(FirstLink::Wifi), ..Path::default() });
    let evidence = evidence_for_provider(&run, &diagnose(&run)).expect("a bloated line");
    assert!(evidence.excluded.iter().all(|one| !one.starts_with("Wi-Fi")), "{evidence:?}");
}

#[test]
fn a_line_without_bufferbloat_has_no_page() {
    let run = MANAGED.run();
    assert_eq!(provider_page(&run, &diagnose(&run)), None);
}
