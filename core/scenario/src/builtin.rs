//! The lines that every copy of the program has.
use crate::{Plan, ScenarioError, parse};

macro_rules! builtin {
    ($($name:literal),*) => {
        /// Names of the built-in lines.
        pub const BUILTIN_NAMES: &[&str] = &[$($name),*];
        /// The scenario file of a built-in line; `None` if there is none of that name.
        pub fn builtin(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../../scenarios/", $name, ".toml"))),)*
                _ => None,
            }
        }
    };
}

builtin!(
    "dsl",
    "cable",
    "fiber",
    "lte",
    "wifi",
    "satellite",
    "gettys-2010",
    "seifried-2011",
    "auerswald-switch"
);

/// The plan of a built-in line; `None` if there is none of that name.
///
/// # Errors
/// None that a release has: a test reads them all.
pub fn builtin_plan(name: &str) -> Option<Result<Plan, ScenarioError>> {
    builtin(name).map(|text| parse(text, name))
}
