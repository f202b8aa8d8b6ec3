//! What executors write between the stages of a query, sealed.
//!
//! A stage ends with a [`Seal`], below Ballista's own writer: what is in its files, and goes over the network, is rows
//! of one column, each a batch in Arrow's IPC format, sealed. An [`Open`] above Ballista's own reader turns them into
//! batches again, and another one does so in the client.
//!
//! ```text
//! row    = place || nonce || sealed
//! place  = LE64(stage) || LE64(partition) || LE64(task) || LE64(number of the row) || [1 if it is the last, or 0]
//! nonce  = 24 random bytes
//! sealed = the batch, or nothing in the last row, in veriplex::aead: domain "veriplex.store.cluster.shuffle.v1", the
//!          job's key, the place as associated data
//! key    = 32 bytes of veriplex::kdf: domain "veriplex.store.cluster.jobs.v1", the master key as secret, the job's
//!          name as info
//! ```
//!
//! So a row opens only in its job and its place. A reader that misses a row, the last one, or the rows of a task that the
//! plan names is an error.

use std::collections::HashMap;
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::execution_plans::sort_shuffle::SortShuffleWriterExec;
use ballista_core::execution_plans::{
    DistributedQueryExec, PartitionedBoundedWindowAggExec, RangeShuffleReaderExec, RangeShuffleWriterExec,
    RuntimeStatsExec, ShuffleReaderExec, ShuffleWriterExec,
};
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::serde::protobuf::ShuffleWritePartition;
use ballista_executor::execution_engine::{ExecutionEngine, QueryStageExecutor};
use datafusion::arrow::array::{AsArray as _, BinaryArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::ipc::CompressionType;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, Partitioning, PlanProperties,
};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::LogicalPlanNode;
use futures_util::stream::{self, StreamExt as _};
use veriplex::aead::Aead;
use veriplex::{Key, Nonce, kdf, label};

const NONCE_LEN: usize = 24;
const PLACE_LEN: usize = 4 * 8 + 1;
/// A row has no more, as far as a batch can be divided: Ballista's messages have up to 16 MiB.
const ROW_LEN: usize = 4 << 20;

fn execution(error: impl Into<String>) -> DataFusionError {
    DataFusionError::Execution(error.into())
}

fn job_cipher(master: &Key, job: &str) -> Aead<NONCE_LEN> {
    let key = kdf::derive_key(
        label!("veriplex.store.cluster.jobs.v1"),
        master.as_bytes(),
        job.as_bytes(),
    );
    Aead::new(label!("veriplex.store.cluster.shuffle.v1"), &key)
}

fn sealed_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("sealed", DataType::Binary, false)]))
}

fn properties_like(plan: &Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(plan.output_partitioning().partition_count()),
        plan.pipeline_behavior(),
        plan.boundedness(),
    ))
}

/// What a task writes for a partition of the next stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Output {
    stage: u64,
    partition: u64,
    task: u64,
}

impl Output {
    fn place(self, number: u64, last: bool) -> [u8; PLACE_LEN] {
        let mut place = [0; PLACE_LEN];
        let numbers = [self.stage, self.partition, self.task, number];
        for (bytes, number) in place.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_le_bytes();
        }
        place[PLACE_LEN - 1] = last.into();
        place
    }

    /// This, the number of a row, and whether it is the last.
    fn of_place(place: &[u8; PLACE_LEN]) -> (Self, u64, bool) {
        let mut numbers = place.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut next = || numbers.next().unwrap_or_default();
        let (stage, partition, task) = (next(), next(), next());
        let output = Self {
            stage,
            partition,
            task,
        };
        (output, next(), place[PLACE_LEN - 1] == 1)
    }
}

/// Seals one output.
struct Sealer {
    cipher: Aead<NONCE_LEN>,
    output: Output,
    rows: u64,
}

impl Sealer {
    /// A batch; without one the row that ends the output.
    fn seal(&mut self, batch: Option<&RecordBatch>) -> Result<RecordBatch> {
        let mut rows = Vec::new();
        if let Some(batch) = batch {
            let parts = batch.get_array_memory_size().div_ceil(ROW_LEN).max(1);
            let step = batch.num_rows().div_ceil(parts).max(1);
            for start in (0..batch.num_rows()).step_by(step) {
                let part = batch.slice(start, step.min(batch.num_rows() - start));
                rows.push(self.row(&encode(&part)?, false));
            }
        } else {
            rows.push(self.row(&[], true));
        }
        let column = BinaryArray::from_iter_values(rows);
        Ok(RecordBatch::try_new(sealed_schema(), vec![Arc::new(column)])?)
    }

