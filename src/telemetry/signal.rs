//! What is exported over OTLP: spans and metrics travel in the same way.

use futures_util::future::BoxFuture;
use opentelemetry_proto::tonic::collector::{
    metrics::v1::{
        ExportMetricsServiceRequest, ExportMetricsServiceResponse, metrics_service_client::MetricsServiceClient,
    },
    trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse, trace_service_client::TraceServiceClient},
};
use prost::Message;
use tonic::{Request, Response, Status, codec::CompressionEncoding, transport::Channel};

/// A request of the protocol.
pub trait Signal: Message + Clone + 'static {
    /// What a collector answers.
    type Answer: Message + Default;
    /// The key of what was refused, in JSON.
    const REJECTED: &'static str;

    /// How many items the collector refused, and why.
    fn rejected(answer: Self::Answer) -> (i64, String);

    /// Sends it over gRPC.
    fn export(channel: Channel, request: Request<Self>, gzip: bool) -> Exported<Self::Answer>;
}

/// What comes of a request over gRPC.
pub type Exported<T> = BoxFuture<'static, Result<Response<T>, Status>>;

impl Signal for ExportTraceServiceRequest {
    type Answer = ExportTraceServiceResponse;
    const REJECTED: &'static str = "rejectedSpans";

    fn rejected(answer: Self::Answer) -> (i64, String) {
        let partial = answer.partial_success.unwrap_or_default();
        (partial.rejected_spans, partial.error_message)
    }

    fn export(channel: Channel, request: Request<Self>, gzip: bool) -> Exported<Self::Answer> {
        let mut client = TraceServiceClient::new(channel);
        if gzip {
            // A server may answer in the same way.
            client = client.send_compressed(CompressionEncoding::Gzip).accept_compressed(CompressionEncoding::Gzip);
        }
        Box::pin(async move { client.export(request).await })
    }
}

impl Signal for ExportMetricsServiceRequest {
    type Answer = ExportMetricsServiceResponse;
    const REJECTED: &'static str = "rejectedDataPoints";

    fn rejected(answer: Self::Answer) -> (i64, String) {
        let partial = answer.partial_success.unwrap_or_default();
        (partial.rejected_data_points, partial.error_message)
    }

    fn export(channel: Channel, request: Request<Self>, gzip: bool) -> Exported<Self::Answer> {
        let mut client = MetricsServiceClient::new(channel);
        if gzip {
            client = client.send_compressed(CompressionEncoding::Gzip).accept_compressed(CompressionEncoding::Gzip);
        }
        Box::pin(async move { client.export(request).await })
    }
}
