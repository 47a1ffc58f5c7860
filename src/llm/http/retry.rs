use std::time::{Duration, SystemTime};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Longest wait between two requests. A server that asks for more is given up at once.
pub const MAX_WAIT: Duration = Duration::from_secs(30);

/// Doublings that are made: more would leave the numbers, and no first wait times nothing is no number at all.
const MAX_DOUBLINGS: i32 = 64;

/// The waits between the requests of one call. Equal seeds wait equally long.
pub struct Backoff {
    first_secs: f64,
    retries: i32,
    rng: ChaCha8Rng,
}

impl Backoff {
    /// Waits from `first_secs` on, with the jitter of `seed`.
    pub fn new(first_secs: f64, seed: u64) -> Self {
        Self { first_secs, retries: 0, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The next wait: doubled with each, at most 30 s, of which a random half to the whole.
    pub fn next_wait(&mut self) -> Duration {
        let whole = (self.first_secs * 2_f64.powi(self.retries.min(MAX_DOUBLINGS))).clamp(0.0, MAX_WAIT.as_secs_f64());
        self.retries = self.retries.saturating_add(1);
        let share = 0.5 + f64::from(self.rng.next_u32()) / f64::from(u32::MAX) / 2.0;
        Duration::from_secs_f64(whole * share)
    }
}

/// How long the server asks to be left alone: `retry-after-ms`, or `Retry-After` (RFC 9110, section 10.2.3) in seconds,
/// whole or not, or as a date; a date in the past means no wait. `None` where it says nothing that can be understood.
pub fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().and_then(|secs| Duration::try_from_secs_f64(secs).ok());
    if let Some(wait) = text("retry-after-ms").and_then(seconds) {
        return Some(wait / 1_000);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after).or_else(|| {
        let date = httpdate::parse_http_date(after).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{Backoff, asked_wait};

    #[test]
    fn t04_forms_of_retry_after() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let ahead = httpdate::fmt_http_date(now + Duration::from_secs(2));
        let past = httpdate::fmt_http_date(now - Duration::from_secs(2));
        for (name, value, wait_ms) in [
            ("retry-after", "1", Some(1_000)),
            ("retry-after", "1.5", Some(1_500)),
            ("retry-after", ahead.as_str(), Some(2_000)),
            ("retry-after", past.as_str(), Some(0)),
            ("retry-after", "-5", None),
            ("retry-after", "soon", None),
            ("retry-after", "86400", Some(86_400_000)),
            ("retry-after", "1e300", None),
            ("retry-after", "NaN", None),
            ("retry-after-ms", "250", Some(250)),
            ("x-other", "1", None),
        ] {
            let headers =
                HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())]);
            assert_eq!(asked_wait(&headers, now), wait_ms.map(Duration::from_millis), "{name}: {value}");
        }
    }

    #[test]
    fn waits_double_within_bounds_and_depend_on_the_seed_alone() {
        let waits = |seed| {
            let mut backoff = Backoff::new(0.5, seed);
            (0..10).map(|_| backoff.next_wait()).collect::<Vec<_>>()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
        for (retry, wait) in waits(3).into_iter().enumerate() {
            let whole = (0.5 * f64::powi(2.0, i32::try_from(retry).unwrap())).min(30.0);
            assert!((whole / 2.0..=whole).contains(&wait.as_secs_f64()), "{retry}: {wait:?}");
        }
    }
}
