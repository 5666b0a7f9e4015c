//! What a run over schemas comes to.

use serde::{Deserialize, Serialize};

use super::measure::SchemaMeasurement;
use crate::results::{About, medians};
use crate::stats::{Distribution, median};

/// A run over schemas.
#[derive(Debug, Serialize, Deserialize)]
pub struct SchemaResults {
    /// Where and when.
    pub about: About,
    /// The vocabulary's name.
    pub vocabulary: String,
    /// How many schemas there are.
    pub schemas: usize,
    /// How many valid and invalid instances they have.
    pub instances: [usize; 2],
    /// Whether schemas and instances are the project's own.
    pub own: bool,
    /// Each engine's figures.
    pub engines: Vec<EngineFigures>,
}

/// An engine's figures.
#[derive(Debug, Serialize, Deserialize)]
pub struct EngineFigures {
    /// The engine.
    pub engine: String,
    /// Why there are none.
    pub fault: Option<String>,
    /// Over all schemas that it takes.
    pub verdicts: Verdicts,
    /// Over all schemas that it takes.
    pub all: Times,
    /// Over the schemas that both it and lrmask judge right: its times.
    pub shared: Times,
    /// Over the same schemas, lrmask's times.
    pub shared_ours: Times,
}

/// Verdicts of schemas and instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Schemas that are taken and whose instances are all judged right.
    pub passed: usize,
    /// Schemas that are not taken.
    pub refused: usize,
    /// Valid instances that are refused, of schemas that are taken.
    pub valid_refused: u32,
    /// Invalid instances that are accepted.
    pub invalid_accepted: u32,
}

/// Times over some schemas, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many schemas.
    pub schemas: usize,
    /// From a schema's text to its first mask, a sample each schema.
    pub first_mask: Distribution,
    /// Masks along valid instances, the first time.
    pub cold: Distribution,
    /// The second time.
    pub warm: Distribution,
}

/// One schema under one engine: medians over the processes.
#[derive(Clone, Debug)]
pub struct SchemaFigures {
    first: SchemaMeasurement,
    /// From its text to its first mask.
    pub first_mask: u64,
    cold: Vec<u64>,
    warm: Vec<u64>,
}

impl SchemaFigures {
    /// Of one schema's measurements in all processes; `None` of none.
    pub fn of(several: &[&SchemaMeasurement]) -> Option<Self> {
        Some(Self {
            first: (*several.first()?).clone(),
            first_mask: median(several.iter().map(|one| one.first_mask as f64)) as u64,
            cold: medians(several, |one| &one.cold),
            warm: medians(several, |one| &one.warm),
        })
    }

    /// Whether the schema is taken.
    pub fn is_taken(&self) -> bool {
        self.first.refusal.is_none()
    }

    /// Whether the schema is taken and its instances are judged right.
    pub fn passes(&self) -> bool {
        self.is_taken() && self.first.valid_refused == 0 && self.first.invalid_accepted == 0
    }
}

impl Verdicts {
    /// Of an engine's schemas.
    pub fn of(schemas: &[SchemaFigures]) -> Self {
        let sum = |get: fn(&SchemaMeasurement) -> u32| {
            schemas.iter().map(|schema| get(&schema.first)).sum()
        };
        Self {
            passed: schemas.iter().filter(|schema| schema.passes()).count(),
            refused: schemas.iter().filter(|schema| !schema.is_taken()).count(),
            valid_refused: sum(|schema| schema.valid_refused),
            invalid_accepted: sum(|schema| schema.invalid_accepted),
        }
    }
}

impl Times {
    /// Over these schemas.
    pub fn over<'s>(schemas: impl Iterator<Item = &'s SchemaFigures> + Clone) -> Self {
        let all = |get: fn(&SchemaFigures) -> &Vec<u64>| {
            Distribution::of(schemas.clone().flat_map(get).copied().collect())
        };
        Self {
            schemas: schemas.clone().count(),
            first_mask: Distribution::of(schemas.clone().map(|schema| schema.first_mask).collect()),
            cold: all(|schema| &schema.cold),
            warm: all(|schema| &schema.warm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_judged_and_times_are_medians() {
        let taken = |first_mask: u64, valid_refused: u32| SchemaMeasurement {
            first_mask,
            cold: vec![first_mask, 2],
            warm: vec![1, 1],
            valid_refused,
            ..SchemaMeasurement::default()
        };
        let refused =
            SchemaMeasurement { refusal: Some("no".to_owned()), ..SchemaMeasurement::default() };
        let (right, wrong) = ([taken(9, 0), taken(90, 0), taken(10, 0)], taken(1, 2));
        let schemas = [
            SchemaFigures::of(&right.each_ref()).expect("figures"),
            SchemaFigures::of(&[&wrong]).expect("figures"),
            SchemaFigures::of(&[&refused]).expect("figures"),
        ];
        let expected = Verdicts { passed: 1, refused: 1, valid_refused: 2, invalid_accepted: 0 };
        assert_eq!(Verdicts::of(&schemas), expected);
        let times = Times::over(schemas.iter().filter(|schema| schema.passes()));
        assert_eq!((times.schemas, times.first_mask.max, times.cold.mean), (1, 10.0, 6.0));
    }
}
