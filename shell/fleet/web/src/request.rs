//! The sites and the period of a request.
use fathom_fleet_query::Span;
use fathom_fleet_view::Selector;
use fathom_units::WallTime;
use fathom_web::{Query, Refusal, decode};

/// Maximum number of labels in `only`.
const MAX_LABELS: usize = 16;

/// The sites and the period of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scope {
    pub(crate) of: Selector,
    pub(crate) span: Span,
}

impl Scope {
    /// Takes `from`, `to` and `only`.
    pub(crate) fn take(query: &mut Query) -> Result<Scope, Refusal> {
        Ok(Scope { of: selector(query)?, span: span(query)? })
    }
}

/// Takes `from` and `to`, in seconds since 1970.
pub(crate) fn span(query: &mut Query) -> Result<Span, Refusal> {
    let (from, to) = (WallTime(query.moment_ns("from")?), WallTime(query.moment_ns("to")?));
    if from < to { Ok(Span { from, to }) } else { Err(not_before("from", "to")) }
}

/// A period that is none.
pub(crate) fn not_before(from: &str, to: &str) -> Refusal {
    Refusal::bad(format!("{from} is not before {to}"))
}

/// Takes `only`: pairs of a label and a value, encoded as a query string.
pub(crate) fn selector(query: &mut Query) -> Result<Selector, Refusal> {
    let text = query.take("only").unwrap_or_default();
    let mut pairs = Vec::new();
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        pairs.push((decode(name)?, decode(value)?));
    }
    if pairs.len() > MAX_LABELS {
        return Err(Refusal::bad(format!("only: larger than the limit of {MAX_LABELS} labels")));
    }
    Ok(Selector::of(&pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_data() {
        let of = |only: &str| {
            selector(&mut Query::parse(only).unwrap_or_else(|_| panic!("{only}"))).map_err(|r| r.text)
        };
        let pair = |name: &str, value: &str| Selector::all().with(name, value);
        assert_eq!(of(""), Ok(Selector::all()));
        assert_eq!(of("only=provider%3DA%2526B"), Ok(pair("provider", "A&B")));
        assert_eq!(of("only=provider%3Da%26plan%3Db"), Ok(pair("provider", "a").with("plan", "b")));
        assert_eq!(of("only=provider"), Ok(pair("provider", "")));
        assert!(of("only=a%3D%25zz").unwrap_err().contains("invalid percent encoding"));
        assert!(of(&format!("only={}", "a%3Db%26".repeat(17))).unwrap_err().contains("limit of 16 labels"));
    }
}
