//! What the environment says of resources, and what of it has no effect here.

use super::{attributes as name, endpoint::percent_decode};

const SERVICE: &str = "OTEL_SERVICE_NAME";
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// Variables of SDKs with queues, processors and limits, none of which there is here: what is sent comes from the files.
const WITHOUT_EFFECT: &[&str] = &[
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_BSP_MAX_CONCURRENT_EXPORTS",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_EVENT_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
];

/// What resources have from the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resource {
    /// The namespace of all services.
    pub(super) namespace: Option<String>,
    /// Further attributes.
    pub(super) attributes: Vec<(String, String)>,
    /// A list that cannot be read is passed over as a whole (Resource SDK specification).
    pub(super) warning: Option<String>,
}

impl Resource {
    /// The namespace is `OTEL_SERVICE_NAME`, else what `OTEL_RESOURCE_ATTRIBUTES` calls `service.name`, else `service.namespace`.
    pub(super) fn from_env(variable: &impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let named = read(SERVICE);
        let Some(list) = read(ATTRIBUTES) else { return Self { namespace: named, ..Self::default() } };
        let Some(pairs) = pairs(&list) else {
            let warning =
                format!("{ATTRIBUTES} is not a list of key=value pairs separated by commas: it is passed over");
            return Self { namespace: named, warning: Some(warning), ..Self::default() };
        };
        let of = |wanted: &str| pairs.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.clone());
        let namespace = named.or_else(|| of(name::SERVICE_NAME)).or_else(|| of(name::SERVICE_NAMESPACE));
        let attributes = pairs.iter().filter(|(key, _)| !name::OF_SERVICES.contains(&key.as_str())).cloned().collect();
        Self { namespace, attributes, warning: None }
    }
}

fn pairs(list: &str) -> Option<Vec<(String, String)>> {
    let pairs = list.split(',').filter(|pair| !pair.trim().is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let (key, value) = (percent_decode(key.trim()), percent_decode(value.trim()));
            (!key.is_empty()).then_some((key, value))
        })
        .collect()
}

/// One line that names the variables that are set and have no effect.
pub(super) fn without_effect(variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_set = |name: &&&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let set: Vec<&str> = WITHOUT_EFFECT.iter().filter(is_set).copied().collect();
    let has = if set.len() == 1 { "has" } else { "have" };
    (!set.is_empty()).then(|| format!("{} {has} no effect: spans are sent from the trace files", set.join(", ")))
}

/// Exporters that are asked for and not known here, with what is done in their place.
pub(super) fn unknown_exporters(variable: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let asked = |(name, instead): (&str, &str)| {
        let value = variable(name).map(|value| value.trim().to_owned())?;
        let is_known = ["", "otlp", "none"].contains(&value.as_str());
        (!is_known).then(|| format!("{name}=`{value}` is not known here (otlp, none): {instead}"))
    };
    let exporters = [
        ("OTEL_TRACES_EXPORTER", "spans go to the trace files and, where a collector is named, over OTLP"),
        ("OTEL_METRICS_EXPORTER", "no metrics are sent"),
    ];
    exporters.into_iter().filter_map(asked).collect()
}

#[cfg(test)]
mod tests {
    use super::{Resource, unknown_exporters};

    #[test]
    fn an_exporter_that_is_not_known_is_named() {
        let of = |value: &str| unknown_exporters(&|name| (name == "OTEL_METRICS_EXPORTER").then(|| value.to_owned()));
        for known in ["", " otlp ", "none"] {
            assert_eq!(of(known), Vec::<String>::new(), "{known}");
        }
        assert_eq!(
            of("prometheus"),
            ["OTEL_METRICS_EXPORTER=`prometheus` is not known here (otlp, none): no metrics are sent"]
        );
    }

    fn read(service: &str, attributes: &str) -> Resource {
        Resource::from_env(&|name| Some(if name == super::SERVICE { service } else { attributes }.to_owned()))
    }

    #[test]
    fn t34_the_name_in_the_environment_is_the_namespace_and_other_attributes_are_decoded() {
        let team = vec![("team".to_owned(), "a b".to_owned())];
        let of = |namespace: &str| Some(namespace.to_owned());
        let both = read("ci", "service.name=x,team=a%20b,ip=1.2.3.4");
        assert_eq!((both.namespace, both.attributes), (of("ci"), team.clone()));
        let one = read("", " team = a%20b , service.name=x, service.namespace=y,");
        assert_eq!((one.namespace, one.attributes), (of("x"), team));
        assert_eq!(read("", "service.namespace=y").namespace, of("y"));
        assert_eq!(read("", ""), Resource::default());
        let bad = read("ci", "team");
        assert_eq!((bad.namespace, bad.attributes), (of("ci"), vec![]));
        assert!(bad.warning.is_some_and(|warning| warning.contains("OTEL_RESOURCE_ATTRIBUTES")));
    }
}
