use std::{
    sync::OnceLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// Nanoseconds since the Unix epoch, advancing by the monotonic clock from the first reading in this process, so that a
/// wall clock that is set back never gives a negative duration.
pub fn now_unix_nanos() -> u64 {
    static ORIGIN: OnceLock<(u64, Instant)> = OnceLock::new();
    let (origin, instant) = ORIGIN.get_or_init(|| {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX), Instant::now())
    });
    origin.saturating_add(u64::try_from(instant.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
