//! How often an edit of each operator repaired a program: hits of the operator over edits that it proposed.

/// Hits that every operator is given in advance, so that none is never tried.
const HITS_IN_ADVANCE: f64 = 0.25;
/// Edits that every operator is given in advance.
const EDITS_IN_ADVANCE: f64 = 100.0;

/// Operator, programs that it repaired (a share where several did), edits that it proposed for all programs.
const COUNTS: &[(&str, f64, u32)] = &[];

/// The share of an operator's edits that repair a program, smoothed.
pub(super) fn of(operator: &str) -> f64 {
    let (hits, edits) =
        COUNTS.iter().find(|(name, ..)| *name == operator).map_or((0.0, 0), |(_, hits, edits)| (*hits, *edits));
    (hits + HITS_IN_ADVANCE) / (f64::from(edits) + EDITS_IN_ADVANCE)
}
