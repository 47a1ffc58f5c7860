use std::{
    fmt,
    ops::{Add, AddAssign},
};

use serde::{Deserialize, Serialize};

/// Billionths of a unit of some currency: sums of prices are exact, and equal in equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Money(pub u64);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// One unit.
    const UNIT: f64 = 1e9;

    /// An amount that was written as a number of units. `None` where it is negative, too large, or has more than 9 decimals.
    pub fn from_units(units: f64) -> Option<Self> {
        let nanos = (units * Self::UNIT).round();
        // Up to 2^53 every whole number is its own float.
        let fits = (0.0..=9e15).contains(&nanos);
        let nanos = fits.then(|| format!("{nanos:.0}").parse().ok()).flatten().map(Self)?;
        (nanos.units() == units).then_some(nanos)
    }

    /// The nearest amount to a number of units that somebody else worked out.
    pub fn nearest(units: f64) -> Option<Self> {
        Self::from_units((units * Self::UNIT).round() / Self::UNIT)
    }

    /// As a number of units, for people and JSON.
    pub fn units(self) -> f64 {
        self.0 as f64 / Self::UNIT
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Display for Money {
    /// A decimal number of units with all its digits, at least two behind the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let least = text.len() - 7;
        f.write_str(&text[..text.trim_end_matches('0').len().max(least)])
    }
}

/// A currency, as the three capital letters of ISO 4217.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Where nothing else is said.
    pub const USD: Self = Self(*b"USD");

    /// The currency of this code.
    pub fn from_code(code: &str) -> Option<Self> {
        let letters: [u8; 3] = code.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::from_code(&code).ok_or_else(|| format!("`{code}` is no code of a currency"))
    }
}

/// What a million tokens cost, each in billionths of a unit, so that a price of 9 decimals is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Of prompts.
    pub input: Money,
    /// Of the part of prompts that the server had kept; the same as `input` where nothing else is said.
    pub cached_input: Money,
    /// Of replies, reasoning included.
    pub output: Money,
    /// In which currency.
    pub currency: Currency,
}

impl Price {
    /// Of a model that costs nothing.
    pub const FREE: Self =
        Self { input: Money::ZERO, cached_input: Money::ZERO, output: Money::ZERO, currency: Currency::USD };

    /// Whether it costs nothing whatever it is asked.
    pub fn is_free(self) -> bool {
        [self.input, self.cached_input, self.output] == [Money::ZERO; 3]
    }

    /// What these tokens cost, of which `cached` are part of `input`. Rounded up to a billionth of a unit, once.
    pub fn of(self, input: u64, cached: u64, output: u64) -> Money {
        let cached = cached.min(input);
        let parts = [(input - cached, self.input), (cached, self.cached_input), (output, self.output)];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(price.0)).sum();
        Money(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// The most that these tokens can cost, however much of the prompt was kept.
    pub fn most(self, input: u64, output: u64) -> Money {
        self.of(input, 0, output).max(self.of(input, input, output))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Currency, Money, Price};

    #[test]
    fn amounts_are_exact_and_read_well() {
        for (units, nanos, text) in [
            (0.15, 150_000_000, "0.15"),
            (0.0375, 37_500_000, "0.0375"),
            (12.0, 12_000_000_000, "12.00"),
            (1e-9, 1, "0.000000001"),
        ] {
            let money = Money::from_units(units).unwrap();
            assert_eq!((money.0, money.to_string().as_str(), money.units()), (nanos, text, units));
        }
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 1e-10, 0.1234567891, 1e10] {
            assert_eq!(Money::from_units(wrong), None, "{wrong}");
        }
        assert_eq!(Money::nearest(0.123_456_789_12), Some(Money(123_456_789)));
        assert_eq!(Currency::from_code("EUR").map(|it| it.to_string()).as_deref(), Some("EUR"));
        assert_eq!((Currency::from_code("eur"), Currency::from_code("EURO")), (None, None));
    }

    #[test]
    fn a_call_is_priced_in_whole_billionths() {
        let price = |input, cached, output| Price {
            input: Money::from_units(input).unwrap(),
            cached_input: Money::from_units(cached).unwrap(),
            output: Money::from_units(output).unwrap(),
            currency: Currency::USD,
        };
        let mini = price(0.15, 0.075, 0.60);
        assert_eq!(mini.of(1_000, 0, 500), Money::from_units(0.00045).unwrap());
        assert_eq!(mini.of(1_000, 400, 500), Money::from_units(0.00042).unwrap());
        assert_eq!(price(0.0375, 0.0, 0.0).of(1, 0, 0), Money(38), "37.5 billionths are 38");
        assert!(Price::FREE.is_free() && !mini.is_free());
    }

    proptest! {
        #[test]
        fn the_most_is_never_less(input in 0u64..1 << 40, cached in 0u64..1 << 40, output in 0u64..1 << 40, prices in any::<[u32; 3]>()) {
            let [a, b, c] = prices.map(|price| Money(u64::from(price)));
            let price = Price { input: a, cached_input: b, output: c, currency: Currency::USD };
            prop_assert!(price.of(input, cached, output) <= price.most(input, output));
        }
    }
}
