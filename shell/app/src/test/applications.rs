//! The applications of a test: built-in names, or files.
use crate::AppError;
use crate::scenario::read_scenario;
use fathom_scenario::{APPLICATIONS, Role, WorkloadPlan, applications, refusal};

/// The applications that `given` names: built-in ones, or all of a file (a name with `.` or `/`).
///
/// # Errors
/// If a name is unknown, a file is not valid, or an application cannot have this role in a test.
pub fn load(given: &[String], role: Role) -> Result<Vec<WorkloadPlan>, AppError> {
    let built_in = applications(APPLICATIONS, "applications")?;
    let mut chosen: Vec<WorkloadPlan> = Vec::new();
    for name in given {
        let found = if name.contains(['/', '.']) {
            applications(&read_scenario(name)?, name)?
        } else {
            let known = || built_in.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>();
            let plan = built_in.iter().find(|plan| plan.name == *name).cloned();
            Vec::from([plan.ok_or_else(|| AppError::no_such("application", name, &known()))?])
        };
        for plan in found {
            if let Some(why) = refusal(&plan, role) {
                let scenario =
                    if plan.name == *name { name.clone() } else { format!("{name}: {}", plan.name) };
                return Err(AppError::Unplayable { scenario, why });
            }
            if !chosen.iter().any(|other| other.name == plan.name) {
                chosen.push(plan);
            }
        }
    }
    Ok(chosen)
}