    fn row(&mut self, content: &[u8], last: bool) -> Vec<u8> {
        let place = self.output.place(self.rows, last);
        self.rows += 1;
        let nonce = Nonce::<NONCE_LEN>::generate(&mut veriplex::os_rng());
        let sealed = self.cipher.seal_vec(&nonce, &place, content);
        [&place, &nonce.as_bytes()[..], &sealed].concat()
    }
}

fn encode(batch: &RecordBatch) -> Result<Vec<u8>> {
    // What is sealed cannot be compressed any more.
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

/// Opens what was written for one partition of a stage, or the result of a query.
struct Opener {
    job: String,
    cipher: Aead<NONCE_LEN>,
    /// How many rows each output has had; `None` once it has ended.
    outputs: HashMap<Output, Option<u64>>,
    /// Whether those are all.
    known: bool,
}

impl Opener {
    /// Opens rows of these outputs, or of any.
    fn new(master: &Key, job: &JobId, outputs: Option<Vec<Output>>) -> Self {
        Self {
            job: job.to_string(),
            cipher: job_cipher(master, job.as_str()),
            known: outputs.is_some(),
            outputs: (outputs.into_iter().flatten())
                .map(|output| (output, Some(0)))
                .collect(),
        }
    }

    fn error(&self, output: Output, what: &str) -> DataFusionError {
        let Output {
            stage,
            partition,
            task,
        } = output;
        let job = &self.job;
        execution(format!(
            "shuffle {job:?}, stage {stage}, partition {partition}, task {task}: {what}"
        ))
    }

    fn open(&mut self, row: &[u8]) -> Result<Option<RecordBatch>> {
        let parts = row.split_first_chunk::<PLACE_LEN>();
        let parts = parts.and_then(|(place, rest)| Some((place, rest.split_first_chunk::<NONCE_LEN>()?)));
        let (place, (nonce, sealed)) = parts.ok_or_else(|| execution("shuffle: a row that is not sealed"))?;
        let (output, number, last) = Output::of_place(place);
        let content = self.cipher.open_vec(&Nonce::from(*nonce), place, sealed);
        let content = content.map_err(|_| self.error(output, "wrong key, or damaged"))?;
        if !self.known {
            self.outputs.entry(output).or_insert(Some(0));
        }
        match self.outputs.get_mut(&output) {
            Some(rows) if *rows == Some(number) => *rows = (!last).then_some(number + 1),
            Some(_) => return Err(self.error(output, "rows are missing or out of order")),
            None => return Err(self.error(output, "not an input of this task")),
        }
        if last {
            return Ok(None);
        }
        let mut batches = StreamReader::try_new(Cursor::new(content), None)?;
        let batch = batches.next().ok_or_else(|| self.error(output, "an empty row"))?;
        Ok(Some(batch?))
    }

    /// All rows were there.
    fn finish(&self) -> Result<()> {
        match self.outputs.iter().find(|(_, rows)| rows.is_some()) {
            None => Ok(()),
            Some((output, _)) => Err(self.error(*output, "rows are missing at the end")),
        }
    }
}

/// The end of a stage.
#[derive(Debug)]
struct Seal {
    input: Arc<dyn ExecutionPlan>,
    cipher: Aead<NONCE_LEN>,
    outputs: Vec<Output>,
    /// How many rows the input has had, for each partition.
    rows: Arc<[AtomicU64]>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for Seal {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl ExecutionPlan for Seal {
    fn name(&self) -> &'static str {
        "Seal"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// None that the writer sees: it would conclude from them which partitions these are.
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    /// It is made where it runs, when nothing changes any more.
    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Err(DataFusionError::Internal(
            "a stage that runs is not planned".into(),
        ))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut sealer = Sealer {
            cipher: self.cipher.clone(),
            output: self.outputs[partition],
            rows: 0,
        };
        let rows = self.rows.clone();
        let input = self.input.execute(partition, context)?.map(Some);
        let mut failed = false;
        let sealed = input.chain(stream::iter([None])).filter_map(move |batch| {
            let sealed = match batch {
                Some(Err(error)) => {
                    failed = true;
                    Some(Err(error))
                }
                // An output that broke off does not end.
                _ if failed => None,
                Some(Ok(batch)) => {
                    rows[partition].fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                    Some(sealer.seal(Some(&batch)))
                }
                None => Some(sealer.seal(None)),
            };
            async { sealed }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(sealed_schema(), sealed)))
    }
}

/// Where rows come from.
#[derive(Clone, Debug)]
enum Source {
    /// Outputs of other stages of this job: for each partition, those that the plan names.
    Stages(JobId, Vec<Vec<Output>>),
    /// The result of a query, whose job is known once it runs.
    Query,
}

/// The beginning of a stage, and of the client's plan.
#[derive(Debug)]
pub struct Open {
    input: Arc<dyn ExecutionPlan>,
    master: Key,
    source: Source,
    properties: Arc<PlanProperties>,
}

impl Open {
    /// Opens the result of a query.
    #[must_use]
    pub fn result(query: Arc<dyn ExecutionPlan>, master: &Key) -> Self {
        Self {
            properties: properties_like(&query, query.schema()),
            input: query,
            master: master.clone(),
            source: Source::Query,
        }
    }

    fn stages(reader: &ShuffleReaderExec, work_dir: &str, engine: &Engine, job: &JobId) -> Result<Self> {
        let outputs = reader.partition.iter().map(|locations| {
            let outputs = locations.iter().map(|location| {
                Ok(Output {
                    stage: location.partition_id.stage_id as u64,
                    partition: location.partition_id.partition_id as u64,
                    task: location
                        .file_id
                        .ok_or_else(|| execution("shuffle: an output of no task"))?,
                })
            });
            outputs.collect::<Result<Vec<_>>>()
        });
        let source = Source::Stages(job.clone(), outputs.collect::<Result<_>>()?);
        let partitions = Partitioning::UnknownPartitioning(reader.partition.len());
        let mut input = ShuffleReaderExec::try_new(
            reader.stage_id,
            reader.partition.clone(),
            sealed_schema(),
            partitions,
        )?;
        input.broadcast = reader.broadcast;
        Ok(Self {
            input: Arc::new(input.with_work_dir(work_dir.to_owned())),
            master: engine.master.clone(),
            source,
            properties: reader.properties().clone(),
        })
    }
}

impl DisplayAs for Open {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Open")
    }
}

impl ExecutionPlan for Open {
    fn name(&self) -> &'static str {
        "Open"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("it has one input".into()));
        };
        Ok(Arc::new(Self {
            input,
            master: self.master.clone(),
            source: self.source.clone(),
            properties: self.properties.clone(),
        }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (context, outputs) = match &self.source {
            Source::Query => (context, None),
            Source::Stages(_, outputs) => {
                // Ballista reads its own files, and what it fetches as files, without validating them.
                let config = (context.session_config().clone())
                    .with_ballista_shuffle_reader_force_remote_read(true)
                    .with_ballista_shuffle_reader_remote_prefer_flight(true)
                    // Rows are batches: do not collect many.
                    .with_batch_size(1);
                let context = TaskContext::default()
                    .with_session_config(config)
                    .with_runtime(context.runtime_env());
                // A reader for all partitions has one list of outputs.
                let outputs = outputs.get(partition).or(outputs.first());
                (Arc::new(context), Some(outputs.cloned().unwrap_or_default()))
            }
        };
        let rows = self.input.execute(partition, context)?;
        let (input, master) = (self.input.clone(), self.master.clone());
        let mut opener = match (&self.source, outputs) {
            (Source::Stages(job, _), Some(outputs)) => Some(Opener::new(&master, job, Some(outputs))),
            _ => None,
        };
        let opened = rows.map(Some).chain(stream::iter([None])).flat_map(move |rows| {
            let open = || match rows {
                Some(rows) => {
                    let opener = match &mut opener {
                        Some(opener) => opener,
                        none => none.insert(Opener::new(&master, &job_of(&input)?, None)),
                    };
                    let rows = rows?;
                    let rows = rows
                        .columns()
                        .first()
                        .and_then(|column| column.as_binary_opt::<i32>());
                    let rows = rows.ok_or_else(|| execution("shuffle: rows that are not sealed"))?;
                    let batches = rows.iter().map(|row| opener.open(row.unwrap_or_default()));
                    batches.filter_map(Result::transpose).collect()
                }
                None => opener
                    .as_ref()
                    .map_or(Ok(()), Opener::finish)
                    .map(|()| Vec::new()),
            };
            let batches: Result<Vec<_>> = open();
            stream::iter(match batches {
                Ok(batches) => batches.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), opened)))
    }
}

