//! How often each operator holds the published repair of a program.
//!
//! Counted on 112 Python programs with one known repair each: the 40 of QuixBugs, the first 40 of HumanEvalFix and the
//! 32 example tasks of this project. An operator has a hit for a program when one of its edits gives the published
//! repair up to layout and docstrings (no test is run for that, and nothing depends on the order of a search).
//! `docs/templates.md` says what each data set finds with the counts of the two others alone.

/// Programs that every operator is given in advance, so that none is never tried.
const HITS_IN_ADVANCE: f64 = 0.25;

/// Operator, programs whose published repair it holds, edits that it proposes for all programs (for the reader).
const COUNTS: &[(&str, f64, u32)] = &[
    ("attribute", 1.0, 4),
    ("membership sides", 1.0, 8),
    ("and for or", 3.0, 30),
    ("comparison boundary", 7.0, 77),
    ("branches exchanged", 1.0, 22),
    ("comparison direction", 3.0, 77),
    ("truth value", 1.0, 31),
    ("arguments exchanged", 3.0, 122),
    ("operands exchanged", 3.0, 125),
    ("operand dropped", 7.0, 390),
    ("elements exchanged", 2.0, 125),
    ("call applied twice", 1.0, 70),
    ("condition negated", 1.0, 89),
    ("missing return", 1.0, 99),
    ("constant condition", 2.0, 201),
    ("number by one", 5.0, 567),
    ("method", 3.0, 366),
    ("arithmetic operator", 2.0, 256),
    ("key by lookup", 1.0, 156),
    ("augmented operator", 1.0, 163),
    ("comparison equality", 3.0, 525),
    ("call by assignment", 1.0, 196),
    ("empty container", 2.0, 471),
    ("off by one", 6.0, 1465),
    ("variable", 8.0, 2466),
    ("string constant", 1.0, 448),
    ("off by one in an operand", 1.0, 485),
    ("target by expression", 1.0, 545),
    ("expression by variable", 3.0, 1753),
    ("function", 1.0, 699),
    ("arithmetic operator of another family", 1.0, 749),
    ("target", 1.0, 845),
    ("common number", 1.0, 964),
    ("variable by expression", 2.0, 2174),
    ("guard clause", 2.0, 2581),
    ("larger or smaller of two", 3.0, 4423),
    ("collecting call inserted", 3.0, 4696),
    ("guard inserted", 1.0, 1808),
    ("call around a number", 2.0, 3855),
    ("variable slice", 2.0, 4254),
    ("method of a text", 1.0, 2448),
    ("last element collected", 1.0, 2723),
    ("arithmetic with a variable", 2.0, 11781),
    ("assignment inserted", 1.0, 6917),
    ("arithmetic with a constant", 1.0, 8762),
    ("same change twice", 1.0, 10443),
    ("call around a collection", 1.0, 11730),
    ("argument added", 0.0, 303),
    ("argument dropped", 0.0, 144),
    ("assignment by update", 0.0, 647),
    ("branch around a statement", 0.0, 4171),
    ("branch dissolved", 0.0, 303),
    ("branch keyword", 0.0, 139),
    ("call of a value", 0.0, 81),
    ("call unwrapped", 0.0, 318),
    ("clause added", 0.0, 5484),
    ("clause dropped", 0.0, 58),
    ("clauses exchanged", 0.0, 29),
    ("collection ordered", 0.0, 1572),
    ("comparison opposite", 0.0, 164),
    ("condition replaced", 0.0, 572),
    ("conditional by branch", 0.0, 27),
    ("constant by variable", 0.0, 973),
    ("constant slice", 0.0, 5403),
    ("divisibility clause", 0.0, 1300),
    ("division by length", 0.0, 1360),
    ("element dropped", 0.0, 92),
    ("else branch", 0.0, 85),
    ("end of a queue", 0.0, 57),
    ("expression by expression", 0.0, 982),
    ("filter", 0.0, 90),
    ("function of the program", 0.0, 124),
    ("function of the program around an expression", 0.0, 888),
    ("grouping", 0.0, 32),
    ("index", 0.0, 429),
    ("jump exchanged", 0.0, 165),
    ("jump inserted", 0.0, 1100),
    ("method by operator", 0.0, 150),
    ("method of a collection", 0.0, 562),
    ("number further off", 0.0, 827),
    ("number of the program", 0.0, 286),
    ("number of the tests", 0.0, 1286),
    ("reset inserted", 0.0, 881),
    ("result in a list", 0.0, 871),
    ("result of a computed variable", 0.0, 175),
    ("return and yield", 0.0, 351),
    ("returned value", 0.0, 1399),
    ("sign", 0.0, 451),
    ("slice bound", 0.0, 220),
    ("sort order", 0.0, 126),
    ("statement copied", 0.0, 2750),
    ("statement deleted", 0.0, 857),
    ("statement moved in", 0.0, 186),
    ("statement moved out", 0.0, 71),
    ("statements exchanged", 0.0, 438),
    ("step inserted", 0.0, 3662),
    ("string case and end", 0.0, 253),
    ("string of the tests", 0.0, 363),
    ("subscript added", 0.0, 2700),
    ("subscript dropped", 0.0, 114),
    ("unread variable", 0.0, 21),
    ("variable exchanged in a statement", 0.0, 140),
];

/// How many programs the operator repaired, smoothed: its chance to be the right one, up to a factor.
pub(super) fn of(operator: &str) -> f64 {
    COUNTS.iter().find(|(name, ..)| *name == operator).map_or(0.0, |(_, hits, _)| *hits) + HITS_IN_ADVANCE
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{COUNTS, of};
    use crate::llm::templates::operators;

    #[test]
    fn the_table_names_operators_that_there_are() {
        let known: BTreeSet<&str> = operators::all().map(|operator| operator.name).collect();
        let mut named = BTreeSet::new();
        for (name, hits, edits) in COUNTS {
            assert!(known.contains(name) && named.insert(name), "{name}");
            assert!(*hits <= f64::from(*edits), "{name}");
        }
    }

    #[test]
    fn the_documentation_has_the_same_table() {
        let documented = include_str!("../../../docs/templates.md");
        for operator in operators::all() {
            let counted = COUNTS.iter().find(|(name, ..)| *name == operator.name);
            let (hits, edits) = counted.map_or((0.0, 0), |(_, hits, edits)| (*hits, *edits));
            let summary = operator.summary.replace('|', "\\|");
            let row = format!("\n| {} | {summary} | {hits} | {edits} |", operator.name);
            assert!(documented.contains(&row), "docs/templates.md lacks the row{row}");
        }
    }

    #[test]
    fn operators_without_a_hit_have_a_chance() {
        assert!(of("no operator") > 0.0 && of("comparison boundary") > of("no operator"));
    }
}
