//! One OTLP/gRPC request, and what its status means.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tonic::{
    Code, Request, Status,
    metadata::{AsciiMetadataKey, MetadataMap},
    transport::{Channel, ClientTlsConfig, Endpoint as Server},
};

use super::{Endpoint, poster::Answer, signal::Signal};

/// Sends requests to one collector over gRPC.
pub struct GrpcPoster {
    runtime: Runtime,
    channel: Channel,
    metadata: MetadataMap,
    timeout: Duration,
    gzip: bool,
}

impl GrpcPoster {
    /// A client for `endpoint`. It has a runtime of its own, so it is made and used outside of asynchronous code only.
    ///
    /// # Errors
    /// In words, where a header cannot be sent or the client cannot be made.
    pub fn new(endpoint: &Endpoint) -> Result<Self, String> {
        let mut metadata = MetadataMap::new();
        for (key, value) in &endpoint.headers {
            // The value may be a secret: only the name is said.
            let fault = || format!("header `{key}` cannot be sent");
            let name = AsciiMetadataKey::from_bytes(key.to_ascii_lowercase().as_bytes()).map_err(|_| fault())?;
            metadata.insert(name, value.parse().map_err(|_| fault())?);
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let mut server = Server::from_shared(endpoint.url.to_string()).map_err(|error| error.to_string())?;
        if endpoint.url.scheme() == "https" {
            let tls = ClientTlsConfig::new().with_native_roots();
            server = server.tls_config(tls).map_err(|error| error.to_string())?;
        }
        let channel = {
            let _inside = runtime.enter();
            server.connect_timeout(endpoint.timeout).connect_lazy()
        };
        Ok(Self { runtime, channel, metadata, timeout: endpoint.timeout, gzip: endpoint.gzip })
    }

    /// Sends one request and waits for the answer.
    pub fn post<S: Signal>(&self, message: &S) -> Answer {
        let mut request = Request::new(message.clone());
        *request.metadata_mut() = self.metadata.clone();
        let sent = self.runtime.block_on(async {
            tokio::time::timeout(self.timeout, S::export(self.channel.clone(), request, self.gzip)).await
        });
        match sent {
            Ok(Ok(response)) => {
                let (rejected, message) = S::rejected(response.into_inner());
                Answer::Taken { rejected: u64::try_from(rejected).unwrap_or(0), message }
            }
            Ok(Err(status)) => understand(&status),
            Err(_) => Answer::Later { reason: "no answer in time".to_owned(), wait: None },
        }
    }
}

/// Which statuses may be tried again is the protocol's own list (OTLP specification, "OTLP/gRPC Response").
fn understand(status: &Status) -> Answer {
    let reason = format!("gRPC {:?}: {}", status.code(), status.message());
    match status.code() {
        Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unavailable
        | Code::DataLoss
        | Code::ResourceExhausted => Answer::Later { reason, wait: None },
        _ => Answer::Refused(reason),
    }
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use super::{Answer, understand};

    #[test]
    fn only_the_statuses_of_the_protocol_are_tried_again() {
        let again = |code| matches!(understand(&Status::new(code, "x")), Answer::Later { .. });
        let later = [Code::Cancelled, Code::DeadlineExceeded, Code::Aborted, Code::OutOfRange, Code::Unavailable];
        assert!(later.into_iter().chain([Code::DataLoss, Code::ResourceExhausted]).all(again));
        let never = [Code::InvalidArgument, Code::Unauthenticated, Code::PermissionDenied, Code::Unimplemented];
        assert!(!never.into_iter().chain([Code::Internal, Code::Unknown, Code::NotFound]).any(again));
    }
}
