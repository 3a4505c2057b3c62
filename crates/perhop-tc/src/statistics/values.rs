//! Formatting of values like `tc` (`utils.c`, `utils_math.c` of iproute2).

use perhop_qos::Time;

/// Formats a rate in bits per second like `print_rate`: large rates are truncated to whole units.
pub(super) fn rate(bits: u64) -> String {
    const UNITS: [&str; 5] = ["", "K", "M", "G", "T"];
    let (mut rate, mut unit) = (bits, 0);
    while unit + 1 < UNITS.len() && rate >= 1000 && (rate % 1000 == 0 || rate >= 1_000_000) {
        rate /= 1000;
        unit += 1;
    }
    format!("{rate}{}bit", UNITS[unit])
}

/// Formats a size in bytes like `sprint_size`: in whole units if the size is close to a whole number of
/// units.
pub(super) fn size(bytes: u64) -> String {
    const KILO: u64 = 1024;
    const MEGA: u64 = KILO * KILO;
    let near = |unit: u64| (bytes as f64 / unit as f64).round_ties_even() as u64;
    if bytes >= MEGA && (near(MEGA) * MEGA).abs_diff(bytes) < KILO {
        format!("{}Mb", near(MEGA))
    } else if bytes >= KILO && (near(KILO) * KILO).abs_diff(bytes) < 16 {
        format!("{}Kb", near(KILO))
    } else {
        format!("{bytes}b")
    }
}

/// Formats a time like `sprint_time`, with three digits.
pub(super) fn time(time: Time) -> String {
    let micros = (time.as_picoseconds() + 500_000) / 1_000_000;
    if micros >= 1_000_000 {
        format!("{}s", three_digits(micros as f64 / 1e6))
    } else if micros >= 1000 {
        format!("{}ms", three_digits(micros as f64 / 1e3))
    } else {
        format!("{micros}us")
    }
}

/// Formats a number of at least 1 like C's `%.3g`.
fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    let is_fraction = text.contains('.');
    let short = if is_fraction { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    short.to_owned()
}

#[cfg(test)]
mod tests {
    use perhop_qos::Time;

    use super::{rate, size, time};

    #[test]
    fn values_match_output_of_a_kernel() {
        let rates =
            [(8_500_000, "8500Kbit"), (10_000_000, "10Mbit"), (1_234_567_890, "1234Mbit"), (8, "8bit")];
        for (bits, text) in rates {
            assert_eq!(rate(bits), text);
        }
        let sizes =
            [(1600, "1600b"), (15_360, "15Kb"), (5120, "5Kb"), (33_554_432, "32Mb"), (50_000, "50000b")];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
        let times = [(50_000, "50ms"), (500, "500us"), (1_234_000, "1.23s"), (12_340, "12.3ms")];
        for (micros, text) in times {
            assert_eq!(time(Time::from_microseconds(micros)), text);
        }
    }
}
