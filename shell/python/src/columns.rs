//! The observations of a run as Arrow tables. Times and values stay where the run has them.
use crate::table::{Table, defect};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use bytes::Bytes;
use fathom_app::results::DiagnosedRun;
use fathom_run::{Phase, Series};
use fathom_units::Direction;
use pyo3::prelude::*;
use std::sync::Arc;
use zerocopy::IntoBytes as _;

/// Times or values of a series. As long as a table has them, the run is kept.
struct Shared {
    result: Arc<DiagnosedRun>,
    index: usize,
    of: fn(&Series) -> &[u8],
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (self.of)(&self.result.0.series[self.index])
    }
}

fn shared(result: &Arc<DiagnosedRun>, index: usize, of: fn(&Series) -> &[u8]) -> Buffer {
    Bytes::from_owner(Shared { result: result.clone(), index, of }).into()
}

fn times(result: &Arc<DiagnosedRun>, index: usize) -> ArrayRef {
    let buffer = shared(result, index, |series| series.at_ns.as_bytes());
    Arc::new(UInt64Array::new(ScalarBuffer::from(buffer), None))
}

fn values(result: &Arc<DiagnosedRun>, index: usize) -> ArrayRef {
    let buffer = shared(result, index, |series| series.values.as_bytes());
    Arc::new(Float64Array::new(ScalarBuffer::from(buffer), None))
}

fn censored(series: &Series) -> ArrayRef {
    let mut is_censored = vec![false; series.values.len()];
    series.censored.iter().for_each(|index| is_censored[*index as usize] = true);
    Arc::new(BooleanArray::from(is_censored))
}

/// The table of one series. Its values have the name of the metric.
pub(crate) fn of_series(result: &Arc<DiagnosedRun>, index: usize) -> PyResult<Table> {
    let series = &result.0.series[index];
    let arrays = [times(result, index), values(result, index), censored(series)];
    let names = ["at_ns", series.key.metric.info().name, "censored"];
    let fields: Vec<Field> =
        names.iter().zip(&arrays).map(|(name, array)| field(name, array, false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays.into()).map_err(|error| defect(&error))?;
    Ok(Table::new(schema, vec![batch]))
}

/// One table of several series, with a batch for each: the columns of `fathom report -o FILE.csv`
/// without the unit.
pub(crate) fn of_all(result: &Arc<DiagnosedRun>, indices: &[usize]) -> PyResult<Table> {
    let names = Names::of(result, indices);
    let build = || -> Result<Table, ArrowError> {
        let schema = names.schema()?;
        let batches = indices.iter().map(|index| names.batch(&schema, result, *index));
        Ok(Table::new(schema.clone(), batches.collect::<Result<_, _>>()?))
    };
    build().map_err(|error| defect(&error))
}

fn field(name: &str, array: &ArrayRef, is_nullable: bool) -> Field {
    Field::new(name, array.data_type().clone(), is_nullable)
}

/// The texts that keys and phases have, each once: the batches share them.
struct Names {
    metrics: Texts,
    directions: Texts,
    scopes: Texts,
    phases: Texts,
}

/// Distinct texts of a column.
struct Texts(Arc<StringArray>);

impl Texts {
    fn of<'t>(all: impl Iterator<Item = &'t str>) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        all.for_each(|text| {
            if !distinct.contains(&text) {
                distinct.push(text)
            }
        });
        Texts(Arc::new(StringArray::from(distinct)))
    }
    fn number(&self, text: &str) -> Option<i32> {
        let at = self.0.iter().position(|known| known == Some(text));
        at.and_then(|at| i32::try_from(at).ok())
    }
    fn column(&self, numbers: Int32Array) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(numbers, self.0.clone())?))
    }
    /// A column with the same text, or none, in each row.
    fn repeated(&self, text: Option<&str>, rows: usize) -> Result<ArrayRef, ArrowError> {
        self.column(match text.and_then(|text| self.number(text)) {
            Some(number) => Int32Array::from_value(number, rows),
            None => Int32Array::new_null(rows),
        })
    }
}

impl Names {
    fn of(result: &DiagnosedRun, indices: &[usize]) -> Self {
        let keys = || indices.iter().map(|index| &result.0.series[*index].key);
        Names {
            metrics: Texts::of(keys().map(|key| key.metric.info().name)),
            directions: Texts::of(Direction::BOTH.iter().map(|direction| direction.name())),
            scopes: Texts::of(keys().filter_map(|key| key.scope.as_deref())),
            phases: Texts::of(result.0.phases.iter().map(|phase| phase.kind.name())),
        }
    }
    fn schema(&self) -> Result<SchemaRef, ArrowError> {
        let empty = Series::new(fathom_run::SeriesKey::of(fathom_run::Metric::ALL[0]));
        let times: ArrayRef = Arc::new(UInt64Array::from_iter_values([]));
        let values: ArrayRef = Arc::new(Float64Array::from_iter_values([]));
        let columns = self.columns(&empty, &[], times, values)?;
        let may_lack = |name: &str| matches!(name, "direction" | "flow" | "scope" | "phase");
        let fields = columns.iter().map(|(name, array)| field(name, array, may_lack(name)));
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }
    fn batch(
        &self,
        schema: &SchemaRef,
        result: &Arc<DiagnosedRun>,
        index: usize,
    ) -> Result<RecordBatch, ArrowError> {
        let (run, _) = &**result;
        let columns =
            self.columns(&run.series[index], &run.phases, times(result, index), values(result, index))?;
        RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect())
    }
    fn columns(
        &self,
        series: &Series,
        phases: &[Phase],
        times: ArrayRef,
        values: ArrayRef,
    ) -> Result<[(&'static str, ArrayRef); 8], ArrowError> {
        let (key, rows) = (&series.key, series.at_ns.len());
        let flow: UInt32Array = std::iter::repeat_n(key.flow, rows).collect();
        let phase: Int32Array = series.at_ns.iter().map(|at| self.phase_at(phases, *at)).collect();
        Ok([
            ("metric", self.metrics.repeated(Some(key.metric.info().name), rows)?),
            ("direction", self.directions.repeated(key.direction.map(Direction::name), rows)?),
            ("flow", Arc::new(flow)),
            ("scope", self.scopes.repeated(key.scope.as_deref(), rows)?),
            ("phase", self.phases.column(phase)?),
            ("at_ns", times),
            ("value", values),
            ("censored", censored(series)),
        ])
    }
    fn phase_at(&self, phases: &[Phase], at: u64) -> Option<i32> {
        let phase = phases.iter().find(|phase| (phase.start_ns..phase.end_ns).contains(&at))?;
        self.phases.number(phase.kind.name())
    }
}
