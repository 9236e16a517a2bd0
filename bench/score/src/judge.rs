//! Claims of a diagnosis against the truth of the path.
use crate::draw::{IP_SHARE, Management, Path};
use fathom_diagnose::{Health, diagnose};
use fathom_run::{Conclusion, ManagementRule, Metric, Phase, Run, Value, threshold};

/// Relative error of a quantity up to which it is right.
const DELAY_RATIO: f64 = 0.02;
const DELAY_S: f64 = 0.001;
const RATE_RATIO: f64 = 0.03;
const BUFFER_RATIO: f64 = 0.03;

/// A claim that the diagnosis could make.
#[derive(Clone, Debug)]
pub(crate) enum Claim {
    NotMade,
    Made { is_right: bool, error: Option<f64>, detail: String },
}

/// What really happened on the path.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// Percentiles of the backlog over the link's rate, s: 0.5, 0.9, 1.
    pub(crate) delay_s: [f64; 3],
    pub(crate) is_bloated: bool,
    pub(crate) dropped: f64,
    /// IP bytes that the queue held at most.
    pub(crate) held: f64,
}

pub(crate) fn truth(path: &Path, run: &Run) -> Truth {
    let phase = load_phase(run);
    let of = |metric| {
        run.series.iter().find(|s| {
            s.key.metric == metric && s.key.direction == Some(path.direction) && s.key.scope.is_some()
        })
    };
    let mut delays: Vec<f64> = of(Metric::Backlog)
        .into_iter()
        .flat_map(|s| s.within(phase))
        .filter_map(|o| match o.value {
            Value::Observed(bytes) => Some(bytes * IP_SHARE * 8.0 / path.rate),
            Value::Censored { .. } => None,
        })
        .collect();
    delays.sort_by(f64::total_cmp);
    let at = |p: f64| fathom_stats_percentile(&delays, p);
    let delay_s = [at(0.5), at(0.9), at(1.0)];
    let dropped = of(Metric::QueueDrops).and_then(|s| s.values.last().copied()).unwrap_or(0.0);
    Truth {
        delay_s,
        is_bloated: threshold::is_bloated(delay_s[0], delay_s[1]),
        dropped,
        held: delay_s[2] * path.rate / 8.0,
    }
}

fn fathom_stats_percentile(sorted: &[f64], p: f64) -> f64 {
    let rank = ((p * sorted.len() as f64).ceil() as usize).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or(0.0)
}

fn load_phase(run: &Run) -> &Phase {
    run.phases.iter().find(|p| p.load.is_some()).expect("a path has a load")
}

fn made(is_right: bool, detail: String) -> Claim {
    Claim::Made { is_right, error: None, detail }
}

fn quantity(got: f64, truth: f64, ratio: f64, least: f64) -> Claim {
    let error = got - truth;
    Claim::Made {
        is_right: error.abs() <= (ratio * truth).max(least),
        error: Some(error / truth),
        detail: format!("{got:.6} for {truth:.6} ({:+.1} %)", error / truth * 100.0),
    }
}

pub(crate) fn claims(path: &Path, run: &Run) -> Vec<(&'static str, Claim)> {
    let truth = truth(path, run);
    let diagnosis = diagnose(run);
    let is_fifo = path.management != Management::Aqm;
    let mut claims = Vec::new();
    // Of a queue that separates flows, a probe meets its own.
    if is_fifo {
        claims.push((
            "bloat",
            match diagnosis.health {
                Health::Bloated | Health::Healthy => made(
                    (diagnosis.health == Health::Bloated) == truth.is_bloated,
                    format!("{:?}, truth {:?}", diagnosis.health, truth.delay_s),
                ),
                _ => Claim::NotMade,
            },
        ));
    }
    let find = |pick: &dyn Fn(&Conclusion) -> bool| diagnosis.findings.iter().find(|f| pick(&f.conclusion));
    let bloat = find(&|c| matches!(c, Conclusion::Bufferbloat(_) | Conclusion::LowLatency(_)));
    if truth.is_bloated && is_fifo {
        claims.push((
            "direction",
            bloat.map_or(Claim::NotMade, |f| {
                f.direction.map_or(Claim::NotMade, |d| made(d == path.direction, format!("{d:?}")))
            }),
        ));
    }
    if let Some(Conclusion::Bufferbloat(rise) | Conclusion::LowLatency(rise)) = bloat.map(|f| &f.conclusion)
        && is_fifo
    {
        claims.push((
            "delay p50",
            quantity(rise.loaded_p50_s - rise.idle_p50_s, truth.delay_s[0], DELAY_RATIO, DELAY_S),
        ));
        claims.push((
            "delay max",
            quantity(rise.loaded_max_s - rise.idle_p50_s, truth.delay_s[2], DELAY_RATIO, DELAY_S),
        ));
    }
    let size = diagnosis.findings.iter().find_map(|f| match &f.conclusion {
        Conclusion::BufferSize(size) => Some((size, f.direction)),
        _ => None,
    });
    let was_full = truth.dropped > 0.0;
    if is_fifo && was_full && truth.is_bloated {
        claims.push((
            "buffer",
            match size {
                Some((size, _)) if !size.is_lower_bound => {
                    quantity(size.ip_bytes, truth.held, BUFFER_RATIO, 3000.0)
                }
                Some((size, _)) => made(size.ip_bytes <= truth.held * 1.03, "bound".into()),
                None => Claim::NotMade,
            },
        ));
    } else if let Some((size, _)) = size {
        claims.push((
            "no buffer",
            made(
                is_fifo && size.is_lower_bound && size.ip_bytes <= truth.held * 1.03,
                format!(
                    "{:.0} B claimed, bound {}; truth {:.0} B, {:?}, {} dropped",
                    size.ip_bytes, size.is_lower_bound, truth.held, path.management, truth.dropped
                ),
            ),
        ));
    }
    if truth.is_bloated {
        claims.push((
            "capacity",
            size.map_or(Claim::NotMade, |(size, _)| {
                quantity(size.rate_bits_per_second, path.rate, RATE_RATIO, 0.0)
            }),
        ));
    }
    let rule = find(&|c| matches!(c, Conclusion::QueueManagement(_))).filter(|f| f.certainty >= fathom_run::Certainty::Likely || matches!(&f.conclusion, Conclusion::QueueManagement(m) if m.rule == ManagementRule::NeverDropped)).map(|f| match &f.conclusion {
        Conclusion::QueueManagement(m) => m.rule,
        _ => unreachable!("filtered"),
    });
    claims.push((
        "management",
        rule.map_or(Claim::NotMade, |rule| {
            let right = match rule {
                ManagementRule::TailDrop => path.management != Management::Aqm,
                ManagementRule::KeptShort => path.management == Management::Aqm,
                ManagementRule::NeverDropped => truth.dropped == 0.0,
                _ => true,
            };
            made(right, format!("{rule:?} for {:?}, {} dropped", path.management, truth.dropped))
        }),
    ));
    let outage = find(&|c| matches!(c, Conclusion::Outage(_)));
    claims.push((
        "no outage",
        made(outage.is_none(), outage.map_or(String::new(), |f| fathom_prose::finding(f, None))),
    ));
    claims
}
