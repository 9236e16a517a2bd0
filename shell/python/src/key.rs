//! Selects series of a run by parts of their key.
use crate::error::{of_use_case, wrong};
use fathom_app::AppError;
use fathom_run::{Metric, Series};
use fathom_units::Direction;
use pyo3::prelude::*;

/// Parts of a key. `None` selects all.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyParts {
    metric: Option<Metric>,
    direction: Option<Direction>,
    flow: Option<u32>,
    scope: Option<String>,
}

impl KeyParts {
    /// Parts by their names in files.
    pub(crate) fn parse(
        py: Python<'_>,
        metric: Option<&str>,
        direction: Option<&str>,
        flow: Option<u32>,
        scope: Option<String>,
    ) -> PyResult<Self> {
        let metric = metric.map(metric_named).transpose().map_err(|error| of_use_case(py, &error))?;
        let direction = direction.map(str::parse::<Direction>).transpose();
        let direction = direction.map_err(|error| wrong(py, format_args!("direction: {error}")))?;
        Ok(KeyParts { metric, direction, flow, scope })
    }
    /// Indices of the series that have these parts.
    pub(crate) fn indices(&self, series: &[Series]) -> Vec<usize> {
        let all = series.iter().enumerate();
        all.filter(|(_, one)| self.selects(one)).map(|(index, _)| index).collect()
    }
    fn selects(&self, series: &Series) -> bool {
        let key = &series.key;
        self.metric.is_none_or(|metric| key.metric == metric)
            && (self.direction.is_none() || key.direction == self.direction)
            && (self.flow.is_none() || key.flow == self.flow)
            && (self.scope.is_none() || key.scope == self.scope)
    }
}

fn metric_named(name: &str) -> Result<Metric, AppError> {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.info().name).collect();
    let found = Metric::ALL.iter().zip(&names).find(|(_, known)| **known == name);
    found.map(|(metric, _)| *metric).ok_or_else(|| AppError::no_such("metric", name, &names))
}
