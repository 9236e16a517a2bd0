//! Late answers to samples that are already on disk.
use crate::error::Fault;
use crate::table::Table;
use fathom_watch_samples::Stored;
use rusqlite::Connection;

/// Tables that may hold a sample, in search order.
const OF_SAMPLES: [Table; 2] = [Table::Part, Table::Chunk];

/// Windows that count a sample once its day is over.
const OF_DAYS: [Table; 3] = [Table::TenMinutes, Table::Hours, Table::Days];

/// Replaces codes of lost samples and updates their windows. Returns how many samples were not
/// found.
pub(crate) fn sealed(db: &Connection, late: &[(u32, Stored)]) -> Result<u64, Fault> {
    let mut unmatched = 0;
    for (series, stored) in late {
        unmatched += u64::from(!one(db, *series, *stored)?);
    }
    Ok(unmatched)
}

fn one(db: &Connection, series: u32, stored: Stored) -> Result<bool, Fault> {
    for table in OF_SAMPLES {
        // A time at a boundary may be stored on its other side.
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

/// Updates the windows of the sample's six hours, or those of its day.
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
