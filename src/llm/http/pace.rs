use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, sleep_until},
};

use super::window::Window;

/// Requests that may be under way before anything is known of a server.
const FIRST_CONCURRENCY: f64 = 8.0;

/// How fast a server may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaceLimits {
    /// Most requests under way, at least 1. How many there are in truth follows from how the server takes it.
    pub concurrency: u32,
    /// Requests of a minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens of a minute, of prompts and replies.
    pub tokens_per_minute: Option<u64>,
}

/// How a server took a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It answered.
    Well,
    /// It has too much to do.
    Overloaded,
    /// It failed in a way that says nothing of its load.
    Otherwise,
}

/// Lets requests pass, in the order in which they came, as fast as a server takes them; one for all conversations that ask
/// the same model.
///
/// The number under way grows by one with each answer until the server first has too much to do, then by one with each
/// full round; it is halved when there is too much, once for all requests that were under way then.
#[derive(Debug)]
pub struct Pace {
    most: f64,
    state: Mutex<State>,
    /// Who is next; the others queue here.
    turnstile: Semaphore,
    /// Somebody came out, or cost less than was feared.
    released: Notify,
}

#[derive(Debug)]
struct State {
    allowed: f64,
    is_probing: bool,
    under_way: u32,
    waiting: u32,
    last_cut: Option<Instant>,
    window: Window,
}

impl Pace {
    /// A pace within these limits.
    pub fn new(limits: PaceLimits) -> Self {
        let most = f64::from(limits.concurrency.max(1));
        let state = State {
            allowed: FIRST_CONCURRENCY.min(most),
            is_probing: true,
            under_way: 0,
            waiting: 0,
            last_cut: None,
            window: Window::new(limits.requests_per_minute, limits.tokens_per_minute),
        };
        Self { most, state: Mutex::new(state), turnstile: Semaphore::new(1), released: Notify::new() }
    }

    /// Waits until a request of about `tokens` tokens may be sent. Dropping the future leaves the queue.
    pub async fn enter(self: &Arc<Self>, tokens: u64) -> Slot {
        let _waiting = Waiting::of(self);
        // Never closed; were it, nobody would be next and all might pass.
        let _next = self.turnstile.acquire().await.ok();
        loop {
            match self.admit(tokens) {
                Ok(slot) => return slot,
                Err(Some(at)) => tokio::select! {
                    () = sleep_until(at) => {}
                    () = self.released.notified() => {}
                },
                Err(None) => self.released.notified().await,
            }
        }
    }

    /// A slot, or when to look again; `None` is when somebody comes out.
    fn admit(self: &Arc<Self>, tokens: u64) -> Result<Slot, Option<Instant>> {
        let mut state = self.state();
        if f64::from(state.under_way + 1) > state.allowed {
            return Err(None);
        }
        let now = Instant::now();
        if let Some(at) = state.window.opens(tokens, now) {
            return Err(Some(at));
        }
        state.under_way += 1;
        let number = state.window.note(tokens, now);
        Ok(Slot { pace: self.clone(), number, entered: now })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Numbers that are changed together; a panic between them is impossible.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, entered: Instant, taken: Taken) {
        let mut state = self.state();
        match taken {
            // Where nobody waits, more would say nothing.
            Taken::Well if state.waiting > 0 => {
                let step = if state.is_probing { 1.0 } else { 1.0 / state.allowed };
                state.allowed = (state.allowed + step).min(self.most);
            }
            Taken::Overloaded if state.last_cut.is_none_or(|cut| entered > cut) => {
                state.allowed = (state.allowed / 2.0).max(1.0);
                state.is_probing = false;
                state.last_cut = Some(Instant::now());
            }
            Taken::Well | Taken::Overloaded | Taken::Otherwise => {}
        }
    }
}

/// Somebody who waits, counted.
struct Waiting<'a>(&'a Pace);

