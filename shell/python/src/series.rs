//! One series of a run.
use crate::columns;
use fathom_app::results::DiagnosedRun;
use fathom_units::Direction;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// The observations of one metric, in time order, as an Arrow table of three columns.
///
/// ``at_ns``: time since the start of the run, in nanoseconds; for a probe, its send time. The
/// column with the name of the metric: the value, in the unit that is the last word of the name.
/// ``censored``: whether the value is a lower bound, such as the wait for a probe that was never
/// answered.
#[pyclass(frozen, module = "fathom")]
pub(crate) struct Series {
    pub(crate) result: Arc<DiagnosedRun>,
    pub(crate) index: usize,
}

impl Series {
    fn series(&self) -> &fathom_run::Series {
        &self.result.0.series[self.index]
    }
}

#[pymethods]
impl Series {
    /// Name of the metric: see docs/metrics.md.
    #[getter]
    fn metric(&self) -> &'static str {
        self.series().key.metric.info().name
    }
    /// SI unit of the values.
    #[getter]
    fn unit(&self) -> &'static str {
        self.series().key.metric.info().unit
    }
    /// What one observation means.
    #[getter]
    fn definition(&self) -> &'static str {
        self.series().key.metric.info().definition
    }
    /// ``up`` or ``down``, seen from the user; None if the metric has no direction.
    #[getter]
    fn direction(&self) -> Option<&'static str> {
        self.series().key.direction.map(Direction::name)
    }
    /// Number of the flow, if it is a metric of a single flow.
    #[getter]
    fn flow(&self) -> Option<u32> {
        self.series().key.flow
    }
    /// Distinguishes several instances of the same metric, such as the hops of a path.
    #[getter]
    fn scope(&self) -> Option<&str> {
        self.series().key.scope.as_deref()
    }
    /// Number of duplicate responses to probes.
    #[getter]
    fn duplicates(&self) -> u32 {
        self.series().duplicates
    }
    /// Number of responses that arrived after the response to a later probe.
    #[getter]
    fn reordered(&self) -> u32 {
        self.series().reordered
    }
    fn __len__(&self) -> usize {
        self.series().values.len()
    }
    fn __repr__(&self) -> String {
        let direction = self.direction().map_or_else(String::new, |direction| format!(" {direction}"));
        let flow = self.flow().map_or_else(String::new, |flow| format!(" flow {flow}"));
        let scope = self.scope().map_or_else(String::new, |scope| format!(" scope {scope}"));
        format!("<fathom.Series {}{direction}{flow}{scope}: {} rows>", self.metric(), self.__len__())
    }
    /// The series as a PyCapsule with an ArrowArrayStream, without a copy of its times and values.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        columns::of_series(&self.result, self.index)?.stream(py)
    }
    /// The schema as a PyCapsule with an ArrowSchema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        columns::of_series(&self.result, self.index)?.schema_capsule(py)
    }
}
