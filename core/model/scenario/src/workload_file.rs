//! `[[workload]]` in scenario files, and the conversion to a [`WorkloadPlan`].
use crate::field::{Amount, OneOrMore, Quantity, check_word, dscp};
use crate::plan::HopPlan;
use crate::workload::{
    CONGESTION_CONTROLS, EdgePlan, MAX_RATES, PagePlan, Spacing, TransportPlan, VideoPlan, WorkloadKind,
    WorkloadPlan,
};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;
use core::ops::{Range, RangeInclusive};
use fathom_units::{Bytes, Direction, Duration, NoDirection, Rate};
use serde::Deserialize;
use toml::Spanned;

pub(crate) type Fault = (Range<usize>, String);

const MAX_NAME: usize = 64;
/// Number of flows, as in `[load]`.
const FLOWS: RangeInclusive<i64> = 1..=1024;
/// Number of hosts: the packet field for the host is one byte, with one bit for the direction.
const HOSTS: RangeInclusive<i64> = 1..=127;
const OBJECTS: RangeInclusive<i64> = 1..=10_000;
/// Initial window in packets. Linux has no limit, but larger values make no sense.
const INITIAL_WINDOW: RangeInclusive<i64> = 1..=1000;
/// From the size of the IPv4 and UDP headers to the largest IP packet.
const PACKET: RangeInclusive<i64> = 28..=65_535;
/// At shorter intervals, rounds and requests form a burst.
const MIN_INTERVAL: Duration = Duration::from_micros(1);

macro_rules! workload_file {
    ($($key:ident: $type:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct WorkloadFile {
            kind: Spanned<String>,
            $($key: Option<Spanned<$type>>,)*
        }
        impl WorkloadFile {
            /// All given keys except `kind`, with their positions.
            fn given(&self) -> Vec<(&'static str, Range<usize>)> {
                let all = [$((stringify!($key), self.$key.as_ref().map(Spanned::span)),)*];
                all.into_iter().filter_map(|(key, span)| Some((key, span?))).collect()
            }
        }
    };
}

workload_file! {
    name: String,
    direction: String,
    flows: i64,
    start: Quantity<Duration>,
    stop: Quantity<Duration>,
    congestion_control: String,
    ecn: bool,
    initial_window: i64,
    window: Quantity<Amount>,
    pacing: bool,
    min_rto: Quantity<Duration>,
    extra_rtt: OneOrMore<Duration>,
    access_rate: Quantity<Rate>,
    hosts: i64,
    first_host: i64,
    dscp: toml::Value,
    from_hop: String,
    to_hop: String,
    bytes: Quantity<Amount>,
    churn: Quantity<Duration>,
    connections: i64,
    shards: i64,
    objects: i64,
    request: Quantity<Amount>,
    response: Quantity<Amount>,
    interval: Quantity<Duration>,
    spread: Quantity<Duration>,
    rate: Quantity<Rate>,
    size: i64,
    sizes: String,
    key_frame: Quantity<Amount>,
    every: Quantity<Duration>,
    rates: OneOrMore<Rate>,
    buffer: Quantity<Duration>,
    deadline: Quantity<Duration>,
}

const ALWAYS: &[&str] = &[
    "name",
    "flows",
    "start",
    "stop",
    "extra_rtt",
    "access_rate",
    "hosts",
    "first_host",
    "dscp",
    "from_hop",
    "to_hop",
];
const TCP: &[&str] = &["congestion_control", "ecn", "initial_window", "window", "pacing", "min_rto"];

/// Keys of a kind in addition to [`ALWAYS`], and whether it accepts [`TCP`]; or `None`.
fn keys(kind: &str) -> Option<(&'static [&'static str], bool)> {
    Some(match kind {
        "bulk" | "backup" => (&["direction", "bytes"], true),
        "swarm" => (&["direction", "churn"], true),
        "web" => (&["connections", "shards", "objects", "bytes", "interval"], true),
        "rpc" => (&["request", "response", "interval"], true),
        "incast" => (&["direction", "bytes", "interval", "spread"], true),
        "video" => (&["direction", "rate", "rates", "every", "buffer", "key_frame", "size"], true),
        "call" => (&[], false),
        "game" => (&["size", "interval", "deadline"], false),
        "cbr" => (&["direction", "rate", "size"], false),
        "poisson" => (&["direction", "rate", "size", "sizes"], false),
        _ => return None,
    })
}

