//! Scores: commonly used numbers and grades, each by its published definition.
mod other;

pub use other::{Aim, Missing, Requirement, Score, buffer_delay_percent, tcp_efficiency_percent};

use alloc::vec::Vec;
use core::fmt;
use fathom_stats::trimmed_mean;
use serde::Serialize;

/// A row of the score registry, from which `docs/metrics.md` is generated.
#[derive(Clone, Copy, Debug)]
pub struct ScoreInfo {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// How the score is computed, and the resulting bias.
    pub definition: &'static str,
    /// Document with the definition.
    pub source: &'static str,
}

/// Definition of the score `buffer_delay_percent`.
pub const BUFFER_DELAY: &str = "RFC 6349 section 4.3";
/// Definition of the score `tcp_efficiency_percent`.
pub const TCP_EFFICIENCY: &str = "RFC 6349 section 4.2";

/// All scores that Fathom reports.
pub const SCORES: &[ScoreInfo] = &[
    ScoreInfo {
        name: "lag_s",
        unit: "s",
        definition: "Lag when busy, of each phase with load: 90th percentile of the round-trip latency under load less the median \
            of the idle latency, of the probes that were answered. Nine moments in ten are no slower. The median under load would \
            count the time that a queue takes to fill; the maximum may be one accident. Headlines, `fathom compare` and \
            `fathom fix` use it.",
        source: "Definition of our own; the 90th percentile is that of the threshold for a bloated line (core/model/run/src/threshold.rs)",
    },
    ScoreInfo {
        name: "responsiveness_rpm",
        unit: "1/min",
        definition: "Round trips per minute under load: the mean of Foreign = 60 / mean(TM(tcp_connect_s), TM(http_foreign_s)) \
            and Loaded = 60 / TM(http_loaded_s), where TM is the mean of the lowest 95 %. With TLS, Foreign = 180 / \
            (TM(tls_connect_s) + TM(http_foreign_s)). Computed over the whole phase. Without HTTP/2, flow_rtt_s replaces http_loaded_s, as the draft allows. Confidence: high if the phase settled, \
            else medium from 4 s (the draft's MAD of 4 intervals of 1 s), else low. Poor below 300, fair \
            below 1000, good below 6000, excellent above.",
        source: Rpm::DRAFT,
    },
    ScoreInfo {
        name: "grade",
        unit: "A+ to F",
        definition: "Grade of the mean latency increase (mean latency under load minus mean idle latency): A+ below 5 ms, A \
            below 30, B below 60, C below 200, D below 400, otherwise F. Lost probes are excluded from the means.",
        source: "DSLReports speed test, dslreports.com/faq/17930",
    },
    ScoreInfo {
        name: "mos",
        unit: "1 to 4.41",
        definition: "Predicted mean opinion score of a G.711 call. R = 93.2 - Id - Ie_eff; Id = 0.024 d, plus 0.11 (d - 177.3) if \
            the mouth-to-ear delay d in ms exceeds 177.3; Ie_eff = 95 Ppl / (Ppl + 25.1) with loss concealment and packet loss \
            Ppl in percent. d = 95th percentile of one-way delay (a playout buffer that waits for 95 % of the packets) + 20 ms \
            of packetization; without one-way delays, half the round-trip time. Lost probes count as loss only.",
        source: "ITU-T G.107; Cole, Rosenbluth, Voice over IP performance monitoring, 2001; ITU-T G.113 (Bpl)",
    },
    ScoreInfo {
        name: "game",
        unit: "kinds of game",
        definition: "Kinds of games playable at the 95th percentile of round-trip latency: first person up to 100 ms, third \
            person up to 500 ms, overhead view up to 1000 ms.",
        source: "Claypool, Claypool, Latency and player actions in online games, CACM 49(11), 2006",
    },
    ScoreInfo {
        name: "qoo_video_call_percent",
        unit: "%",
        definition: "Quality of Outcome: where the line is between unacceptable (0) and optimal (100), by the worst of latency, loss \
            and rate. Optimal: p95 of the round trip at most 300 ms, no loss. Unacceptable: 800 ms, 1 % loss, or less than 384 kbit/s \
            in a direction, of the test's load alone in it. G.1010 limits one-way delay; the percentile is ours. A lost probe counts \
            with the latency around it, and as loss. Not computed with fewer than 20 probes, or of probes over TCP.",
        source: Requirement::ALL[0].definition,
    },
    ScoreInfo {
        name: "qoo_game_percent",
        unit: "%",
        definition: "Quality of Outcome, likewise, by round trips alone. Optimal: p50 30 ms, p95 65 ms, p99 100 ms. Unacceptable: 150, \
            200, 250 ms. Not computed with fewer than 100 probes.",
        source: Requirement::ALL[1].definition,
    },
    ScoreInfo {
        name: "buffer_delay_percent",
        unit: "%",
        definition: "Buffer delay percentage of a phase with load: mean round trip of the answered probes, less the baseline, divided \
            by the baseline: the minimum without load. Probes replace the round trips of the transfer.",
        source: BUFFER_DELAY,
    },
    ScoreInfo {
        name: "tcp_efficiency_percent",
        unit: "%",
        definition: "TCP efficiency of a phase with load: (transmitted - retransmitted) / transmitted bytes of its flows. Transmitted \
            is what was delivered and what was retransmitted, in segments of 1448 bytes.",
        source: TCP_EFFICIENCY,
    },
    ScoreInfo {
        name: "aim_streaming_points",
        unit: "points",
        definition: "Sum of points for idle latency, loss, download rate and the increase under load; at least 0. Bad below 15, poor \
            below 20, average below 40, good below 60, else great. Idle latency: median; loss: of the idle phase; increase: the larger \
            median of the phases with a load in one direction, less the idle median. Unmeasured loss has 0 points. \
            Cloudflare's own rate is the 90th percentile of its transfers.",
        source: Aim::DEFINITION,
    },
    ScoreInfo {
        name: "aim_gaming_points",
        unit: "points",
        definition: "Likewise for idle latency, loss and the increase under load. Limits of the classes: 5, 15, 25, 30.",
        source: Aim::DEFINITION,
    },
    ScoreInfo {
        name: "aim_rtc_points",
        unit: "points",
        definition: "Likewise for idle latency, idle jitter (mean difference of consecutive round trips), loss and the increase under \
            load. Limits of the classes: 5, 15, 25, 40.",
        source: Aim::DEFINITION,
    },
    ScoreInfo {
        name: "page_load_s",
        unit: "s",
        definition: "Load time of a model web page: 10 sequential round trips at the median latency, plus 2 MB at the download \
            goodput measured without upload. The transfer time is the same before and under load, so the difference is latency. \
            10 round trips are a low estimate: name resolution, connection, TLS, the page, and three levels of referenced \
            objects take more.",
        source: "Fathom's own model. Load time grows linearly with round-trip time (Belshe, More bandwidth doesn't matter \
            (much), 2010), by 10 round trips in C. Chand's measurements (cjchand.wordpress.com, 2013)",
    },
];

