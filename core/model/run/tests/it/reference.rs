//! Keeps the generated reference page equal to docs/metrics.md.

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/metrics.md");

#[test]
fn the_metrics_page_equals_the_registry() {
    let page = fathom_run::reference_page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(PAGE, &page).expect("docs/metrics.md can be written");
    }
    let on_disk = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        page == on_disk,
        "docs/metrics.md is not what the registry says; UPDATE_GOLDEN=1 cargo test rewrites it"
    );
}
