//! Clients: they plan queries, and open their results.

use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::extension::{SessionConfigExt as _, SessionStateExt as _};
use ballista_core::planner::BallistaQueryPlanner;
use datafusion::catalog::Session;
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::LogicalPlanNode;
use veriplex::Key;

use crate::shuffle::Open;
use crate::{Buckets, functions, tree};

/// A session whose queries run on the cluster of the scheduler at this URL.
///
/// # Errors
///
/// Those of DataFusion, none of which these settings could cause.
pub fn session(scheduler: &str, buckets: &Arc<Buckets>) -> Result<SessionContext> {
    let mut config = SessionConfig::new_with_ballista();
    // The scheduler would read them from the files: it has no key.
    config.options_mut().execution.collect_statistics = false;
    let planner = Planner {
        cluster: BallistaQueryPlanner::with_extension(
            scheduler.to_owned(),
            config.ballista_config(),
            config.ballista_logical_extension_codec(),
        ),
        key: buckets.key().clone(),
    };
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config.with_ballista_query_planner(Arc::new(planner)))
        .with_runtime_env(buckets.runtime()?)
        .build();
    let mut context = SessionContext::new_with_state(state.upgrade_for_ballista(scheduler.to_owned())?);
    register(&mut context, buckets)?;
    Ok(context)
}

/// Makes the functions of this crate known to who plans with them.
///
/// # Errors
///
/// None, for a session.
pub fn register(registry: &mut impl FunctionRegistry, buckets: &Arc<Buckets>) -> Result<()> {
    for function in functions(buckets, None) {
        registry.register_udf(function)?;
    }
    registry.register_udaf(tree::aggregate())?;
    Ok(())
}

#[derive(Debug)]
struct Planner {
    cluster: BallistaQueryPlanner<LogicalPlanNode>,
    key: Key,
}

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.cluster.create_physical_plan(plan, session).await?;
        if plan.is::<DistributedQueryExec<LogicalPlanNode>>() {
            return Ok(Arc::new(Open::result(plan, &self.key)));
        }
        Ok(plan)
    }
}
