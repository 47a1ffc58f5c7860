//! Times as people read them.

/// A length of time in at most eight characters.
pub fn duration(ns: u64) -> String {
    let secs = ns / 1_000_000_000;
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        1_000_000_000..60_000_000_000 => format!("{}.{} s", secs, ns / 100_000_000 % 10),
        60_000_000_000..3_600_000_000_000 => format!("{}m {:02}s", secs / 60, secs % 60),
        _ => format!("{}h {:02}m", secs / 3_600, secs / 60 % 60),
    }
}

/// A moment, given in ns of Unix time, as date and time of day in UTC: `2026-11-30 20:50:10`.
pub fn utc(unix_ns: u64) -> String {
    let secs = unix_ns / 1_000_000_000;
    let (days, of_day) = (secs / 86_400, secs % 86_400);
    // Days are counted in years that begin in March, so that the leap day is the last: the eras of 400 years are equal.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::{duration, utc};

    #[test]
    fn lengths_of_time_are_short() {
        let cases = [
            (0, "0 µs"),
            (999_999, "999 µs"),
            (1_000_000, "1 ms"),
            (59_960_000_000, "59.9 s"),
            (60_000_000_000, "1m 00s"),
            (3_599_000_000_000, "59m 59s"),
            (3_600_000_000_000, "1h 00m"),
        ];
        for (ns, words) in cases {
            assert_eq!(duration(ns), words);
            assert!(words.chars().count() <= 8);
        }
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_796_071_810, "2026-11-30 20:50:10"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ];
        for (secs, words) in cases {
            assert_eq!(utc(secs * 1_000_000_000), words);
        }
    }
}
