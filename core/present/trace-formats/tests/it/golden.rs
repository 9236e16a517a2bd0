//! Each format as a file of `golden/export`. `UPDATE_GOLDEN=1` rewrites them.
use crate::flows;
use crate::stream::upload;
use fathom_trace_formats::{Graphs, Pping, Qlog, Tstat, Xplot, tcptrace_csv};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The text of each file.
pub(crate) type Texts = BTreeMap<String, String>;

/// Gathers what is written into files.
pub(crate) fn gather(into: &mut Texts) -> impl FnMut(&str, &str) -> std::fmt::Result {
    |name, text| {
        into.entry(name.to_owned()).or_default().push_str(text);
        Ok(())
    }
}

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/export").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/export can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

#[test]
fn graphs_for_xplot() {
    let mut texts = Texts::new();
    let mut xplot = Xplot::new(Graphs::ALL, gather(&mut texts), |_, _| true);
    upload(&mut xplot);
    xplot.finish().map(drop).unwrap();
    assert_eq!(texts.len(), 8);
    for name in ["a2b_tsg.xpl", "b2a_tsg.xpl", "a2b_rtt.xpl", "a2b_owin.xpl", "a2b_tput.xpl"] {
        golden(&format!("{name}.txt"), &texts[name]);
    }
}

#[test]
fn only_what_is_chosen_is_drawn() {
    let mut texts = Texts::new();
    let graphs = Graphs { sequence: false, outstanding: false, throughput: false, ..Graphs::ALL };
    let mut xplot = Xplot::new(graphs, gather(&mut texts), |_, _| true);
    upload(&mut xplot);
    xplot.finish().map(drop).unwrap();
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["a2b_rtt.xpl", "b2a_rtt.xpl"]);
    let mut none = Xplot::new(Graphs::ALL, |_: &str, _: &str| panic!("nothing was chosen"), |_, _| false);
    upload(&mut none);
    none.finish().map(drop).unwrap();
}

#[test]
fn lines_of_pping() {
    let mut pping = Pping::new(String::new());
    upload(&mut pping);
    golden("pping.txt", &pping.finish().unwrap());
}

#[test]
fn a_log_for_qvis() {
    let mut texts = Texts::new();
    let mut qlog = Qlog::new(gather(&mut texts), |_, _| true);
    upload(&mut qlog);
    qlog.finish().map(drop).unwrap();
    // The other end sent no data.
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["a2b.sqlog"]);
    golden("a2b.sqlog.txt", &texts["a2b.sqlog"].replace('\u{1e}', ""));
}

#[test]
fn tables_of_flows() {
    let flows = flows::two();
    let mut csv = String::new();
    tcptrace_csv(&flows, &mut csv).unwrap();
    golden("tcptrace.csv.txt", &csv);
    let mut tstat = Tstat::new();
    upload(&mut tstat);
    let mut log = String::new();
    tstat.write(&flows, &mut log).unwrap();
    golden("log_tcp_complete.txt", &log);
}

#[test]
fn a_full_disk_is_an_error() {
    let mut xplot = Xplot::new(Graphs::ALL, |_: &str, _: &str| Err(std::fmt::Error), |_, _| true);
    upload(&mut xplot);
    assert!(xplot.finish().is_err());
    let mut qlog = Qlog::new(|_: &str, _: &str| Err(std::fmt::Error), |_, _| true);
    upload(&mut qlog);
    assert!(qlog.finish().is_err());
}
