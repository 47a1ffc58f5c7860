//! Attribute values, and the one guard that all of them pass: no absent value, no NaN, no infinity, no key twice.

use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, any_value::Value};

/// What can stand as the value of an attribute. `None` leaves the attribute out.
pub trait Attribute {
    /// The value on the wire, or nothing.
    fn value(self) -> Option<Value>;
}

impl Attribute for &str {
    fn value(self) -> Option<Value> {
        Some(Value::StringValue(self.to_owned()))
    }
}

impl Attribute for String {
    fn value(self) -> Option<Value> {
        Some(Value::StringValue(self))
    }
}

impl Attribute for bool {
    fn value(self) -> Option<Value> {
        Some(Value::BoolValue(self))
    }
}

impl Attribute for i64 {
    fn value(self) -> Option<Value> {
        Some(Value::IntValue(self))
    }
}

impl Attribute for u32 {
    fn value(self) -> Option<Value> {
        Some(Value::IntValue(i64::from(self)))
    }
}

impl Attribute for u64 {
    fn value(self) -> Option<Value> {
        Some(Value::IntValue(i64::try_from(self).unwrap_or(i64::MAX)))
    }
}

impl Attribute for usize {
    fn value(self) -> Option<Value> {
        Some(Value::IntValue(i64::try_from(self).unwrap_or(i64::MAX)))
    }
}

impl Attribute for f64 {
    /// One value that is not finite makes Jaeger answer 500 to every search that finds its trace, so it is left out.
    fn value(self) -> Option<Value> {
        self.is_finite().then_some(Value::DoubleValue(self))
    }
}

impl Attribute for Vec<String> {
    fn value(self) -> Option<Value> {
        let values = self.into_iter().map(|text| AnyValue { value: Some(Value::StringValue(text)) }).collect();
        Some(Value::ArrayValue(ArrayValue { values }))
    }
}

impl<T: Attribute> Attribute for Option<T> {
    fn value(self) -> Option<Value> {
        self.and_then(Attribute::value)
    }
}

/// The attributes of one span, event or link. A key stands once: what is set first stays.
#[derive(Debug, Default)]
pub struct Attributes(Vec<KeyValue>);

impl Attributes {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `key`, unless it is set already or the value is absent or not finite.
    pub fn set(&mut self, key: &str, value: impl Attribute) -> &mut Self {
        if let Some(value) = value.value()
            && self.0.iter().all(|known| known.key != key)
        {
            self.0.push(KeyValue {
                key: key.to_owned(),
                value: Some(AnyValue { value: Some(value) }),
                key_strindex: 0,
            });
        }
        self
    }

    /// As [`Attributes::set`], for building in one expression.
    pub fn with(mut self, key: &str, value: impl Attribute) -> Self {
        self.set(key, value);
        self
    }

    /// As they go on the wire.
    pub fn into_inner(self) -> Vec<KeyValue> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Attributes;

    #[test]
    fn what_is_absent_or_not_finite_is_left_out_and_a_key_stands_once() {
        let attributes = Attributes::new()
            .with("a", f64::NAN)
            .with("b", f64::INFINITY)
            .with("c", None::<u32>)
            .with("d", 1u32)
            .with("d", 2u32)
            .with("e", Some(0.5));
        let keys: Vec<String> = attributes.into_inner().into_iter().map(|one| one.key).collect();
        assert_eq!(keys, ["d", "e"]);
    }
}
