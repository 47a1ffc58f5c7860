use std::collections::BTreeMap;

use opentelemetry_proto::tonic::{
    common::v1::KeyValue,
    metrics::v1::{
        AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum, metric::Data,
        number_data_point,
    },
};

use super::instruments::{ALL, Instrument, Kind};
use crate::telemetry::values::Attributes;

/// Attributes of a point, in the order of their keys.
pub type Labels = Vec<(&'static str, String)>;

/// Sums and distributions by instrument and attributes, from the beginning of the run on (cumulative).
#[derive(Default)]
pub struct Registry {
    sums: BTreeMap<(&'static str, Labels), u64>,
    histograms: BTreeMap<(&'static str, Labels), Distribution>,
}

#[derive(Clone, Debug, Default)]
struct Distribution {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
    buckets: Vec<u64>,
}

impl Registry {
    /// Adds to a counter.
    pub fn add(&mut self, instrument: &Instrument, mut labels: Labels, amount: u64) {
        labels.sort();
        *self.sums.entry((instrument.name, labels)).or_default() += amount;
    }

    /// Sets a level.
    pub fn set(&mut self, instrument: &Instrument, mut labels: Labels, amount: u64) {
        labels.sort();
        self.sums.insert((instrument.name, labels), amount);
    }

    /// Adds a value to a distribution. One that is not finite is none.
    pub fn record(&mut self, instrument: &Instrument, mut labels: Labels, value: f64) {
        let Kind::Histogram(bounds) = instrument.kind else { return };
        if !value.is_finite() {
            return;
        }
        labels.sort();
        let all = self.histograms.entry((instrument.name, labels)).or_default();
        if all.count == 0 {
            (all.least, all.most, all.buckets) = (value, value, vec![0; bounds.len() + 1]);
        }
        // A bucket holds what is at most its bound.
        let bucket = bounds.partition_point(|bound| *bound < value);
        all.buckets[bucket] += 1;
        all.count += 1;
        all.sum += value;
        (all.least, all.most) = (all.least.min(value), all.most.max(value));
    }

    /// Every metric that has a point, as it stands at `now_ns`.
    pub fn metrics(&self, started_ns: u64, now_ns: u64) -> Vec<Metric> {
        let times = (started_ns, now_ns);
        let metrics = ALL.iter().filter_map(|instrument| {
            Some(Metric {
                name: instrument.name.to_owned(),
                description: instrument.description.to_owned(),
                unit: instrument.unit.to_owned(),
                data: Some(self.data(instrument, times)?),
                ..Metric::default()
            })
        });
        metrics.collect()
    }

    fn data(&self, instrument: &Instrument, times: (u64, u64)) -> Option<Data> {
        let temporality = AggregationTemporality::Cumulative.into();
        Some(match instrument.kind {
            Kind::Counter => Data::Sum(Sum {
                data_points: self.numbers(instrument.name, times)?,
                aggregation_temporality: temporality,
                is_monotonic: true,
            }),
            Kind::Level => Data::Gauge(Gauge { data_points: self.numbers(instrument.name, times)? }),
            Kind::Histogram(bounds) => {
                let own = self.histograms.iter().filter(|((name, _), _)| *name == instrument.name);
                let points: Vec<_> = own.map(|((_, labels), all)| distribution(labels, all, bounds, times)).collect();
                (!points.is_empty()).then_some(Data::Histogram(Histogram {
                    data_points: points,
                    aggregation_temporality: temporality,
                }))?
            }
        })
    }

    fn numbers(&self, name: &str, (started_ns, now_ns): (u64, u64)) -> Option<Vec<NumberDataPoint>> {
        let own = self.sums.iter().filter(|((one, _), _)| *one == name);
        let points: Vec<_> = own
            .map(|((_, labels), amount)| NumberDataPoint {
                attributes: attributes(labels),
                start_time_unix_nano: started_ns,
                time_unix_nano: now_ns,
                value: Some(number_data_point::Value::AsInt(i64::try_from(*amount).unwrap_or(i64::MAX))),
                ..NumberDataPoint::default()
            })
            .collect();
        (!points.is_empty()).then_some(points)
    }
}

fn distribution(
    labels: &Labels,
    all: &Distribution,
    bounds: &[f64],
    (started_ns, now_ns): (u64, u64),
) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: started_ns,
        time_unix_nano: now_ns,
        count: all.count,
        sum: Some(all.sum),
        bucket_counts: all.buckets.clone(),
        explicit_bounds: bounds.to_vec(),
        min: Some(all.least),
        max: Some(all.most),
        ..HistogramDataPoint::default()
    }
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    labels.iter().fold(Attributes::new(), |all, (key, value)| all.with(key, value.as_str())).into_inner()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

    use opentelemetry_proto::tonic::metrics::v1::metric::Data;

    use super::Registry;
    use crate::telemetry::metrics::instruments::{CALL_DURATION, RESTARTS};

    #[test]
    fn values_are_where_their_bucket_is_and_none_is_not_finite() {
        let mut registry = Registry::default();
        for value in [0.0, 0.01, 0.011, 81.92, 82.0, f64::NAN, f64::INFINITY] {
            registry.record(&CALL_DURATION, vec![("b", "2".to_owned()), ("a", "1".to_owned())], value);
        }
        registry.add(&RESTARTS, vec![("a", "1".to_owned())], 2);
        let metrics = registry.metrics(1, 9);
        assert_eq!(
            metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>(),
            [CALL_DURATION.name, RESTARTS.name]
        );
        let Some(Data::Histogram(histogram)) = &metrics[0].data else { panic!("{metrics:?}") };
        let [point] = histogram.data_points.as_slice() else { panic!("{histogram:?}") };
        assert_eq!((point.count, point.min, point.max), (5, Some(0.0), Some(82.0)));
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!((point.bucket_counts[0], point.bucket_counts[1]), (2, 1));
        assert_eq!((point.bucket_counts[13], point.bucket_counts[14]), (1, 1));
        assert_eq!(point.attributes.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
