//! The first line of a connection, and the server's answer to the first line of a load flow.
use super::{
    CONGESTION_CONTROL_LIMIT_BYTES, ControlProof, ErrorCode, FIRST_LINE_LIMIT_BYTES, Mac, SessionId,
    TOKEN_LIMIT_BYTES, bursts,
};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;
use fathom_burst::BurstPlan;
use fathom_units::{Direction, NoDirection, Rate};

/// Highest rate of a flow with [`FlowLoad`], in bit/s: more is not sent by one thread.
const RATE_LIMIT_BITS_PER_SECOND: u64 = 10_000_000_000;

/// Start of the word with the class of a flow.
const CLASS: &str = "class=";

/// Name of the ability of a server to mark what it sends, and to report marks, in `loads` of its
/// Hello.
pub const CLASSES: &str = "class";

/// Name of the ability of a server to probe the hops to its client, in `loads` of its Hello.
pub const HOPS: &str = "hops";

/// Purpose of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FirstLine {
    /// Opens a session.
    Control {
        /// Proof that the client knows the token.
        proof: Option<ControlProof>,
    },
    /// Opens a load flow.
    Flow(FlowRequest),
    /// HTTP. [`super::parse_request`] parses this line and the following ones.
    Http,
}

/// First line of a load flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowRequest {
    /// Session of the flow.
    pub session: SessionId,
    /// Number chosen by the client, unique among the open flows of the session.
    pub number: u32,
    /// `Up`: the client sends.
    pub direction: Direction,
    /// Congestion control of the sender; `None` for its default.
    pub congestion_control: Option<CongestionControl>,
    /// What the flow carries; `None`: TCP, as fast as possible.
    pub load: Option<FlowLoad>,
    /// Traffic class (DSCP and ECN field) of what the server sends. TCP sets the ECN field itself.
    pub class: u8,
    /// Shows that the client knows the key of the session, if it has one.
    pub mac: Option<Mac>,
}

/// Load other than TCP as fast as possible; rates are of payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowLoad {
    /// TCP that sends at most at this rate.
    Paced(Rate),
    /// UDP datagrams at this rate.
    Datagrams(Rate),
    /// In a down flow: an object of each size that the client requests, see
    /// [`super::object_request`].
    Objects,
    /// A burst of UDP datagrams.
    Burst(BurstPlan),
}

/// The server's answer to a [`FlowRequest`], one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowAnswer {
    /// The flow starts.
    Ok {
        /// Congestion control that the server's kernel reports for this connection.
        congestion_control: CongestionControl,
    },
    /// A flow of datagrams starts when the client has proven its UDP address.
    Udp {
        /// What the proof contains.
        token: u64,
    },
    /// The server closes the connection.
    Err {
        /// Reason for programs.
        code: ErrorCode,
        /// Reason for people.
        message: String,
    },
}

/// Token that a server and its clients share: 1 to [`TOKEN_LIMIT_BYTES`] visible ASCII characters.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Name of a congestion control: 1 to [`CONGESTION_CONTROL_LIMIT_BYTES`] of `a-z`, `A-Z`, `0-9`,
/// `_`, `-`; not a single `-`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CongestionControl(String);

/// Why a text is not a valid first line, token, congestion control, or answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstLineError {
    /// The text is longer than [`FIRST_LINE_LIMIT_BYTES`], or not ASCII.
    NotALine,
    /// The protocol version is not supported.
    Version,
    /// The line starts with the protocol's name but is malformed.
    Malformed(&'static str),
    /// The line belongs to another protocol.
    Foreign,
}

impl fmt::Display for FirstLineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirstLineError::NotALine => {
                write!(f, "the first line is not ASCII, or too long")
            }
            FirstLineError::Version => write!(f, "unsupported protocol version (expected 1)"),
            FirstLineError::Malformed(what) => write!(f, "{what}"),
            FirstLineError::Foreign => write!(f, "the first line is not of the Fathom protocol"),
        }
    }
}
impl core::error::Error for FirstLineError {}

impl FirstLine {
    /// Parses a line without its `\n`.
    ///
    /// # Errors
    /// If the line is not a valid first line.
    pub fn parse(line: &[u8]) -> Result<Self, FirstLineError> {
        if line.len() >= FIRST_LINE_LIMIT_BYTES || !line.is_ascii() {
            return Err(FirstLineError::NotALine);
        }
        let text = core::str::from_utf8(line).map_err(|_| FirstLineError::NotALine)?;
        let mut words = text.split(' ');
        match words.next() {
            Some("FATHOM/1") => parse_fathom(words),
            Some("GET") => Ok(FirstLine::Http),
            Some(word) if word.starts_with("FATHOM/") => Err(FirstLineError::Version),
            _ => Err(FirstLineError::Foreign),
        }
    }
}

