//! The memory available to this process.

use std::fs;

/// Memory reserved for everything except results, bytes.
const RESERVE: f64 = 100e6;

/// Returns the available memory, bytes. This is the free memory (Linux: /proc/meminfo, proc(5)), or the
/// unused part of the limit of the address space (`ulimit -v`) if that is smaller. If neither value is known,
/// returns infinity.
pub(crate) fn available() -> f64 {
    let free =
        first_number("/proc/meminfo", "MemAvailable:").map_or(f64::INFINITY, |kilobytes| 1024.0 * kilobytes);
    let limit = first_number("/proc/self/limits", "Max address space").unwrap_or(f64::INFINITY);
    let used = first_number("/proc/self/status", "VmSize:").map_or(0.0, |kilobytes| 1024.0 * kilobytes);
    free.min(limit - used) - RESERVE
}

/// Returns the first number on the line of `file` that begins with `key`; `None` for `unlimited`.
fn first_number(file: &str, key: &str) -> Option<f64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn available_memory_is_positive() {
        assert!(super::available() > 1e6);
    }
}
