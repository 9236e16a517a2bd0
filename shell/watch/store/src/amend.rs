//! Late answers to samples that are on the disk.
use crate::error::Fault;
use crate::table::Table;
use fathom_watch_samples::Stored;
use rusqlite::Connection;

/// Where a sample can be, in the order in which it is looked for.
const OF_SAMPLES: [Table; 2] = [Table::Part, Table::Chunk];

/// The windows that count a sample once its day is over.
const OF_DAYS: [Table; 3] = [Table::TenMinutes, Table::Hours, Table::Days];

/// Gives samples that were lost another code, and what counts them; gives how many were not found.
pub(crate) fn sealed(db: &Connection, late: &[(u32, Stored)]) -> Result<u64, Fault> {
    let mut unmatched = 0;
    for (series, stored) in late {
        unmatched += u64::from(!one(db, *series, *stored)?);
    }
    Ok(unmatched)
}

fn one(db: &Connection, series: u32, stored: Stored) -> Result<bool, Fault> {
    for table in OF_SAMPLES {
        // A time next to a border may have been kept on its other side.
        for at_ms in [stored.at_ms, stored.at_ms.saturating_sub(1), stored.at_ms + 1] {
            let id = table.id(at_ms, series);
            let Some(mut chunk) = table.chunk(db, id)? else { continue };
            let Some(place) = chunk.amend(stored) else { continue };
            table.put_chunk(db, id, &chunk)?;
            let kept_ms = chunk.samples.get(place).map_or(at_ms, |s| s.at_ms);
            if table == Table::Chunk {
                recount(db, series, Stored { at_ms: kept_ms, ..stored })?;
            }
            return Ok(true);
        }
    }
    Ok(false)
}

/// The sample is counted by the windows of its six hours, or by those of its day.
fn recount(db: &Connection, series: u32, stored: Stored) -> Result<(), Fault> {
    let open_id = Table::Recent.id(stored.at_ms, series);
    let open = Table::Recent.windows(db, open_id)?;
    if let Some(mut windows) = open.filter(|w| w.lost_at(stored.at_ms) > 0) {
        windows.at(stored.at_ms).amend(stored.code);
        return Table::Recent.put_windows(db, open_id, &windows);
    }
    for table in OF_DAYS {
        let id = table.id(stored.at_ms, series);
        if let Some(mut windows) = table.windows(db, id)? {
            windows.at(stored.at_ms).amend(stored.code);
            table.put_windows(db, id, &windows)?;
        }
    }
    Ok(())
}
