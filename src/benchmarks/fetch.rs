//! Downloads one file whose checksum is known.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::{
    Client, Response,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING},
    redirect::{Attempt, Policy},
};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Sha256, sha256::Sum};
use crate::llm::http::is_loopback;

/// How often an answer may send us elsewhere.
const MOST_REDIRECTS: usize = 5;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(30);

/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// What is to be downloaded.
#[derive(Clone, Debug)]
pub struct Download {
    /// From where: `http` or `https`.
    pub url: Url,
    /// Of the bytes as they are sent.
    pub sha256: Sha256,
    /// Longest file that is taken.
    pub most_bytes: u64,
    /// The file to be. Its folder is made.
    pub file: PathBuf,
}

/// What came of a download that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The file is here now.
    New {
        /// Its length.
        bytes: u64,
    },
    /// It was here already, with the right checksum: nobody was asked.
    Already,
}

/// Why there is no file. Nothing is left behind then, and a file that was there is as it was.
#[derive(Debug, Error)]
pub enum FetchError {
    /// Another scheme than HTTP, or a name and password in the URL.
    #[error("{url}: only plain http and https URLs are taken, without a name or password in them")]
    Url {
        /// Without what may be secret.
        url: String,
    },
    /// There is a file of this name with another content.
    #[error("{}: there is another file of this name, with SHA-256 {found} in place of {expected}\n  hint: move it away, or name another folder", file.display())]
    Other {
        /// The file.
        file: PathBuf,
        /// What it should be.
        expected: Sha256,
        /// What it is.
        found: Sha256,
    },
    /// The file or its folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No answer, or it broke off.
    #[error("{url}: {reason}")]
    Connection {
        /// Without what may be secret.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The server does not give it.
    #[error("{url}: the server answers {status}")]
    Status {
        /// Without what may be secret.
        url: String,
        /// The code.
        status: u16,
    },
    /// It is packed on its way, so that its checksum cannot be compared.
    #[error("{url}: the server packs the file with `{encoding}`, unasked")]
    Packed {
        /// Without what may be secret.
        url: String,
        /// How.
        encoding: String,
    },
    /// It is longer than allowed.
    #[error("{url}: the file is longer than {most_bytes} bytes")]
    TooLarge {
        /// Without what may be secret.
        url: String,
        /// The limit.
        most_bytes: u64,
    },
    /// It is another file.
    #[error("{url}: the file has SHA-256 {found} in place of {expected}: it is not kept")]
    Checksum {
        /// Without what may be secret.
        url: String,
        /// What it should be.
        expected: Sha256,
        /// What it is.
        found: Sha256,
    },
    /// The caller no longer wants it.
    #[error("given up")]
    Cancelled,
}

/// Downloads a file, which appears under its name whole and right, or not at all. Up to 5 redirects are followed, none of
/// them from https to http.
///
/// # Errors
/// See [`FetchError`].
pub async fn fetch(download: &Download, stop: &CancellationToken) -> Result<Fetched, FetchError> {
    let Download { url, file, .. } = download;
    if !is_plain(url) {
        return Err(FetchError::Url { url: shown(url) });
    }
    match File::open(file) {
        Ok(there) => return already(download, there),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(FetchError::File { path: file.clone(), source }),
    }
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(FetchError::Cancelled),
        fetched = transfer(download) => fetched,
    }
}

fn already(download: &Download, there: File) -> Result<Fetched, FetchError> {
    let (file, expected) = (download.file.clone(), download.sha256);
    match Sha256::of(there) {
        Ok(found) if found == expected => Ok(Fetched::Already),
        Ok(found) => Err(FetchError::Other { file, expected, found }),
        Err(source) => Err(FetchError::File { path: file, source }),
    }
}

async fn transfer(download: &Download) -> Result<Fetched, FetchError> {
    let Download { url, file, most_bytes, sha256 } = download;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let of_folder = |source| FetchError::File { path: folder.to_owned(), source };
    let broken = |error: reqwest::Error| FetchError::Connection { url: shown(url), reason: reason(&error) };
    let mut response = ask(url).await?;
    fs::create_dir_all(folder).map_err(of_folder)?;
    // Beside the file to be, so that it can take its name in one step; removed when dropped.
    let mut part = tempfile::Builder::new()
        .prefix(".fetch-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(of_folder)?;
    let (mut sum, mut bytes) = (Sum::default(), 0);
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        bytes += piece.len() as u64;
        if bytes > *most_bytes {
            return Err(FetchError::TooLarge { url: shown(url), most_bytes: *most_bytes });
        }
        sum.add(&piece);
        part.write_all(&piece).map_err(of_folder)?;
    }
    let found = sum.finish();
    if found != *sha256 {
        return Err(FetchError::Checksum { url: shown(url), expected: *sha256, found });
    }
    let of_file = |source| FetchError::File { path: file.clone(), source };
    part.as_file().sync_all().map_err(of_file)?;
    part.persist_noclobber(file).map_err(|error| of_file(error.error))?;
    Ok(Fetched::New { bytes })
}

async fn ask(url: &Url) -> Result<Response, FetchError> {
    let broken = |error: reqwest::Error| FetchError::Connection { url: shown(url), reason: reason(&error) };
    let client = Client::builder()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .redirect(Policy::custom(follow))
        .user_agent(concat!("rolecall/", env!("CARGO_PKG_VERSION")));
    let client = if is_loopback(url) { client.no_proxy() } else { client };
    let client = client.build().map_err(broken)?;
    let response = client.get(url.clone()).header(ACCEPT_ENCODING, "identity").send().await.map_err(broken)?;
    if response.status() != reqwest::StatusCode::OK {
        return Err(FetchError::Status { url: shown(url), status: response.status().as_u16() });
    }
    let encoding = response.headers().get(CONTENT_ENCODING).map(|name| String::from_utf8_lossy(name.as_bytes()));
    match encoding.filter(|name| !name.eq_ignore_ascii_case("identity")) {
        Some(encoding) => Err(FetchError::Packed { url: shown(url), encoding: encoding.into_owned() }),
        None => Ok(response),
    }
}

fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error(format!("more than {MOST_REDIRECTS} redirects"));
    }
    let was_secret = attempt.previous().iter().any(|url| url.scheme() == "https");
    if !is_plain(attempt.url()) || (was_secret && attempt.url().scheme() != "https") {
        return attempt.error("it redirects to a place that is not followed");
    }
    attempt.follow()
}

fn is_plain(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
}

/// Without a name, a password and a query, which may be secret.
fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// The innermost cause: the message of reqwest itself only says where.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::{is_plain, shown};

    #[test]
    fn what_may_be_secret_is_not_shown() {
        let url = "https://me:word@host:8/a/b.gz?key=1#x".parse().unwrap();
        assert_eq!(shown(&url), "https://host:8/a/b.gz");
        assert!(!is_plain(&url) && !is_plain(&"file:///etc/passwd".parse().unwrap()));
        assert!(is_plain(&"http://host/a".parse().unwrap()));
    }
}