/// The job of a query that runs.
fn job_of(query: &Arc<dyn ExecutionPlan>) -> Result<JobId> {
    let query = query.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>();
    let job = query.and_then(DistributedQueryExec::job_id);
    job.ok_or_else(|| execution("shuffle: rows of no job"))
}

/// Runs the stages of queries: the argument `override_execution_engine` of an executor.
#[derive(Debug)]
pub struct Engine {
    master: Key,
}

impl Engine {
    /// An engine with the key that all executors and clients share.
    #[must_use]
    pub fn new(master: &Key) -> Self {
        Self {
            master: master.clone(),
        }
    }

    /// What merges sorted outputs. The reader's bounds only spare it rows that a filter above removes.
    fn merge(
        &self,
        reader: &RangeShuffleReaderExec,
        work_dir: &str,
        job: &JobId,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let merged = reader
            .partition
            .iter()
            .map(|locations| -> Result<Arc<dyn ExecutionPlan>> {
                if locations.is_empty() {
                    return Ok(Arc::new(EmptyExec::new(reader.schema())));
                }
                let outputs = locations.iter().map(|location| vec![location.clone()]).collect();
                let partitions = Partitioning::UnknownPartitioning(locations.len());
                let outputs =
                    ShuffleReaderExec::try_new(reader.stage_id, outputs, reader.schema(), partitions)?;
                let open = Open::stages(&outputs, work_dir, self, job)?;
                let merge = SortPreservingMergeExec::new(reader.merge_ordering().clone(), Arc::new(open));
                Ok(Arc::new(merge.with_fetch(reader.fetch())))
            });
        UnionExec::try_new(merged.collect::<Result<_>>()?)
    }
}

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        _: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let plan = plan.transform_up(|node| {
            if let Some(reader) = node.downcast_ref::<ShuffleReaderExec>() {
                let open: Arc<dyn ExecutionPlan> = Arc::new(Open::stages(reader, work_dir, self, &job)?);
                return Ok(Transformed::yes(open));
            }
            if let Some(reader) = node.downcast_ref::<RangeShuffleReaderExec>() {
                return Ok(Transformed::yes(self.merge(reader, work_dir, &job)?));
            }
            // They tell the scheduler values.
            if node.is::<RuntimeStatsExec>() || node.is::<PartitionedBoundedWindowAggExec>() {
                let name = node.name();
                return Err(DataFusionError::NotImplemented(format!(
                    "{name} cannot be sealed"
                )));
            }
            Ok(Transformed::no(node))
        });
        let plan = plan?.data;
        let mut inputs = plan.children().into_iter().cloned();
        let (Some(input), None) = (inputs.next(), inputs.next()) else {
            return Err(DataFusionError::Internal("a stage has one input".into()));
        };
        let input = if let Some(writer) = plan.downcast_ref::<SortShuffleWriterExec>() {
            // It divides rows by their values, which is no longer possible once they are sealed.
            let partitioning = writer.shuffle_output_partitioning().clone();
            Arc::new(RepartitionExec::try_new(input, partitioning)?)
        } else if plan.is::<ShuffleWriterExec>() || plan.is::<RangeShuffleWriterExec>() {
            input
        } else {
            return Err(DataFusionError::Internal("a stage ends with a writer".into()));
        };
        let count = input.output_partitioning().partition_count();
        if count != partitions.len() {
            return Err(DataFusionError::Internal("a partition has no number".into()));
        }
        let outputs = partitions.iter().map(|partition| Output {
            stage: stage as u64,
            partition: *partition as u64,
            task: task as u64,
        });
        let rows: Arc<[_]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let seal = Seal {
            cipher: job_cipher(&self.master, job.as_str()),
            outputs: outputs.collect(),
            rows: rows.clone(),
            properties: properties_like(&input, sealed_schema()),
            input,
        };
        let writer = ShuffleWriterExec::try_new(job, stage, Arc::new(seal), work_dir.to_owned())?
            .with_task_id(task)
            .with_global_output_partition_ids(partitions);
        Ok(Arc::new(Stage { writer, rows }))
    }
}

/// A stage that is run for some partitions.
#[derive(Debug)]
struct Stage {
    writer: ShuffleWriterExec,
    rows: Arc<[AtomicU64]>,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sealed stage {}", self.writer.stage_id())
    }
}

#[async_trait]
impl QueryStageExecutor for Stage {
    async fn execute_query_stage(
        &self,
        _: usize,
        context: Arc<TaskContext>,
    ) -> Result<Vec<ShuffleWritePartition>> {
        let mut written = self.writer.clone().execute_shuffle_write(context).await?;
        for (partition, output) in &mut written {
            // The planner uses the number of rows: that of what was sealed.
            output.num_rows = self.rows[*partition].load(Ordering::Relaxed);
        }
        Ok(written.into_iter().map(|(_, output)| output).collect())
    }

    /// None: they would have to be those of the scheduler's plan, node by node.
    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
