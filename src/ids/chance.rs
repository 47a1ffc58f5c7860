//! What seeded choices are keyed by: the run's seed, the sample, and where in a conversation the choice is made.

/// The key of a choice: seed and sample, the place inside the conversation where there is one, then each of `parts` with an
/// end mark, so that no two lists of parts are the same text.
pub fn keyed(seed: u64, sample: u32, place: Option<u64>, parts: &[&str]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(&sample.to_le_bytes());
    if let Some(place) = place {
        hasher.update(&place.to_le_bytes());
    }
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher
}

/// The number that a key stands for.
pub fn number(key: &blake3::Hasher) -> u64 {
    key.finalize().as_bytes().iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
