//! The look that all pages share, for pages that are made elsewhere.

/// Colors in both themes, and the style of header, cards, tables and findings.
pub const STYLE: &str = concat!(include_str!("html/palette.css"), include_str!("html/page.css"));

/// Makes the button with the id `theme` work.
pub const THEME_SCRIPT: &str = include_str!("html/theme.js");

/// A page without external resources, with this body. `title` is its name.
pub fn page(title: &str, body: &str) -> alloc::string::String {
    crate::html::page(title, "", body)
}

/// Text from anywhere as text of a page: no tag, no control character, no override of the direction
/// of writing.
pub fn escape(text: &str) -> alloc::string::String {
    crate::svg::escape(text)
}
