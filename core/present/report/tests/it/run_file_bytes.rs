//! What must hold for any bytes given as a run file.
use fathom_diagnose::diagnose;
use fathom_report::{Detail, Origin, Style, compare, csv, flent, html, summary, svg};
use fathom_run::Run;

/// The bytes are refused in words, or they are a run that can be diagnosed, shown in every form,
/// and written again.
pub(crate) fn check(bytes: &[u8]) {
    let run = match Run::from_json(bytes) {
        Ok(run) => run,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let diagnosis = diagnose(&run);
    let style = Style { color: false, unicode: bytes.len().is_multiple_of(2), detail: Detail::Normal };
    let texts = [
        summary(&run, &diagnosis, Origin::default(), 80, style),
        compare(&[("a", &run, &diagnosis), ("b", &run, &diagnosis)], 40, style),
        html(&[(&run, &diagnosis)]),
        svg(&[(&run, &diagnosis)]),
    ];
    assert!(texts.iter().all(|text| !text.is_empty() && !text.contains('\x1b')));
    assert!(texts[2..].iter().all(|page| !page.contains("<script>alert")));
    assert!(!csv(&run).is_empty() && !flent(&run).contains("NaN"));
    let written = serde_json::to_vec(&run).expect("a run can be written");
    assert!(Run::from_json(&written).as_ref() == Ok(&run), "what is written is what was read");
}