fn parse_fathom<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<FirstLine, FirstLineError> {
    let line = match words.next() {
        Some("CONTROL") => FirstLine::Control { proof: parse_proof(&mut words)? },
        Some("FLOW") => FirstLine::Flow(parse_flow(&mut words)?),
        _ => return Err(FirstLineError::Malformed("expected CONTROL or FLOW after FATHOM/1")),
    };
    match words.next() {
        None => Ok(line),
        Some(_) => Err(FirstLineError::Malformed("the first line has too many words")),
    }
}

fn parse_proof<'a>(
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<Option<ControlProof>, FirstLineError> {
    let Some(first) = words.next() else { return Ok(None) };
    let wrong = FirstLineError::Malformed("invalid proof (expected two numbers of 32 hexadecimal digits)");
    let parsed = first.parse().ok().zip(words.next().and_then(|mac| mac.parse().ok()));
    parsed.map(|(nonce, mac)| Some(ControlProof { nonce, mac })).ok_or(wrong)
}

fn parse_flow<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<FlowRequest, FirstLineError> {
    let mut next = || words.next().ok_or(FirstLineError::Malformed("FLOW has too few words"));
    let session = next()?
        .parse()
        .map_err(|_| FirstLineError::Malformed("invalid session (expected 32 hexadecimal digits)"))?;
    let number = parse_number(next()?)?;
    let direction = next()?
        .parse()
        .map_err(|NoDirection| FirstLineError::Malformed("invalid direction (expected up or down)"))?;
    let congestion_control = match next()? {
        "-" => None,
        name => Some(name.parse()?),
    };
    let mut rest = words.peekable();
    let load = rest.next_if(|word| *word == FlowLoad::OBJECTS && direction == Direction::Down);
    let load = match load {
        Some(_) => Some(FlowLoad::Objects),
        None => {
            let word = rest.next_if(|word| word.contains('=') && !word.starts_with(CLASS));
            word.and_then(|word| word.split_once('=')).map(parse_load).transpose()?
        }
    };
    let class = rest.next_if(|word| word.starts_with(CLASS));
    let class = class.map_or(Ok(0), |word| parse_class(&word[CLASS.len()..]))?;
    let mac = rest.next().map(str::parse).transpose();
    let mac = mac.map_err(|_| FirstLineError::Malformed("invalid code (expected 32 hexadecimal digits)"))?;
    Ok(FlowRequest { session, number, direction, congestion_control, load, class, mac })
}

fn parse_class(word: &str) -> Result<u8, FirstLineError> {
    let class = word.parse().ok().filter(|class: &u8| *class > 0 && class.to_string() == word);
    class.ok_or(FirstLineError::Malformed("invalid class (expected 1 to 255)"))
}

fn parse_load((name, value): (&str, &str)) -> Result<FlowLoad, FirstLineError> {
    let load = match name {
        FlowLoad::PACE => parse_rate(value).map(FlowLoad::Paced),
        FlowLoad::UDP => parse_rate(value).map(FlowLoad::Datagrams),
        FlowLoad::BURST => bursts::parse(value).map(FlowLoad::Burst),
        _ => None,
    };
    load.ok_or(FirstLineError::Malformed("invalid load"))
}

fn parse_rate(rate: &str) -> Option<Rate> {
    let digits = rate.bytes().all(|b| b.is_ascii_digit());
    let rate = rate.parse().ok().filter(|rate| digits && (1..=RATE_LIMIT_BITS_PER_SECOND).contains(rate));
    rate.map(Rate::from_bits_per_second)
}

/// Accepts digits only: `u32::from_str` would also accept a sign.
fn parse_number(word: &str) -> Result<u32, FirstLineError> {
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    let number = word.parse().ok().filter(|_| digits);
    number.ok_or(FirstLineError::Malformed("invalid flow number (expected a number)"))
}

impl fmt::Display for FirstLine {
    /// Writes the line without its `\n`. HTTP consists of several lines, so the first line of
    /// [`super::probe_request`] is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirstLine::Control { proof: None } => write!(f, "FATHOM/1 CONTROL"),
            FirstLine::Control { proof: Some(ControlProof { nonce, mac }) } => {
                write!(f, "FATHOM/1 CONTROL {nonce} {mac}")
            }
            FirstLine::Flow(flow) => flow.fmt(f),
            FirstLine::Http => write!(f, "GET {} HTTP/1.1", super::PROBE_PATH),
        }
    }
}

