//! docs/templates.md lists every operator with its own words.

use rolecall::llm::templates::operators;

#[test]
fn every_operator_is_in_the_table_of_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/templates.md");
    let page = std::fs::read_to_string(path).unwrap();
    let missing: Vec<String> = operators()
        .map(|operator| format!("| {} | {} |", operator.name, operator.summary.replace('|', "\\|")))
        .filter(|row| !page.contains(row.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/templates.md lacks:\n{}", missing.join("\n"));
}
