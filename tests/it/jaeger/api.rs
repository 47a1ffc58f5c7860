//! What Jaeger's query API says, as tests read it.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant, SystemTime},
};

use serde_json::Value;

use super::server::{LIMIT, Site};

/// Names and their values as text.
pub type Tags = BTreeMap<String, String>;

#[derive(Debug)]
pub struct SeenSpan {
    pub trace: String,
    pub id: String,
    pub parent: Option<String>,
    /// Trace and span of each link.
    pub links: Vec<(String, String)>,
    pub service: String,
    pub resource: Tags,
    pub name: String,
    pub tags: Tags,
    /// Name and attributes of each event.
    pub events: Vec<(String, Tags)>,
    pub warnings: Vec<String>,
    pub microseconds: u64,
}

impl SeenSpan {
    pub fn tag(&self, name: &str) -> &str {
        self.tags.get(name).map_or("", String::as_str)
    }

    pub fn failed(&self) -> bool {
        self.tag("error") == "true" || self.tag("otel.status_code") == "ERROR"
    }
}

impl Site {
    /// The answer to a question, which must be one.
    pub fn ask(&self, path: &str) -> Value {
        self.try_ask(path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn try_ask(&self, path: &str) -> Result<Value, String> {
        let answer = reqwest::blocking::get(self.query_url(path)).map_err(|error| error.to_string())?;
        let (status, text) = (answer.status(), answer.text().map_err(|error| error.to_string())?);
        if !status.is_success() {
            return Err(format!("{status} {text}"));
        }
        serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))
    }

    pub fn services(&self) -> BTreeSet<String> {
        words(&self.ask("/api/services")["data"])
    }

    pub fn operations(&self, service: &str) -> BTreeSet<String> {
        words(&self.ask(&format!("/api/services/{service}/operations"))["data"])
    }

    /// A trace; empty where there is none.
    pub fn trace(&self, id: &str) -> Vec<SeenSpan> {
        match self.try_ask(&format!("/api/traces/{id}")) {
            Ok(answer) => answer["data"].as_array().unwrap().iter().flat_map(spans).collect(),
            Err(error) if error.starts_with("404") => Vec::new(),
            Err(error) => panic!("{id}: {error}"),
        }
    }

    /// How many spans it has of these traces.
    pub fn count<'a>(&self, traces: impl IntoIterator<Item = &'a String>) -> usize {
        traces.into_iter().map(|id| self.trace(id).len()).sum()
    }

    /// Waits until it has `spans` spans of the trace, while somebody else still sends them.
    pub fn await_trace(&self, id: &str, spans: usize) -> Vec<SeenSpan> {
        let begin = Instant::now();
        loop {
            let seen = self.trace(id);
            if seen.len() >= spans || begin.elapsed() > LIMIT {
                return seen;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ids of the traces with a span of this service and these tags.
    pub fn search(&self, service: &str, tags: &[(&str, &str)]) -> BTreeSet<String> {
        let tags: BTreeMap<&str, &str> = tags.iter().copied().collect();
        let tags = serde_json::to_string(&tags).unwrap();
        let tags: String = url::form_urlencoded::byte_serialize(tags.as_bytes()).collect();
        let found = self.ask(&format!("/api/traces?service={service}&tags={tags}&limit=1500&lookback=2d"));
        found["data"].as_array().unwrap().iter().map(|trace| word(&trace["traceID"])).collect()
    }

    /// Who called whom how often, over everything it knows.
    pub fn dependencies(&self) -> BTreeMap<(String, String), u64> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() + 60_000;
        let answer = self.ask(&format!("/api/dependencies?endTs={now}&lookback=86400000"));
        let edge = |edge: &Value| ((word(&edge["parent"]), word(&edge["child"])), edge["callCount"].as_u64().unwrap());
        answer["data"].as_array().unwrap().iter().map(edge).collect()
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn words(list: &Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(word).collect()
}

fn tags(list: &Value) -> Tags {
    let value = |tag: &Value| tag["value"].as_str().map_or_else(|| tag["value"].to_string(), str::to_owned);
    list.as_array().unwrap().iter().map(|tag| (word(&tag["key"]), value(tag))).collect()
}

fn spans(trace: &Value) -> Vec<SeenSpan> {
    let span = |span: &Value| {
        let process = &trace["processes"][span["processID"].as_str().unwrap()];
        let references: Vec<&Value> = span["references"].as_array().unwrap().iter().collect();
        let of = |kind: &str| {
            let these = references.iter().filter(|reference| reference["refType"] == kind);
            these.map(|reference| (word(&reference["traceID"]), word(&reference["spanID"]))).collect::<Vec<_>>()
        };
        let events = span["logs"].as_array().unwrap().iter().map(|log| {
            let mut tags = tags(&log["fields"]);
            (tags.remove("event").unwrap_or_default(), tags)
        });
        SeenSpan {
            trace: word(&span["traceID"]),
            id: word(&span["spanID"]),
            parent: of("CHILD_OF").pop().map(|(_, span)| span),
            links: of("FOLLOWS_FROM"),
            service: word(&process["serviceName"]),
            resource: tags(&process["tags"]),
            name: word(&span["operationName"]),
            tags: tags(&span["tags"]),
            events: events.collect(),
            warnings: span["warnings"].as_array().into_iter().flatten().map(word).collect(),
            microseconds: span["duration"].as_u64().unwrap(),
        }
    };
    trace["spans"].as_array().unwrap().iter().map(span).collect()
}