macro_rules! draft {
    ($terms:literal) => {
        concat!("draft-ietf-ippm-responsiveness-09 (TMP 95 %)", $terms)
    };
}

/// Responsiveness under working conditions, in round trips per minute.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rpm {
    /// Mean of the known parts.
    pub per_minute: f64,
    /// Part from new connections.
    pub foreign_per_minute: Option<f64>,
    /// Part from the connections that carry the load.
    pub loaded_per_minute: Option<f64>,
    /// The document, and the terms of it that were available.
    pub method: &'static str,
}

impl Rpm {
    /// Version of the draft that defines the formula.
    pub const DRAFT: &'static str = "draft-ietf-ippm-responsiveness-09";
    /// Share of the smallest values that the trimmed mean of the draft (TMP) keeps.
    const KEEP: f64 = 0.95;

    /// Computes the score from delays of one phase in seconds; `None` without any delay. `foreign`
    /// has those of `tcp_connect`, of `tls_connect`, which include the handshake of TCP, and of
    /// `http_foreign`. Without those of `http_loaded`, those of `flow_rtt` count.
    pub fn new(foreign: [&[f64]; 3], http_loaded: &[f64], flow_rtt: &[f64]) -> Option<Rpm> {
        let mean = |values: &[f64]| trimmed_mean(values.iter().copied(), Rpm::KEEP).filter(|s| *s > 0.0);
        let [tcp, tls, http] = foreign.map(mean);
        let of_new = tcp.zip(http).map(|(tcp, http)| match tls {
            // tcp_f, tls_f and http_f.
            Some(tls) => 60.0 / ((tls.max(tcp) + http) / 3.0),
            None => 60.0 / ((tcp + http) / 2.0),
        });
        let multiplexed = mean(http_loaded);
        let loaded = multiplexed.or(mean(flow_rtt)).map(|seconds| 60.0 / seconds);
        let per_minute = match (of_new, loaded) {
            (Some(new), Some(loaded)) => (new + loaded) / 2.0,
            (one, other) => one.or(other)?,
        };
        let method = match (of_new.map(|_| tls.is_some()), loaded.map(|_| multiplexed.is_some())) {
            (Some(true), Some(true)) => draft!(" with tcp_f, tls_f, http_f and http_l"),
            (Some(true), Some(false)) => draft!(" with tcp_f, tls_f, http_f and TCP's RTT for http_l"),
            (Some(true), None) => draft!(", foreign part alone with tcp_f, tls_f and http_f"),
            (Some(false), Some(true)) => draft!(" with tcp_f, http_f and http_l, no TLS"),
            (Some(false), Some(false)) => draft!(" with tcp_f, http_f and TCP's RTT for http_l, no TLS"),
            (Some(false), None) => draft!(", foreign part alone with tcp_f and http_f, no TLS"),
            (None, Some(true)) => draft!(", loaded part alone with http_l"),
            (None, _) => draft!(", loaded part alone with TCP's RTT for http_l"),
        };
        Some(Rpm { per_minute, foreign_per_minute: of_new, loaded_per_minute: loaded, method })
    }
    /// Name that the draft gives to this range of values.
    pub fn band(&self) -> &'static str {
        match self.per_minute {
            r if r < 300.0 => "poor",
            r if r < 1000.0 => "fair",
            r if r < 6000.0 => "good",
            _ => "excellent",
        }
    }
}

