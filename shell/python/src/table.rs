//! A table in memory, which other libraries read in place through the Arrow PyCapsule interface.
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_array::{StringArray, UInt64Array};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A table in the memory format of Arrow.
///
/// Other libraries read it in place, through ``__arrow_c_stream__``: ``pyarrow.table(t)``,
/// ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, ``duckdb.sql("from t")``. The unit
/// of a column is the last word of its name.
#[pyclass(frozen, module = "fathom")]
#[derive(Clone, Debug)]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// An error of Arrow. It names a defect of this package.
pub(crate) fn defect(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Table {
    pub(crate) const fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Table { schema, batches }
    }
    /// The stream that a consumer takes over, with all its buffers.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
    pub(crate) fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| defect(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

#[pymethods]
impl Table {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }
    fn __len__(&self) -> usize {
        self.num_rows()
    }
    fn __repr__(&self) -> String {
        format!("<fathom.Table: {} rows; {}>", self.num_rows(), self.column_names().join(", "))
    }
    /// The table as a PyCapsule with an ArrowArrayStream. A requested schema is ignored, as the
    /// interface permits.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.stream(py)
    }
    /// The schema as a PyCapsule with an ArrowSchema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema_capsule(py)
    }
}

/// Columns of a small table, filled from rows.
pub(crate) struct Columns<'r, R> {
    rows: &'r [R],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'r, R> Columns<'r, R> {
    pub(crate) const fn of(rows: &'r [R]) -> Self {
        Columns { rows, fields: Vec::new(), arrays: Vec::new() }
    }
    fn add(mut self, name: &str, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
        self
    }
    pub(crate) fn text<'s>(self, name: &str, of: impl Fn(&'r R) -> Option<&'s str>) -> Self
    where
        'r: 's,
    {
        let array: StringArray = self.rows.iter().map(of).collect();
        self.add(name, Arc::new(array))
    }
    pub(crate) fn number(self, name: &str, of: impl Fn(&R) -> Option<f64>) -> Self {
        let array: Float64Array = self.rows.iter().map(of).collect();
        self.add(name, Arc::new(array))
    }
    pub(crate) fn whole(self, name: &str, of: impl Fn(&R) -> Option<u64>) -> Self {
        let array: UInt64Array = self.rows.iter().map(of).collect();
        self.add(name, Arc::new(array))
    }
    pub(crate) fn flag(self, name: &str, of: impl Fn(&R) -> Option<bool>) -> Self {
        let array: BooleanArray = self.rows.iter().map(of).collect();
        self.add(name, Arc::new(array))
    }
    pub(crate) fn table(self) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema.clone(), self.arrays).map_err(|error| defect(&error))?;
        Ok(Table::new(schema, vec![batch]))
    }
}
