//! [`MOST_LEVELS`]: the nesting limit of all readers.

/// Limit on nested levels in any input. Real files have far fewer levels, and the stack of a thread has room
/// for them. A lower limit of a router or of Linux takes precedence.
pub const MOST_LEVELS: usize = 64;

/// Returns the message that `what` (object groups, queueing disciplines) exceeds the nesting limit.
pub fn nested_too_deeply(what: &str) -> String {
    format!("{what} are nested more than {MOST_LEVELS} levels deep")
}