impl WorkloadFile {
    pub(crate) fn span(&self) -> Range<usize> {
        self.name.as_ref().map_or_else(|| self.kind.span(), Spanned::span)
    }
    /// Validates the workload for a line with these hops.
    pub(crate) fn check(self, hops: &[HopPlan]) -> Result<WorkloadPlan, Fault> {
        self.check_keys()?;
        let name = match &self.name {
            None => self.kind.get_ref().clone(),
            Some(name) => {
                check_word("name", name.get_ref(), MAX_NAME).map_err(|what| (name.span(), what))?;
                name.get_ref().clone()
            }
        };
        let plan = WorkloadPlan {
            name,
            kind: self.workload_kind()?,
            direction: self.direction()?,
            flows: self.count("flows", &self.flows, FLOWS, self.usual_flows())?,
            start: self.start.as_ref().map_or(Duration::ZERO, |given| given.get_ref().0),
            stop: self.stop.as_ref().map(|given| given.get_ref().0),
            transport: self.transport()?,
            edge: self.edge(hops)?,
        };
        match &self.stop {
            Some(stop) if stop.get_ref().0 <= plan.start => {
                Err((stop.span(), format!("stop: {} is not after start = {}", stop.get_ref().0, plan.start)))
            }
            _ => Ok(plan),
        }
    }

    fn check_keys(&self) -> Result<(), Fault> {
        let kind = self.kind.get_ref().as_str();
        let Some((own, tcp)) = keys(kind) else {
            let known = "bulk, swarm, web, rpc, incast, video, call, game, backup, cbr, poisson";
            return Err((self.kind.span(), format!("kind: unknown workload \"{kind}\" (known: {known})")));
        };
        // Video in datagrams does not use TCP.
        let tcp = if tcp && self.key_frame.is_none() { TCP } else { &[] };
        let takes = |key: &&str| [ALWAYS, own, tcp].iter().any(|keys| keys.contains(key));
        match self.given().into_iter().find(|(key, _)| !takes(key)) {
            None => Ok(()),
            Some((key, span)) => {
                let list = [own, ALWAYS, tcp].concat().join(", ");
                Err((span, format!("{key}: a workload of kind \"{kind}\" has no such key (it takes {list})")))
            }
        }
    }

    fn workload_kind(&self) -> Result<WorkloadKind, Fault> {
        let ms = Duration::from_millis;
        Ok(match self.kind.get_ref().as_str() {
            "swarm" => WorkloadKind::Swarm {
                churn: self.churn.as_ref().map(|_| self.lasting("churn", &self.churn, ms(0))).transpose()?,
            },
            "web" => WorkloadKind::Web(self.page()?),
            "rpc" => WorkloadKind::Rpc {
                request: amount(&self.request, 200),
                response: amount(&self.response, 10_000),
                interval: self.lasting("interval", &self.interval, ms(1000))?,
            },
            "incast" => WorkloadKind::Incast {
                block: amount(&self.bytes, 256 * 1024),
                interval: self.lasting("interval", &self.interval, ms(1000))?,
                spread: self.spread.as_ref().map_or(Duration::ZERO, |given| given.get_ref().0),
            },
            "video" => self.video()?,
            "call" => WorkloadKind::Call,
            "game" => WorkloadKind::Game {
                size: self.size(200)?,
                interval: self.lasting("interval", &self.interval, ms(20))?,
                // Clients show the world this much later, so that two updates of 50 ms fit: Valve
                // Developer Community, Source Multiplayer Networking (cl_interp).
                deadline: self.lasting("deadline", &self.deadline, ms(100))?,
            },
            "cbr" => self.datagrams(Spacing::Even)?,
            "poisson" => self.datagrams(Spacing::Poisson)?,
            _ => WorkloadKind::Bulk { bytes: self.bytes.as_ref().map(|given| given.get_ref().0.0) },
        })
    }

    fn page(&self) -> Result<PagePlan, Fault> {
        let connections = self.count("connections", &self.connections, FLOWS, 6)?;
        let shards = self.count("shards", &self.shards, FLOWS, 1)?;
        if i64::from(connections) * i64::from(shards) > *FLOWS.end() {
            let what = format!(
                "connections: {connections} to each of {shards} shards are too many (at most {} in total)",
                FLOWS.end()
            );
            return Err((self.kind.span(), what));
        }
        Ok(PagePlan {
            connections,
            shards,
            objects: self.count("objects", &self.objects, OBJECTS, 10)?,
            bytes: amount(&self.bytes, 30_000),
            interval: self
                .interval
                .as_ref()
                .map(|_| self.lasting("interval", &self.interval, Duration::ZERO))
                .transpose()?,
        })
    }

