//! A chat server that answers the same question the same way, whenever it is asked, and keeps count of what it answered.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

type Reply = dyn Fn(&Value) -> Value + Send + Sync;

pub struct ModelServer {
    pub base_url: String,
    answered: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl ModelServer {
    /// Answers after `delay` with a program made up from the request's seed.
    pub fn start(delay: Duration) -> Self {
        Self::saying(delay, |body| {
            let seed = body["seed"].as_u64().unwrap_or(0);
            let choices: Vec<Value> = (0..body["n"].as_u64().unwrap_or(1))
                .map(|index| choice(index, &format!("```python\nprint({})\n```\n", seed % 9973 + index), "stop"))
                .collect();
            reply(choices)
        })
    }

    /// Answers with what `say` makes of the body.
    pub fn saying(delay: Duration, say: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answered: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let (counted, say): (_, Arc<Reply>) = (answered.clone(), Arc::new(say));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (counted, say) = (counted.clone(), say.clone());
                thread::spawn(move || serve(stream, delay, &counted, &*say));
            }
        });
        Self { base_url, answered }
    }

    /// How often each call (by its trace context) was answered to somebody who listened.
    pub fn answered(&self) -> BTreeMap<String, usize> {
        self.answered.lock().unwrap().clone()
    }
}

pub fn choice(index: u64, text: &str, finish: &str) -> Value {
    json!({ "index": index, "message": { "role": "assistant", "content": text }, "finish_reason": finish })
}

pub fn reply(choices: Vec<Value>) -> Value {
    let usage = json!({ "prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100 });
    json!({ "id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage })
}

fn serve(stream: TcpStream, delay: Duration, answered: &Mutex<BTreeMap<String, usize>>, say: &Reply) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some((line, parent, body)) = read(&mut reader) {
        // What it says of itself comes at once and is not counted.
        let is_call = line.starts_with("POST");
        let body = match line.split(' ').nth(1) {
            Some("/version") => MODELS_AND_VERSION.1.to_owned(),
            Some("/v1/models") => MODELS_AND_VERSION.0.to_owned(),
            _ => {
                thread::sleep(delay);
                say(&body).to_string()
            }
        };
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
        if !is_call {
            continue;
        }
        *answered.lock().unwrap().entry(parent).or_default() += 1;
    }
}

/// What it says of itself.
pub const MODELS_AND_VERSION: (&str, &str) =
    (r#"{ "object":"list", "data":[{"id":"m","max_model_len":4096}] }"#, r#"{"version": "1.2.3"}"#);

/// Request line, trace context and body.
fn read(reader: &mut impl BufRead) -> Option<(String, String, Value)> {
    let (mut parent, mut length, mut request) = (String::new(), 0, String::new());
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim().is_empty() {
                break;
            }
            request = line.trim_end().to_owned();
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "traceparent" => parent = value.to_owned(),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((request, parent, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}
