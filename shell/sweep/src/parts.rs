//! Runs the missing files of a folder on several threads of this process.
use crate::{Folder, Progress, Shard, SweepError};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;

/// Makes the file of a range of cells, or nothing if it is asked to stop.
pub type Part<'p> = dyn Fn(Range<u64>, &dyn Fn() -> bool) -> Result<Option<Vec<u8>>, SweepError> + Sync + 'p;

/// Runs the files of `shard` that the folder lacks, until done or cancelled. Returns the
/// number of finished rows of the shard.
///
/// # Errors
/// The first error. Files that were already written are kept.
pub fn run_parts(
    folder: &Folder,
    shard: Shard,
    threads: usize,
    part: &Part<'_>,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, SweepError> {
    let sweep = folder.description();
    let mine = |file: &u64| file % shard.count == shard.index;
    let rows = |file: u64| {
        let cells = sweep.cells_of(file);
        cells.end - cells.start
    };
    let total = (0..sweep.files()).filter(mine).map(rows).sum();
    let begun = (0..sweep.files()).filter(mine).filter(|file| folder.has(*file)).map(rows).sum();
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let stop = || cancelled.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let take = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let mut own = numbers.take_while(|file| *file < sweep.files() && !stop()).filter(mine);
        own.find(|file| !folder.has(*file))
    };
    // Threads wait when they are ahead of the writer, so memory holds few files.
    let (sender, receiver) = sync_channel(threads);
    let mut done = begun;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some(file) = take() {
                    let Some(made) = part(sweep.cells_of(file), &stop).transpose() else { return };
                    if sender.send((file, made)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Its end closes the channel, on which threads may wait.
        let mut write = |file: u64, made: Result<Vec<u8>, SweepError>| {
            folder.write(file, &made?).map_err(SweepError::Table)?;
            done += rows(file);
            progress(Progress { done, begun, total });
            Ok(())
        };
        let written = receiver.into_iter().try_for_each(|(file, made)| write(file, made));
        failed.store(written.is_err(), Ordering::Relaxed);
        written
    })?;
    Ok(done)
}