    fn video(&self) -> Result<WorkloadKind, Fault> {
        if let Some(rates) = &self.rates {
            return self.adaptive(rates).map(WorkloadKind::Adaptive);
        }
        if let Some(buffer) = &self.buffer {
            return Err((buffer.span(), "buffer: used with rates only (set rates, or omit it)".to_owned()));
        }
        let rate = self.required("rate", &self.rate)?;
        let every = self.lasting("every", &self.every, Duration::from_secs(2))?;
        match &self.key_frame {
            Some(key_frame) => Ok(WorkloadKind::Camera {
                rate,
                size: self.size(1400)?,
                key_frame: key_frame.get_ref().0.0,
                every,
            }),
            None if self.size.is_some() => {
                let span = self.size.as_ref().map_or(0..0, Spanned::span);
                Err((
                    span,
                    "size: not used for video over TCP (set key_frame for video in datagrams)".to_owned(),
                ))
            }
            None => Ok(WorkloadKind::Segments { rate, every }),
        }
    }

    fn adaptive(&self, given: &Spanned<OneOrMore<Rate>>) -> Result<VideoPlan, Fault> {
        let others = [
            ("rate", self.rate.is_some()),
            ("key_frame", self.key_frame.is_some()),
            ("size", self.size.is_some()),
            ("direction", self.direction.is_some()),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
            return Err((given.span(), format!("rates: not used together with {key} (omit one of them)")));
        }
        let listed = &given.get_ref().0;
        let ascends = listed.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || !(1..=MAX_RATES).contains(&listed.len()) || listed[0] == Rate::default() {
            let what = format!("rates: expected 1 to {MAX_RATES} rates above 0 in ascending order");
            return Err((given.span(), what));
        }
        let every = self.lasting("every", &self.every, Duration::from_secs(2))?;
        let buffer = self.lasting("buffer", &self.buffer, Duration::from_secs(30))?;
        if buffer < every {
            return Err((given.span(), format!("buffer: {buffer} holds no segment of every = {every}")));
        }
        let mut rates = [Rate::default(); MAX_RATES];
        rates.iter_mut().zip(listed).for_each(|(place, rate)| *place = *rate);
        Ok(VideoPlan { rates, every, buffer })
    }

    fn datagrams(&self, spacing: Spacing) -> Result<WorkloadKind, Fault> {
        let exponential_sizes = match &self.sizes {
            None => false,
            Some(sizes) => match sizes.get_ref().as_str() {
                "fixed" => false,
                "exponential" => true,
                _ => return Err((sizes.span(), "sizes: expected \"fixed\" or \"exponential\"".to_owned())),
            },
        };
        let rate = self.required("rate", &self.rate)?;
        Ok(WorkloadKind::Datagrams { rate, size: self.size(1500)?, spacing, exponential_sizes })
    }

    fn direction(&self) -> Result<Direction, Fault> {
        let Some(given) = &self.direction else {
            let down = matches!(self.kind.get_ref().as_str(), "web" | "rpc" | "incast" | "video");
            return Ok(if down { Direction::Down } else { Direction::Up });
        };
        let other = given.get_ref();
        other.parse().map_err(|NoDirection| {
            (given.span(), format!("direction: invalid value \"{other}\" (expected \"up\" or \"down\")"))
        })
    }

    /// Default number of flows: swarms and incast need many.
    fn usual_flows(&self) -> u32 {
        if matches!(self.kind.get_ref().as_str(), "swarm" | "incast") { 20 } else { 1 }
    }

    fn transport(&self) -> Result<TransportPlan, Fault> {
        let usual = if self.kind.get_ref() == "backup" { "ledbat" } else { "cubic" };
        let congestion_control = match &self.congestion_control {
            None => usual.to_string(),
            Some(name) if CONGESTION_CONTROLS.contains(&name.get_ref().as_str()) => name.get_ref().clone(),
            Some(name) => {
                let known = CONGESTION_CONTROLS.join(", ");
                let what = format!("congestion_control: \"{}\" is unknown (known: {known})", name.get_ref());
                return Err((name.span(), what));
            }
        };
        let initial_window = self
            .initial_window
            .as_ref()
            .map(|_| self.count("initial_window", &self.initial_window, INITIAL_WINDOW, 10));
        Ok(TransportPlan {
            congestion_control,
            ecn: self.ecn.as_ref().is_some_and(|given| *given.get_ref()),
            initial_window: initial_window.transpose()?,
            window: self.window.as_ref().map(|given| given.get_ref().0.0),
            pacing: self.pacing.as_ref().is_some_and(|given| *given.get_ref()),
            min_rto: self.min_rto.as_ref().map(|given| given.get_ref().0),
        })
    }