impl<'a> Waiting<'a> {
    fn of(pace: &'a Pace) -> Self {
        pace.state().waiting += 1;
        Self(pace)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

/// A request under way; dropping it makes room for another.
#[derive(Debug)]
pub struct Slot {
    pace: Arc<Pace>,
    number: u64,
    entered: Instant,
}

impl Slot {
    /// Says how the server took the request, and what it cost where that is known.
    pub fn finish(self, taken: Taken, tokens: Option<u64>) {
        self.pace.leave(self.entered, taken);
        if let Some(tokens) = tokens {
            self.pace.state().window.settle(self.number, tokens);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pace.state().under_way -= 1;
        self.pace.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use tokio::time::{Instant, sleep};

    use super::{Pace, PaceLimits, Taken};

    const FREE: PaceLimits = PaceLimits { concurrency: 64, requests_per_minute: None, tokens_per_minute: None };

    /// Sends `number` requests through the pace to a server that takes `capacity` at once for a second each and turns away
    /// all others at once; gives the most that were under way, how many were turned away, and the time it took.
    async fn load(pace: &Arc<Pace>, number: usize, capacity: usize) -> (usize, usize, Duration) {
        let begin = Instant::now();
        let (now, most, refused) = (
            Arc::new(std::sync::Mutex::new(0)),
            Arc::new(std::sync::Mutex::new(0)),
            Arc::new(std::sync::Mutex::new(0)),
        );
        let requests = (0..number).map(|_| {
            let (pace, now, most, refused) = (pace.clone(), now.clone(), most.clone(), refused.clone());
            tokio::spawn(async move {
                let slot = pace.enter(10).await;
                let under_way = {
                    let mut now = now.lock().unwrap();
                    *now += 1;
                    *now
                };
                {
                    let mut most = most.lock().unwrap();
                    *most = under_way.max(*most);
                }
                let taken = if under_way > capacity { Taken::Overloaded } else { Taken::Well };
                if taken == Taken::Well {
                    sleep(Duration::from_secs(1)).await;
                } else {
                    *refused.lock().unwrap() += 1;
                    sleep(Duration::from_millis(1)).await;
                }
                *now.lock().unwrap() -= 1;
                slot.finish(taken, None);
            })
        });
        futures_util::future::join_all(requests).await;
        let (most, refused) = (*most.lock().unwrap(), *refused.lock().unwrap());
        (most, refused, begin.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn it_grows_while_all_is_well_and_never_over_its_limit() {
        let (most, refused, took) = load(&Arc::new(Pace::new(FREE)), 1_000, usize::MAX).await;
        assert_eq!((most, refused), (64, 0));
        assert!(took < Duration::from_secs(20), "one after the other would take 1000 s: {took:?}");
        let (most, _, took) = load(&Arc::new(Pace::new(PaceLimits { concurrency: 1, ..FREE })), 5, usize::MAX).await;
        assert_eq!((most, took), (1, Duration::from_secs(5)));
    }

    #[tokio::test(start_paused = true)]
    async fn it_settles_near_what_a_server_takes() {
        let pace = Arc::new(Pace::new(FREE));
        let (most, refused, _) = load(&pace, 1_000, 10).await;
        assert!((11..=20).contains(&most), "it tried {most}");
        assert!(refused < 150, "{refused} of 1000 requests were turned away");
        assert!((2.0..=11.0).contains(&pace.state().allowed), "{:?}", pace.state().allowed);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_and_tokens_of_a_minute_hold_for_all_together() {
        let pace = Arc::new(Pace::new(PaceLimits { requests_per_minute: Some(30), ..FREE }));
        let (_, _, took) = load(&pace, 100, usize::MAX).await;
        assert!((180..190).contains(&took.as_secs()), "{took:?}");
        let pace = Arc::new(Pace::new(PaceLimits { tokens_per_minute: Some(200), ..FREE }));
        let (_, _, took) = load(&pace, 50, usize::MAX).await;
        assert!((120..130).contains(&took.as_secs()), "20 requests of 10 tokens a minute: {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_the_queue_or_is_dropped_blocks_nobody() {
        let pace = Arc::new(Pace::new(PaceLimits { concurrency: 1, ..FREE }));
        let held = pace.enter(1).await;
        let impatient = tokio::time::timeout(Duration::from_secs(1), pace.enter(1)).await;
        assert!(impatient.is_err());
        drop(held);
        let next = tokio::time::timeout(Duration::from_secs(1), pace.enter(1)).await.unwrap();
        next.finish(Taken::Otherwise, Some(5));
        assert_eq!(pace.state().under_way, 0);
    }
}
