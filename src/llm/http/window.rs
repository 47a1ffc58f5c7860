use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// What the limits of a minute are counted over.
const MINUTE: Duration = Duration::from_secs(60);

/// The requests of the last minute, and what they cost. No minute, wherever it begins, holds more than the limits; only a
/// request that is larger than the limit of tokens by itself is let through, alone.
#[derive(Debug)]
pub struct Window {
    requests: Option<u32>,
    tokens: Option<u64>,
    sent: VecDeque<Sent>,
    number: u64,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl Window {
    /// A window with these limits of a minute; `None` is unlimited.
    pub fn new(requests: Option<u32>, tokens: Option<u64>) -> Self {
        Self { requests, tokens, sent: VecDeque::new(), number: 0 }
    }

    /// When a request of `tokens` tokens may be sent; `None` is now.
    pub fn opens(&mut self, tokens: u64, now: Instant) -> Option<Instant> {
        while self.sent.front().is_some_and(|sent| sent.at + MINUTE <= now) {
            self.sent.pop_front();
        }
        let most = self.requests.map_or(usize::MAX, |most| most.max(1) as usize);
        let by_number = (self.sent.len() + 1).checked_sub(most).filter(|excess| *excess > 0);
        let by_tokens = self.tokens.and_then(|most| {
            let mut sum = self.sent.iter().fold(tokens, |sum, sent| sum.saturating_add(sent.tokens));
            // How many of the oldest must be forgotten.
            let excess = self.sent.iter().take_while(|sent| {
                let is_too_much = sum > most;
                sum = sum.saturating_sub(sent.tokens);
                is_too_much
            });
            Some(excess.count()).filter(|excess| *excess > 0)
        });
        let excess = by_number.max(by_tokens)?;
        self.sent.get(excess - 1).map(|sent| sent.at + MINUTE)
    }

    /// Counts a request; the number is for [`Window::settle`].
    pub fn note(&mut self, tokens: u64, now: Instant) -> u64 {
        self.number += 1;
        if self.requests.is_some() || self.tokens.is_some() {
            self.sent.push_back(Sent { number: self.number, at: now, tokens });
        }
        self.number
    }

    /// What a request cost in truth.
    pub fn settle(&mut self, number: u64, tokens: u64) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.number == number) {
            sent.tokens = tokens;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tokio::time::Instant;

    use super::Window;

    proptest! {
        #[test]
        fn no_minute_holds_more_than_the_limits(
            requests in 1u32..6,
            limit in 10u64..60,
            steps in prop::collection::vec((0u64..40_000, 0u64..30, prop::option::of(0u64..30)), 1..60),
        ) {
            let begin = Instant::now();
            let mut window = Window::new(Some(requests), Some(limit));
            let (mut now, mut sent) = (begin, Vec::<(Instant, u64)>::new());
            for (pause_ms, tokens, real) in steps {
                now += Duration::from_millis(pause_ms);
                while let Some(at) = window.opens(tokens, now) {
                    prop_assert!(at > now, "a time to wait for lies ahead");
                    now = at;
                }
                let number = window.note(tokens, now);
                let tokens = real.map_or(tokens, |real| real.min(tokens));
                window.settle(number, tokens);
                sent.push((now, tokens));
                let of_minute = sent.iter().filter(|(at, _)| *at + Duration::from_secs(60) > now);
                let (count, sum) = of_minute.fold((0, 0), |(count, sum), (_, tokens)| (count + 1, sum + tokens));
                prop_assert!(count <= requests);
                prop_assert!(sum <= limit || count == 1);
            }
        }
    }

    #[test]
    fn nothing_waits_longer_than_it_must() {
        let now = Instant::now();
        let mut window = Window::new(Some(2), Some(100));
        assert_eq!(window.opens(1_000, now), None, "larger than the limit, and alone");
        let first = window.note(90, now);
        let later = now + Duration::from_secs(10);
        assert_eq!(window.opens(11, later), Some(now + Duration::from_secs(60)));
        assert_eq!(window.opens(10, later), None);
        window.settle(first, 20);
        assert_eq!(window.opens(11, later), None, "it cost less than was feared");
        window.note(11, later);
        assert_eq!(window.opens(0, later), Some(now + Duration::from_secs(60)), "two requests a minute");
        assert_eq!(window.opens(0, now + Duration::from_secs(60)), None);
        assert_eq!(window.opens(95, now + Duration::from_secs(60)), Some(later + Duration::from_secs(60)));
        let mut unlimited = Window::new(None, None);
        unlimited.note(u64::MAX, now);
        assert_eq!(unlimited.opens(u64::MAX, now), None);
    }
}
