//! [`LoadIntervals`]: the intervals over which routers average rates.

use perhop_lint::Line;

use crate::interface_name;

/// The default of `load-interval`, seconds.
const DEFAULT_S: u64 = 300;
/// Seconds between two samples of the router.
const SAMPLE_S: f64 = 5.0;

/// The configured intervals by interface.
pub(super) struct LoadIntervals(Vec<(String, u64)>);

impl LoadIntervals {
    /// Reads the intervals from the lines of a configuration.
    pub(super) fn read(lines: &[Line]) -> LoadIntervals {
        let mut found: Vec<(String, u64)> = Vec::new();
        let mut section: Option<String> = None;
        for line in lines {
            let words: Vec<&str> = line.text.split_whitespace().collect();
            if !line.text.starts_with(' ') {
                let is_interface = words.first().is_some_and(|word| word.eq_ignore_ascii_case("interface"));
                let number = |word: &&&str| word.starts_with(|first: char| first.is_ascii_digit());
                let name = words.get(1).copied().unwrap_or_default();
                let number = words.get(2).filter(number).copied().unwrap_or_default();
                section = is_interface.then(|| interface_name(&format!("{name}{number}")));
            } else if let (Some(name), [command, value, ..]) = (&section, words.as_slice())
                && command.eq_ignore_ascii_case("load-interval")
                && let Some(seconds) = value.parse().ok().filter(|seconds| *seconds > 0)
            {
                // The router refuses 0 and keeps its default.
                found.push((name.clone(), seconds));
            }
        }
        LoadIntervals(found)
    }

    /// Returns the interval of a port, seconds. A sub-interface inherits the interval of its parent.
    pub(super) fn of_port(&self, name: &str) -> u64 {
        let written = |name: &str| {
            let found = self.0.iter().rfind(|(section, _)| section.eq_ignore_ascii_case(name));
            found.map(|(_, seconds)| *seconds)
        };
        let whole = name.split_once('.').map_or(name, |(whole, _)| whole);
        written(name).or_else(|| written(whole)).unwrap_or(DEFAULT_S)
    }
}

/// Returns the average that the router displays for a constant `rate` after `after_s` seconds. `None` means
/// the steady state.
///
/// Every five seconds, `average = (average - sample) * exp(-5 / interval) + sample` (Cisco, "Understand the
/// Bits per Second (bits/sec) Definition from Show Interfaces Command Output", document 12816).
pub(super) fn averaged(rate: f64, interval_s: u64, after_s: Option<f64>) -> f64 {
    let Some(after_s) = after_s else { return rate };
    let samples = (after_s / SAMPLE_S).floor();
    rate * (1.0 - libm::exp(-samples * SAMPLE_S / interval_s as f64))
}

/// Returns an interval in the router's output format.
pub(super) fn words(seconds: u64) -> String {
    if seconds.is_multiple_of(60) { format!("{} minute", seconds / 60) } else { format!("{seconds} second") }
}

#[cfg(test)]
mod tests {
    use super::{averaged, words};

    #[test]
    fn the_average_of_a_steady_rate_rises_over_the_interval() {
        // After five minutes the average is 1 - 1/e of the rate; after four time constants it is 2 % below.
        assert!((averaged(1e6, 300, Some(300.0)) - 632_121.0).abs() < 1.0);
        assert!((averaged(1e6, 30, Some(120.0)) - 981_684.0).abs() < 1.0);
        assert!((averaged(1e6, 300, Some(9.9)) - averaged(1e6, 300, Some(5.0))).abs() < 1e-9);
        assert!((averaged(1e6, 300, None) - 1e6).abs() < 1e-9);
    }

    #[test]
    fn intervals_are_whole_minutes_or_seconds() {
        assert_eq!([30, 60, 90, 300].map(words), ["30 second", "1 minute", "90 second", "5 minute"]);
    }
}
