/// Candidates by mean score, highest first, the earlier first on ties. A row without tests has mean 0; one with a NaN
/// comes last.
pub(super) fn by_mean(scores: &[Vec<f64>]) -> Vec<usize> {
    let means: Vec<f64> = scores.iter().map(|row| mean(row)).collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]).then(a.cmp(&b)));
    order
}

/// The mean of a row, as a judgement's score is made.
pub(super) fn mean(row: &[f64]) -> f64 {
    if row.is_empty() {
        return 0.0;
    }
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    if mean.is_nan() { f64::NEG_INFINITY } else { mean }
}
