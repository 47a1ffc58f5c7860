//! Which conversations are sent to a collector: the standard variables of samplers. Trace files are whole in every case.

use opentelemetry::trace::TraceId;

use super::EndpointError;

const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const RATIO: &str = "OTEL_TRACES_SAMPLER_ARG";

/// Decides for each conversation as a whole, by its trace id: all its spans are sent, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampler {
    /// All are sent.
    #[default]
    All,
    /// None is.
    None,
    /// This share of them.
    Share(f64),
}

impl Sampler {
    /// What `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say. A conversation is a root, whatever it is linked to, so that
    /// `parentbased_X` is `X`.
    ///
    /// # Errors
    /// A sampler that is not known, and a share that is no number from 0 to 1.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, EndpointError> {
        let read = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let Some(name) = read(SAMPLER) else { return Ok(Self::All) };
        match name.trim().trim_start_matches("parentbased_") {
            "always_on" => Ok(Self::All),
            "always_off" => Ok(Self::None),
            "traceidratio" => {
                let Some(value) = read(RATIO) else { return Ok(Self::All) };
                let share = value.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
                share.map(Self::Share).ok_or(EndpointError::Share { variable: RATIO, value })
            }
            _ => Err(EndpointError::Sampler { variable: SAMPLER, value: name }),
        }
    }

    /// Whether the conversation of this trace is sent: by a hash of its id. The id's own lower bits, by which the SDKs decide, are
    /// not all by chance in a UUID.
    pub fn takes(self, trace: TraceId) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Share(share) => {
                let hash = blake3::hash(&trace.to_bytes());
                let mut first = [0; 8];
                first.copy_from_slice(&hash.as_bytes()[..8]);
                ((u64::from_be_bytes(first) >> 11) as f64) < share * (1u64 << 53) as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::Sampler;
    use crate::{
        ids::{ConversationId, RunId, TaskId, trace_id},
        telemetry::EndpointError,
    };

    fn read(sampler: &str, share: &str) -> Result<Sampler, EndpointError> {
        Sampler::from_env(|name| Some(if name.ends_with("ARG") { share } else { sampler }.to_owned()))
    }

    #[test]
    fn t35_the_standard_names_are_understood_and_no_other() {
        for (sampler, share, expected) in [
            ("", "", Sampler::All),
            ("always_on", "0.1", Sampler::All),
            ("parentbased_always_off", "", Sampler::None),
            ("traceidratio", "0.25", Sampler::Share(0.25)),
            ("parentbased_traceidratio", "1", Sampler::Share(1.0)),
            ("traceidratio", "", Sampler::All),
        ] {
            assert_eq!(read(sampler, share).unwrap(), expected, "{sampler} {share}");
        }
        assert!(read("jaeger_remote", "").unwrap_err().to_string().contains("`jaeger_remote`"));
        for share in ["2", "-0.1", "NaN", "half"] {
            assert!(read("traceidratio", share).unwrap_err().to_string().contains(share), "{share}");
        }
    }

    #[test]
    fn a_share_is_one_of_trace_ids() {
        let taken = |share| {
            let ids = (0..10_000u32).map(|number| {
                let task = TaskId(number.to_string());
                trace_id(ConversationId::derive(RunId(uuid::Uuid::nil()), "arm", &task, 0))
            });
            ids.filter(|id| Sampler::Share(share).takes(*id)).count()
        };
        assert_eq!((taken(0.0), taken(1.0)), (0, 10_000));
        assert!((2_300..2_700).contains(&taken(0.25)), "{}", taken(0.25));
    }
}
