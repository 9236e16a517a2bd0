//! Built-in scenarios: the lines, and the gallery of published claims.
use crate::{Plan, ScenarioError, parse};

macro_rules! builtin {
    (lines $($line:literal)*; gallery $($item:literal)*) => {
        /// Names of the built-in lines.
        pub const BUILTIN_NAMES: &[&str] = &[$($line),*];
        /// Names of the gallery scenarios, in addition to the lines with claims.
        const GALLERY: &[&str] = &[$($item),*];
        /// File content of a built-in scenario; `None` if the name is unknown.
        pub fn builtin(name: &str) -> Option<&'static str> {
            match name {
                $($line => Some(include_str!(concat!("../../../../scenarios/", $line, ".toml"))),)*
                $($item => Some(include_str!(concat!("../../../../scenarios/gallery/", $item, ".toml"))),)*
                _ => None,
            }
        }
    };
}

builtin!(
    lines
    "dsl"
    "cable"
    "fiber"
    "lte"
    "wifi"
    "satellite"
    "gettys-2010"
    "seifried-2011"
    "auerswald-switch"
    ;
    gallery
    "codel-nomadic-codel"
    "codel-nomadic-droptail"
    "dctcp-two-bottlenecks"
    "incast-buffer"
    "incast-dctcp"
    "incast-droptail"
    "incast-pacing"
    "incast-spread"
    "l4s-dualpi2-160-10"
    "l4s-dualpi2-20-10"
    "l4s-dualpi2-20-20"
    "l4s-dualpi2-80-20"
    "l4s-fq-codel-160-10"
    "l4s-fq-codel-20-10"
    "l4s-fq-codel-20-20"
    "l4s-fq-codel-80-20"
    "l4s-pfifo-160-10"
    "l4s-pfifo-20-10"
    "l4s-pfifo-20-20"
    "l4s-pfifo-80-20"
    "l4s-prague-cubic-dualpi2-160-10"
    "l4s-prague-cubic-dualpi2-80-80"
    "l4s-prague-dualpi2-160-10"
    "l4s-prague-dualpi2-80-80"
    "l4s-prague-fq-codel-80-80"
    "l4s-prague-pfifo-80-80"
    "l4s-prague-step-1mbit"
    "l4s-prague-step-25mbit"
    "l4s-step-1mbit"
    "l4s-step-25mbit"
    "ledbat-codel"
    "ledbat-droptail"
    "rfc7928-aggressive-droptail"
    "rfc7928-aggressive-pie"
    "rfc7928-bidirectional-droptail"
    "rfc7928-bidirectional-pie"
    "rfc7928-burst"
    "rfc7928-burst-bloat"
    "rfc7928-capacity-droptail"
    "rfc7928-capacity-pie"
    "rfc7928-heavy-droptail"
    "rfc7928-heavy-pie"
    "rfc7928-lbe-droptail"
    "rfc7928-lbe-pie"
    "rfc7928-medium-droptail"
    "rfc7928-medium-pie"
    "rfc7928-mild-droptail"
    "rfc7928-mild-pie"
    "rfc7928-mix-droptail"
    "rfc7928-mix-pie"
    "rfc7928-overload-droptail"
    "rfc7928-overload-pie"
    "rfc7928-rtt-fairness"
    "rfc7928-rtt-unfairness"
    "rfc7928-unresponsive-droptail"
    "rfc7928-unresponsive-pie"
    "s03-ring-256"
    "s04-page-6-connections"
    "s04-page-60-connections"
    "s05-xp-1-connections"
    "s05-xp-6-connections"
    "s06-udp-bytes"
    "s06-udp-even"
    "s06-udp-random"
    "s07-shared-buffer"
    "s08-one-percent"
    "s09-units"
    "s10-bittorrent"
    "s11-edge"
    "s11-lte"
    "s11-umts"
    "s12-cameras"
    "s12-cameras-slow-ports"
    "s14-lines"
    "s14-router"
    "s14-satellite"
    "s15-shaped"
    "s16-moving-bottleneck-wifi"
    "s16-moving-bottleneck-wired"
    "s17-clean-line"
    "s17-noisy-line"
    "s18-upgrade-20"
    "s18-upgrade-50"
    "s19-head-drop"
    "s19-tail-drop"
    "s20-red-low"
    "s20-red-tuned"
    "s21-boost"
    "s21-boost-shaped"
    "s22-crowd-ebdp"
    "s22-crowd-fifo"
    "s23-balance-large"
    "s23-balance-many"
    "s23-balance-small"
    "s24-eigrp-deep"
    "s24-eigrp-shallow"
    "s25-rfc970-infinite"
    "s25-rfc970-ttl"
    "s26-second-download"
    "s27-shallow-switch"
    "s28-readers-broadcast"
    "s28-readers-vlan"
    "s29-flood-fifo"
    "s29-flood-sfb"
    "s30-classes"
    "s31-dns"
    "s32-spdy"
    "s33-collapse"
    "sizing-large-buffer"
    "sizing-small-buffer"
    "sizing-square-root"
    "switch-incast-dynamic"
    "switch-incast-shared"
    "switch-thresholds"
);

/// Names of all built-in scenarios with claims: the lines of the founding texts, then the gallery.
pub fn gallery_names() -> impl Iterator<Item = &'static str> {
    ["gettys-2010", "seifried-2011", "auerswald-switch"].into_iter().chain(GALLERY.iter().copied())
}

/// Plan of a built-in scenario; `None` if the name is unknown.
///
/// # Errors
/// None in a release: a test parses every built-in scenario.
pub fn builtin_plan(name: &str) -> Option<Result<Plan, ScenarioError>> {
    builtin(name).map(|text| parse(text, name))
}
