//! Every claim, for programs.
use crate::tally::Scored;
use serde_json::{Value, json};

pub(crate) fn json(scored: &[Scored]) -> Value {
    let path = |path: &Scored| {
        let claims: Vec<Value> = path
            .claims
            .iter()
            .map(|claim| {
                let made = claim.made.as_ref().map(|made| {
                    json!({
                        "right": made.is_right,
                        "error_ratio": made.error,
                        "certainty": made.certainty,
                        "detail": made.detail,
                    })
                });
                json!({ "claim": claim.kind.name(), "about": claim.about, "possible": claim.is_possible, "made": made })
            })
            .collect();
        json!({
            "path": path.path,
            "bloated": path.is_bloated,
            "borderline": path.is_borderline,
            "health": path.health,
            "claims": claims,
        })
    };
    Value::Array(scored.iter().map(path).collect())
}
