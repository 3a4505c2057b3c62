//! [`MOST_LEVELS`]: how deep readers follow what stands within itself.

/// Levels that every reader follows at most: far more than any file has, and few enough for the stack of a
/// thread. Where a router or Linux has a lower limit, that holds.
pub const MOST_LEVELS: usize = 64;

/// Says that `what` (object groups, queueing disciplines) has more levels than are followed.
pub fn nested_too_deeply(what: &str) -> String {
    format!("{what} are nested more than {MOST_LEVELS} levels deep")
}
