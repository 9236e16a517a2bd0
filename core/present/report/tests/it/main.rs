//! Integration tests of `fathom-report`.
mod audit;
mod corpus;
mod doctor;
mod document;
#[path = "../../../../analyze/audit/tests/it/fixture.rs"]
mod fixture;
mod gallery;
mod golden;
#[path = "../../../../analyze/diagnose/tests/it/hops.rs"]
mod hops;
mod hostile;
#[path = "../../../../analyze/diagnose/tests/it/line.rs"]
mod line;
mod path;
mod provider;
#[path = "../../../prose/tests/it/recent.rs"]
#[allow(dead_code, reason = "shared with the tests of fathom-prose")]
mod recent;
mod run_file_bytes;
#[path = "../../../prose/tests/it/samples.rs"]
#[allow(dead_code, reason = "shared with the tests of fathom-prose")]
mod samples;
#[path = "../../../prose/tests/it/shapers.rs"]
#[allow(dead_code, reason = "shared with the tests of fathom-prose")]
mod shapers;
mod size;
mod sweep;
#[path = "../../../../analyze/diagnose/tests/it/switch.rs"]
mod switch;
#[path = "../../../../analyze/diagnose/tests/it/upload.rs"]
mod upload;
mod watch;
mod workloads;
