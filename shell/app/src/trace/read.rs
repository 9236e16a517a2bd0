//! Reads the flows and queues of a capture in one pass and in bounded memory.
use super::input::Input;
use super::pass::pass;
use super::path::PathOf;
use crate::AppError;
use fathom_bottleneck::{QueueWatch, Queues};
use fathom_flow::{Bounds, Flows, Followed, SHARDS, Shard, Shards, missed_data, missing_directions};
use fathom_run::{CaptureDefect, CaptureSource};
use std::hash::{BuildHasher, RandomState};
use std::thread;

/// The result of reading one capture.
pub(super) struct Read {
    pub(super) source: CaptureSource,
    pub(super) first_at: i64,
    pub(super) flows: Flows,
    pub(super) queues: Queues,
}

/// Reads `input`. The result does not depend on the number of `threads` that follow flows. By
/// default, as many as save time.
pub(super) fn read(input: &mut Input, path: &mut PathOf<'_>, threads: Option<u8>) -> Result<Read, AppError> {
    let shards = shards();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    // A compressed file or a pipe is read by a separate thread.
    let has_room = threads.is_some() || processors > SHARDS;
    let pair =
        if threads.map_or(processors, usize::from) < SHARDS { None } else { input.open_pair(has_room)? };
    let ((mut source, first_at), followed) = match pair {
        Some((first, Some(second))) => by_two([first, second], path, shards)?,
        Some((mut first, None)) => by_one(&mut first, path, shards)?,
        None => by_one(input, path, shards)?,
    };
    let (flows, watches) = Followed::join(followed);
    let queues = QueueWatch::join(watches).finish();
    source.defects.extend(missing_directions(&flows));
    source.defects.extend(missed_data(&flows));
    Ok(Read { source, first_at, flows, queues })
}

/// The default limits with a random hash seed, so that no file can attack the hash table.
pub(super) fn bounds() -> Bounds {
    Bounds { hash_seed: RandomState::new().hash_one(()), ..Bounds::default() }
}

/// The shards of a capture, each with its own queue watch.
fn shards() -> [Shard<QueueWatch>; SHARDS] {
    Shard::all(bounds(), || QueueWatch::one_of(SHARDS))
}

/// The source, the timestamp of its first frame, and the result of each shard.
type Followers = ((CaptureSource, i64), [Followed<QueueWatch>; SHARDS]);

fn by_one(
    input: &mut Input,
    path: &mut PathOf<'_>,
    shards: [Shard<QueueWatch>; SHARDS],
) -> Result<Followers, AppError> {
    let mut shards = Shards::new(shards);
    // Two loops: the one without a path keeps more in registers.
    let source = if path.is_of_one() {
        pass(input, |times, packet| shards.packet(times, packet))?
    } else {
        pass(input, |times, packet| {
            shards.packet(times, packet);
            path.packet(times, packet);
        })?
    };
    Ok((source, shards.finish()))
}

/// Uses one thread per shard, or one for both if no thread can be started. Both threads read all
/// frames: that takes a sixth of the time, and passing frames between threads would not take less.
fn by_two(
    [mut first, mut second]: [Input; SHARDS],
    path: &mut PathOf<'_>,
    [mut one, mut other]: [Shard<QueueWatch>; SHARDS],
) -> Result<Followers, AppError> {
    thread::scope(|scope| {
        let read_other = move || {
            let (source, _) = pass(&mut second, |times, packet| other.packet(times, packet))?;
            Ok::<_, AppError>((source.defects, other.finish()))
        };
        let Ok(helper) = thread::Builder::new().spawn_scoped(scope, read_other) else {
            // Nothing has been read yet.
            return by_one(&mut first, path, shards());
        };
        let passed = pass(&mut first, |times, packet| {
            one.packet(times, packet);
            path.packet(times, packet);
        });
        // Otherwise the other thread could wait forever for this one to read on.
        drop(first);
        let own = one.finish();
        let (defects, others) = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (mut source, first_at) = passed?;
        add_other(&mut source.defects, defects);
        Ok(((source, first_at), [own, others]))
    })
}

/// Both threads find the same defects, unless only one could read the file to its end.
fn add_other(defects: &mut Vec<CaptureDefect>, others: Vec<CaptureDefect>) {
    let more: Vec<CaptureDefect> = others.into_iter().filter(|other| !defects.contains(other)).collect();
    defects.extend(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defects_found_by_either_thread_are_reported() {
        let defect = |text: &str| CaptureDefect::Text { text: text.into() };
        let list = |text: &str| text.split(' ').map(defect).collect::<Vec<_>>();
        for (own, others, all) in [("a b", "a b", "a b"), ("a", "a cut", "a cut"), ("a cut", "a", "a cut")] {
            let mut defects = list(own);
            add_other(&mut defects, list(others));
            assert_eq!(defects, list(all));
        }
    }
}
