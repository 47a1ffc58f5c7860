use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::{Client, Request};
use tokio::time::Instant;
use url::Url;

use super::failure::Failure;

/// Failures in a row after which a server is left alone.
const MOST_FAILURES: u32 = 3;
/// For how long.
const REST: Duration = Duration::from_secs(30);

/// One server of those that serve the same model.
pub struct Endpoint {
    /// Where its interface begins.
    pub url: Url,
    /// Sends requests to it: whether a proxy stands between depends on the server.
    pub http: Client,
}

impl Endpoint {
    /// `host:port`, for records.
    pub fn name(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// The servers of one model. Who asks stays with one of them while it lives; one that is dead is skipped for a while, then
/// tried again.
pub struct Endpoints {
    list: Vec<Endpoint>,
    health: Mutex<Vec<Health>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Health {
    failures: u32,
    rests_until: Option<Instant>,
}

impl Endpoints {
    /// These servers, of which requests are made for the first. Never empty.
    pub fn new(list: Vec<Endpoint>) -> Self {
        let health = Mutex::new(vec![Health::default(); list.len()]);
        Self { list, health }
    }

    /// Whether there is a choice.
    pub fn are_several(&self) -> bool {
        self.list.len() > 1
    }

    /// The server of the one who asks, `key`: always the same of those that are not resting, and its own where all are.
    pub fn pick(&self, key: u64) -> usize {
        let count = self.list.len().max(1);
        let own = usize::try_from(key % count as u64).unwrap_or(0);
        let (health, now) = (self.health(), Instant::now());
        let works = |index: &usize| health.get(*index).is_none_or(|it| it.rests_until.is_none_or(|until| until <= now));
        (0..count).map(|step| (own + step) % count).find(works).unwrap_or(own)
    }

    /// A server by its number.
    pub fn get(&self, index: usize) -> Option<&Endpoint> {
        self.list.get(index)
    }

    /// The request, which was made for the first server, for server number `index`.
    pub fn direct(&self, request: &mut Request, index: usize) {
        let (Some(first), Some(other)) = (self.list.first(), self.list.get(index).filter(|_| index > 0)) else {
            return;
        };
        let rest = request.url().path().strip_prefix(first.url.path()).unwrap_or_default().to_owned();
        let mut url = other.url.clone();
        url.set_path(&format!("{}{rest}", other.url.path()));
        *request.url_mut() = url;
    }

    /// How a request to server number `index` went; `None` is well.
    pub fn note(&self, index: usize, failure: Option<&Failure>) {
        let mut health = self.health();
        let Some(health) = health.get_mut(index) else { return };
        let weight = match failure {
            Some(failure) if failure.kind == "connect" => MOST_FAILURES,
            Some(failure) if matches!(failure.kind, "send" | "timeout") => 1,
            Some(failure) if matches!(failure.status, Some(502..=504)) => 1,
            _ => return *health = Health::default(),
        };
        health.failures = health.failures.saturating_add(weight);
        if health.failures >= MOST_FAILURES {
            health.rests_until = Some(Instant::now() + REST);
        }
    }

    fn health(&self) -> MutexGuard<'_, Vec<Health>> {
        // Numbers only; no panic leaves them half changed.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::Client;
    use tokio::time::advance;
    use url::Url;

    use super::{Endpoint, Endpoints};
    use crate::llm::http::{Class, Failure};

    fn endpoints(urls: &[&str]) -> Endpoints {
        let endpoint = |url: &&str| Endpoint { url: Url::parse(url).unwrap(), http: Client::new() };
        Endpoints::new(urls.iter().map(endpoint).collect())
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_server_is_skipped_for_a_while() {
        let servers = endpoints(&["http://a/v1", "http://b/v1", "http://c/v1"]);
        assert_eq!([0, 1, 2, 3, 7].map(|key| servers.pick(key)), [0, 1, 2, 0, 1]);
        let (dead, mute) =
            (Failure::transport("connect", Class::Retry, ""), Failure::transport("timeout", Class::Retry, ""));
        servers.note(1, Some(&dead));
        assert_eq!([0, 1, 2].map(|key| servers.pick(key)), [0, 2, 2], "nobody else moves");
        servers.note(2, Some(&mute));
        servers.note(2, Some(&mute));
        servers.note(2, None);
        servers.note(2, Some(&mute));
        assert_eq!(servers.pick(2), 2, "not in a row");
        servers.note(2, Some(&Failure::answer(503, b"")));
        servers.note(2, Some(&Failure::answer(502, b"")));
        assert_eq!([1, 2].map(|key| servers.pick(key)), [0, 0]);
        servers.note(0, Some(&dead));
        assert_eq!([0, 1, 2].map(|key| servers.pick(key)), [0, 1, 2], "where all rest, each tries its own");
        advance(Duration::from_secs(30)).await;
        servers.note(0, None);
        servers.note(1, Some(&mute));
        assert_eq!([1, 2].map(|key| servers.pick(key)), [2, 2], "one more failure and it rests again");
        servers.note(2, Some(&Failure::answer(400, b"")));
        assert_eq!(servers.pick(2), 2, "an answer is a sign of life");
    }

    #[test]
    fn a_request_for_one_server_is_directed_to_another() {
        let servers = endpoints(&["http://a:1/v1", "https://b:2/proxy/v1"]);
        let mut request = Client::new().post("http://a:1/v1/chat/completions").build().unwrap();
        servers.direct(&mut request, 0);
        assert_eq!(request.url().as_str(), "http://a:1/v1/chat/completions");
        servers.direct(&mut request, 1);
        assert_eq!(request.url().as_str(), "https://b:2/proxy/v1/chat/completions");
        assert_eq!(servers.get(1).unwrap().name(), "b:2");
    }
}