impl fmt::Display for FlowRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cc = self.congestion_control.as_ref().map_or("-", CongestionControl::as_str);
        write!(f, "FATHOM/1 FLOW {} {} {} {cc}", self.session, self.number, self.direction)?;
        if let Some(load) = &self.load {
            write!(f, " {load}")?;
        }
        if self.class > 0 {
            write!(f, " {CLASS}{}", self.class)?;
        }
        self.mac.map_or(Ok(()), |mac| write!(f, " {mac}"))
    }
}

impl FlowLoad {
    const PACE: &'static str = "pace";
    const UDP: &'static str = "udp";
    const OBJECTS: &'static str = "objects";
    const BURST: &'static str = "burst";
    /// The names of all loads in the protocol.
    pub const NAMES: [&'static str; 4] = [Self::PACE, Self::UDP, Self::OBJECTS, Self::BURST];

    /// Its name in the protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FlowLoad::Paced(_) => Self::PACE,
            FlowLoad::Datagrams(_) => Self::UDP,
            FlowLoad::Objects => Self::OBJECTS,
            FlowLoad::Burst(_) => Self::BURST,
        }
    }
    /// The load of one of `flows` that carry this together, at least 1 bit/s.
    #[must_use]
    pub fn divided(self, flows: u32) -> Self {
        let part = |whole: Rate| {
            Rate::from_bits_per_second((whole.as_bits_per_second() / u64::from(flows.max(1))).max(1))
        };
        match self {
            FlowLoad::Paced(rate) => FlowLoad::Paced(part(rate)),
            FlowLoad::Datagrams(rate) => FlowLoad::Datagrams(part(rate)),
            FlowLoad::Objects => FlowLoad::Objects,
            FlowLoad::Burst(plan) => FlowLoad::Burst(plan),
        }
    }
}

impl fmt::Display for FlowLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self {
            FlowLoad::Paced(rate) | FlowLoad::Datagrams(rate) => write!(f, "={}", rate.as_bits_per_second()),
            FlowLoad::Objects => Ok(()),
            FlowLoad::Burst(plan) => write!(f, "={}", bursts::text(plan)),
        }
    }
}

impl FlowAnswer {
    /// Parses a line without its `\n`.
    ///
    /// # Errors
    /// If the line is not a valid answer.
    pub fn parse(line: &[u8]) -> Result<Self, FirstLineError> {
        let text = core::str::from_utf8(line).map_err(|_| FirstLineError::NotALine)?;
        match text.split_once(' ') {
            Some(("OK", word)) if word.starts_with("udp ") => parse_token(&word["udp ".len()..]),
            Some(("OK", name)) => Ok(FlowAnswer::Ok { congestion_control: name.parse()? }),
            Some(("ERR", rest)) => {
                let (code, message) = rest.split_once(' ').unwrap_or((rest, ""));
                Ok(FlowAnswer::Err { code: ErrorCode::from_name(code), message: message.to_string() })
            }
            _ => Err(FirstLineError::Malformed("invalid answer to FLOW (expected OK or ERR)")),
        }
    }
}

fn parse_token(word: &str) -> Result<FlowAnswer, FirstLineError> {
    let token = u64::from_str_radix(word, 16).ok().filter(|token| format!("{token:016x}") == word);
    let wrong = FirstLineError::Malformed("invalid answer to FLOW (expected OK or ERR)");
    token.map(|token| FlowAnswer::Udp { token }).ok_or(wrong)
}

impl fmt::Display for FlowAnswer {
    /// Writes the line without its `\n`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowAnswer::Ok { congestion_control } => write!(f, "OK {}", congestion_control.as_str()),
            FlowAnswer::Udp { token } => write!(f, "OK udp {token:016x}"),
            FlowAnswer::Err { code, message } => write!(f, "ERR {code} {message}"),
        }
    }
}

impl Token {
    /// The token as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = FirstLineError;
    fn from_str(text: &str) -> Result<Self, FirstLineError> {
        let visible = text.bytes().all(|b| b.is_ascii_graphic());
        if visible && (1..=TOKEN_LIMIT_BYTES).contains(&text.len()) {
            return Ok(Token(text.to_string()));
        }
        Err(FirstLineError::Malformed("invalid token (expected 1 to 128 visible ASCII characters)"))
    }
}

impl fmt::Debug for Token {
    /// Hides the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl CongestionControl {
    /// Name of the congestion control.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CongestionControl {
    type Err = FirstLineError;
    fn from_str(text: &str) -> Result<Self, FirstLineError> {
        let known = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if known && text != "-" && (1..=CONGESTION_CONTROL_LIMIT_BYTES).contains(&text.len()) {
            return Ok(CongestionControl(text.to_string()));
        }
        Err(FirstLineError::Malformed("invalid congestion control name (expected letters, digits, _ or -)"))
    }
}
