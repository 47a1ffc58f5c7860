//! A server on this machine that answers each request with the bytes that the test wrote down, breaking HTTP at will.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// These pieces with a wait (by tokio's clock, before each but the first), then the connection stays open where `hold`
    /// says so.
    Pieces {
        /// In order.
        pieces: Vec<Vec<u8>>,
        /// Before each but the first.
        wait: Duration,
        /// Whether nothing follows for ever.
        hold: bool,
    },
    /// These bytes, then the connection is reset.
    Reset(Vec<u8>),
    /// Closes the connection without a word.
    Close,
    /// Says nothing, for ever.
    Silence,
}

/// A whole answer with this status, these header lines (each with its line end) and this body.
pub fn answer(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    Answer::Raw(bytes)
}

/// The head of an answer that comes in events until the connection ends.
pub const STREAM_HEAD: &str = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// An answer in these events, whole at once; each is the text of its lines without the blank one.
pub fn events(events: &[&str]) -> Answer {
    let events: String = events.iter().map(|event| format!("{event}\n\n")).collect();
    Answer::Raw(format!("{STREAM_HEAD}{events}").into_bytes())
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Request line and headers.
    pub head: String,
    /// The body as JSON; `null` where there is none.
    pub body: serde_json::Value,
}

/// Request `n` gets answer `n`; the last answer stands for all that follow.
pub struct Server {
    /// For the settings of the client.
    pub base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(answers: Vec<Answer>) -> Self {
        Self::answering(move |number| answers.get(number).or(answers.last()).unwrap().clone()).await
    }

    /// Request `n` gets what `answer` says for it.
    pub async fn answering(answer: impl Fn(usize) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = seen.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Some(request) = read(stream).await else { continue };
                let (mut stream, seen) = request;
                let number = {
                    let mut requests = requests.lock().unwrap();
                    requests.push(seen);
                    requests.len() - 1
                };
                match answer(number) {
                    Answer::Raw(bytes) => {
                        stream.write_all(&bytes).await.ok();
                        stream.shutdown().await.ok();
                    }
                    Answer::Pieces { pieces, wait, hold } => {
                        tokio::spawn(async move {
                            for (number, piece) in pieces.iter().enumerate() {
                                if number > 0 {
                                    tokio::time::sleep(wait).await;
                                }
                                stream.write_all(piece).await.ok();
                            }
                            if hold {
                                stream.read_to_end(&mut Vec::new()).await.ok();
                            }
                            stream.shutdown().await.ok();
                        });
                    }
                    Answer::Reset(bytes) => {
                        stream.write_all(&bytes).await.ok();
                        stream.set_zero_linger().ok();
                    }
                    Answer::Close => {
                        // Closing with a reset rather than an end of stream.
                        stream.set_zero_linger().ok();
                    }
                    Answer::Silence => {
                        tokio::spawn(async move {
                            let mut stream = stream;
                            stream.read_to_end(&mut Vec::new()).await.ok();
                        });
                    }
                }
            }
        });
        Self { base_url, seen, task }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(mut stream: TcpStream) -> Option<(TcpStream, Seen)> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            let body = serde_json::from_str(body).unwrap_or_default();
            let head = head.to_owned();
            return Some((stream, Seen { head, body }));
        }
    }
}
