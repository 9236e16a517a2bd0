//! `fathom fix --replace-sqm` and `--restore-sqm`: in the place of sqm-scripts.
use super::{apply, undo};
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console};
use fathom_app::fix::{enabled_sqm, replace_sqm, restore_sqm};

/// Shapes as sqm-scripts is configured to, in its place.
pub(super) fn replace(args: &FixArgs, console: Console) -> Outcome {
    let queues = enabled_sqm(&args.root, args.device.as_deref())?;
    if queues.is_empty() {
        terminal::print("sqm-scripts: no enabled queue\n")?;
    }
    for queue in &queues {
        let shape = queue.shape.clone();
        let own = FixArgs {
            up: shape.up,
            down: shape.down,
            shaper: args.shaper.or(shape.shaper),
            overhead: shape.framing.overhead,
            mpu: shape.framing.mpu,
            atm: shape.framing.atm,
            commit: !args.dry_run,
            boot: !args.dry_run,
            ..args.clone()
        };
        if args.dry_run {
            apply::run(&own, &shape.device, console)?;
        } else {
            replace_sqm(&args.root, queue, || apply::run(&own, &shape.device, console))?;
        }
    }
    Ok(Exit::Healthy)
}

/// Gives the queues back to sqm-scripts.
pub(super) fn restore(args: &FixArgs) -> Outcome {
    let restored = restore_sqm(&args.root, &args.state, args.device.as_deref())?;
    if restored.is_empty() {
        terminal::print("sqm-scripts: no replaced queue\n")?;
    }
    undo::print(&restored)?;
    Ok(Exit::Healthy)
}