/// Grade of the mean latency increase under load, best first, as in the DSLReports speed test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Grade {
    /// Below 5 ms.
    #[serde(rename = "A+")]
    APlus,
    /// Below 30 ms.
    A,
    /// Below 60 ms.
    B,
    /// Below 200 ms.
    C,
    /// Below 400 ms.
    D,
    /// 400 ms or more.
    F,
}

impl Grade {
    /// Upper limit of each grade in seconds.
    const BANDS: [(f64, Grade); 5] =
        [(0.005, Grade::APlus), (0.030, Grade::A), (0.060, Grade::B), (0.200, Grade::C), (0.400, Grade::D)];
    /// Grade of a mean increase in seconds.
    pub fn of_increase(seconds: f64) -> Grade {
        Grade::BANDS.iter().find(|(edge, _)| seconds < *edge).map_or(Grade::F, |(_, grade)| *grade)
    }
    /// `A+` to `F`.
    pub const fn letter(self) -> &'static str {
        match self {
            Grade::APlus => "A+",
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
            Grade::F => "F",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.letter())
    }
}

/// Estimated quality of a voice call.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Call {
    /// Mouth-to-ear delay in seconds.
    pub mouth_to_ear_s: f64,
    /// Rating of the E-model, 0 to 93.2.
    pub r_factor: f64,
    /// Mean opinion score, 1 to 4.41.
    pub mos: f64,
}

impl Call {
    /// Rating of a perfect call with the defaults of ITU-T G.107.
    const R0: f64 = 93.2;
    /// Delay in ms above which conversation suffers noticeably (Cole, Rosenbluth).
    const KNEE_MS: f64 = 177.3;
    /// Robustness of G.711 with loss concealment against random loss (ITU-T G.113).
    const BPL: f64 = 25.1;
    /// Speech in one packet, in seconds.
    const PACKETISATION_S: f64 = 0.020;

