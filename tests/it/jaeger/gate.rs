//! A gate before a collector: lets requests through, holds them up, or answers for itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

use super::server::Site;

/// What is done with a request.
#[derive(Clone)]
pub enum Manner {
    Pass,
    PassAfter(Duration),
    /// Passed on without its first spans, which are said to be refused.
    PassAllBut(usize),
    /// Answered with this status, content type and body; the collector never hears of it.
    Say(&'static str, &'static str, Vec<u8>),
    /// Never answered.
    Silence,
}

pub struct Gate {
    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to for it.
    pub url: String,
    manner: Arc<Mutex<Manner>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Gate {
    pub fn before(site: &Site, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let gate = Self { url, manner: Arc::new(Mutex::new(manner)), heads: Arc::default() };
        let (manner, heads, to) = (gate.manner.clone(), gate.heads.clone(), format!("{}/v1/traces", site.otlp_url()));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, manner, heads, to) = (stream.unwrap(), manner.clone(), heads.clone(), to.clone());
                thread::spawn(move || {
                    while let Some((head, body)) = read(&stream) {
                        heads.lock().unwrap().push(head);
                        let manner = manner.lock().unwrap().clone();
                        if answer(&stream, &to, manner, body).is_none() {
                            return;
                        }
                    }
                });
            }
        });
        gate
    }

    pub fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// Request lines and headers so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// The head and the body of one HTTP request.
pub fn read(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn answer(mut stream: &TcpStream, to: &str, manner: Manner, body: Vec<u8>) -> Option<()> {
    let (status, media_type, body) = match manner {
        Manner::Pass => pass(to, body),
        Manner::PassAfter(wait) => {
            thread::sleep(wait);
            pass(to, body)
        }
        Manner::PassAllBut(spans) => {
            let mut request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
            let mut left = spans;
            let scopes = request.resource_spans.iter_mut().flat_map(|resource| &mut resource.scope_spans);
            for scope in scopes {
                let taken = left.min(scope.spans.len());
                scope.spans.drain(..taken);
                left -= taken;
            }
            assert_eq!(left, 0, "the first request was to have {spans} spans");
            pass(to, request.encode_to_vec());
            let json = format!(r#"{{"partialSuccess":{{"rejectedSpans":"{spans}","errorMessage":"too old"}}}}"#);
            ("200 OK".to_owned(), "application/json".to_owned(), json.into_bytes())
        }
        Manner::Say(status, media_type, body) => (status.to_owned(), media_type.to_owned(), body),
        Manner::Silence => {
            stream.read_to_end(&mut Vec::new()).ok();
            return None;
        }
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

fn pass(to: &str, body: Vec<u8>) -> (String, String, Vec<u8>) {
    let request = reqwest::blocking::Client::new().post(to).header("content-type", "application/x-protobuf").body(body);
    match request.send() {
        Ok(response) => {
            let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
            (response.status().to_string(), media_type, response.bytes().unwrap().to_vec())
        }
        Err(error) => ("502 Bad Gateway".to_owned(), "text/plain".to_owned(), error.to_string().into_bytes()),
    }
}