    /// First and last hop that the flows cross; `None` if neither key is given.
    fn part(&self, hops: &[HopPlan]) -> Result<Option<(usize, usize)>, Fault> {
        let number = |key: &str, given: &Spanned<String>| {
            let found = hops.iter().position(|hop| hop.name == *given.get_ref());
            found.ok_or_else(|| {
                let names = hops.iter().map(|hop| hop.name.as_str()).collect::<Vec<_>>().join(", ");
                (given.span(), format!("{key}: unknown hop \"{}\" (known: {names})", given.get_ref()))
            })
        };
        let from = self.from_hop.as_ref().map(|given| number("from_hop", given)).transpose()?;
        let to = self.to_hop.as_ref().map(|given| number("to_hop", given)).transpose()?;
        if let (Some(first), Some(last), Some(given)) = (from, to, &self.to_hop)
            && last < first
        {
            let (first, last) = (&hops[first].name, &hops[last].name);
            let what = format!(
                "to_hop: \"{last}\" is closer to the user than from_hop = \"{first}\" (count from the user)"
            );
            return Err((given.span(), what));
        }
        let both = (from.unwrap_or(0), to.unwrap_or(hops.len().saturating_sub(1)));
        Ok((from.is_some() || to.is_some()).then_some(both))
    }

    fn edge(&self, hops: &[HopPlan]) -> Result<EdgePlan, Fault> {
        let extra_rtt = match &self.extra_rtt {
            None => Vec::new(),
            Some(given) if given.get_ref().0.is_empty() => {
                return Err((given.span(), "extra_rtt: the list is empty (leave it out)".to_owned()));
            }
            Some(given) => given.get_ref().0.clone(),
        };
        let hosts = self.count("hosts", &self.hosts, HOSTS, 1)?;
        let first_host = self.count("first_host", &self.first_host, 0..=HOSTS.end() - i64::from(hosts), 0)?;
        let dscp = self.dscp.as_ref().map(|given| dscp(given.get_ref()).map_err(|what| (given.span(), what)));
        Ok(EdgePlan {
            extra_rtt,
            access_rate: self.access_rate.as_ref().map(|given| given.get_ref().0),
            hosts: u8::try_from(hosts).unwrap_or(1),
            first_host: u8::try_from(first_host).unwrap_or(0),
            dscp: dscp.transpose()?.unwrap_or(0),
            hops: self.part(hops)?,
        })
    }

    fn size(&self, usual: u32) -> Result<u16, Fault> {
        self.count("size", &self.size, PACKET, usual).map(|size| u16::try_from(size).unwrap_or(u16::MAX))
    }
    fn required<T: Copy>(&self, key: &str, given: &Option<Spanned<Quantity<T>>>) -> Result<T, Fault> {
        let missing = || {
            (self.kind.span(), format!("{key}: required for a workload of kind \"{}\"", self.kind.get_ref()))
        };
        given.as_ref().map(|given| given.get_ref().0).ok_or_else(missing)
    }
    fn count(
        &self,
        key: &str,
        given: &Option<Spanned<i64>>,
        fits: RangeInclusive<i64>,
        usual: u32,
    ) -> Result<u32, Fault> {
        let Some(given) = given else { return Ok(usual) };
        let number = *given.get_ref();
        if fits.contains(&number) {
            return Ok(u32::try_from(number).unwrap_or(u32::MAX));
        }
        Err((given.span(), refusal(key, number, fits.start(), fits.end())))
    }
    fn lasting(
        &self,
        key: &str,
        given: &Option<Spanned<Quantity<Duration>>>,
        usual: Duration,
    ) -> Result<Duration, Fault> {
        let Some(given) = given else { return Ok(usual) };
        let duration = given.get_ref().0;
        if duration >= MIN_INTERVAL {
            return Ok(duration);
        }
        Err((given.span(), refusal(key, duration, MIN_INTERVAL, "1 hour")))
    }
}

fn amount(given: &Option<Spanned<Quantity<Amount>>>, usual: u64) -> Bytes {
    given.as_ref().map_or(Bytes(usual), |given| given.get_ref().0.0)
}

fn refusal(key: &str, seen: impl Display, least: impl Display, most: impl Display) -> String {
    format!("{key}: invalid value {seen} (expected {least} to {most})")
}