    /// A G.711 call with at most this one-way delay for the packets that are played out.
    pub fn new(one_way_delay_s: f64, loss_ratio: f64) -> Call {
        let mouth_to_ear_s = one_way_delay_s.max(0.0) + Call::PACKETISATION_S;
        let ms = mouth_to_ear_s * 1e3;
        let delay = 0.024 * ms + 0.11 * (ms - Call::KNEE_MS).max(0.0);
        let percent = loss_ratio.clamp(0.0, 1.0) * 100.0;
        let r_factor = (Call::R0 - delay - 95.0 * percent / (percent + Call::BPL)).max(0.0);
        Call { mouth_to_ear_s, r_factor, mos: mos_of(r_factor) }
    }
    /// User satisfaction according to ITU-T G.107 annex B.
    pub fn words(&self) -> &'static str {
        match self.r_factor {
            r if r >= 80.0 => "good",
            r if r >= 70.0 => "fair, some users dissatisfied",
            r if r >= 60.0 => "poor, many users dissatisfied",
            r if r >= 50.0 => "bad, nearly all users dissatisfied",
            _ => "unusable",
        }
    }
}

/// ITU-T G.107 annex B.
fn mos_of(r: f64) -> f64 {
    match r {
        r if r <= 0.0 => 1.0,
        r if r >= 100.0 => 4.5,
        r => (1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)).max(1.0),
    }
}

/// Kinds of games that are playable at a latency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Game {
    /// All games, including first-person games.
    All,
    /// Third-person and slower games, but no shooters or racing games.
    ThirdPerson,
    /// Only games with an overhead view: construction and strategy.
    FromAbove,
    /// Only turn-based games.
    ByTurns,
}

impl Game {
    /// Maximum latency of each kind in seconds (Claypool, Claypool 2006).
    const LIMITS: [(f64, Game); 3] = [(0.1, Game::All), (0.5, Game::ThirdPerson), (1.0, Game::FromAbove)];
    /// Kinds of games playable at this 95th percentile of round-trip latency.
    pub fn at(rtt_p95_s: f64) -> Game {
        Game::LIMITS.iter().find(|(limit, _)| rtt_p95_s <= *limit).map_or(Game::ByTurns, |(_, game)| *game)
    }
    /// Description of the playable games.
    pub const fn words(self) -> &'static str {
        match self {
            Game::All => "any game",
            Game::ThirdPerson => "no shooters or races",
            Game::FromAbove => "strategy games only",
            Game::ByTurns => "turn-based games only",
        }
    }
}

/// Number of sequential round trips of the model page.
pub const PAGE_ROUND_TRIPS: f64 = 10.0;
/// Size of the model page in bytes.
pub const PAGE_BYTES: f64 = 2e6;

/// Load time of the model page in seconds; see [`SCORES`].
pub fn page_load_s(rtt_p50_s: f64, goodput_bits_per_second: f64) -> f64 {
    PAGE_ROUND_TRIPS * rtt_p50_s + PAGE_BYTES * 8.0 / goodput_bits_per_second
}

/// The reference page of metrics and scores, in Markdown.
pub fn reference_page() -> alloc::string::String {
    let cell = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let mut page = alloc::string::String::from(include_str!("reference_head.md"));
    for metric in crate::Metric::ALL {
        let m = metric.info();
        page +=
            &alloc::format!("| `{}` | {} | {} | {} |\n", m.name, m.unit, cell(m.definition), cell(m.source));
    }
    page += include_str!("reference_scores.md");
    for s in SCORES {
        page +=
            &alloc::format!("| `{}` | {} | {} | {} |\n", s.name, s.unit, cell(s.definition), cell(s.source));
    }
    page += include_str!("reference_timers.md");
    for timer in crate::ProtocolTimer::ALL {
        let name = serde_json::to_string(timer).unwrap_or_default();
        let over_internet = if timer.scope() == crate::TimerScope::Internet { "yes" } else { "no" };
        page += &alloc::format!(
            "| `{}` | {} s | {over_internet} | {} | {} |\n",
            name.trim_matches('"'),
            timer.limit_s(),
            cell(timer.consequence()),
            cell(timer.source())
        );
    }
    page
}

#[cfg(test)]
mod tests;
