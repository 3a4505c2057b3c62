//! The counts of video players, browsers and speed tests.

use perhop_qos::units::Time;

/// The counts of an adaptive video player after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VideoTally {
    /// The number of segments that arrived.
    pub segments: u64,
    /// The sum of the bitrates of the segments that arrived, bits per second.
    pub bitrates: u128,
    /// The number of requests for another bitrate than the previous request.
    pub switches: u64,
    /// The time from the start to the first picture; `None` if the first picture appeared during the warm-up
    /// or not at all.
    pub startup: Option<Time>,
    /// The number of stalls that began.
    pub stalls: u64,
    /// The total time in stalls.
    pub stalled: Time,
    /// The total time of playback.
    pub played: Time,
}

impl VideoTally {
    /// Returns the mean bitrate of the segments, bits per second; NaN if no segment arrived.
    pub fn bitrate(&self) -> f64 {
        self.bitrates as f64 / self.segments as f64
    }
    /// Returns the time in stalls, percent of the time since playback started; NaN if playback did not start.
    pub fn stalled_percent(&self) -> f64 {
        let (stalled, played) = (self.stalled.as_seconds(), self.played.as_seconds());
        100.0 * stalled / (stalled + played)
    }
}

/// The counts of a browser after the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTally {
    /// The load times of pages, in order.
    pub loads: Vec<Time>,
    /// The number of objects that arrived.
    pub objects: u64,
}

/// The counts of a speed test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeedTally {
    /// The number of connections that transfer data.
    pub connections: u32,
    begins: Time,
    ends: Time,
    /// The number of payload bytes that all connections together had received, at the start of the test and
    /// at the end of each slice.
    pub readings: Vec<u64>,
}

/// The number of slices of a test. The slowest 30 % and the fastest 10 % are not counted (Ookla's description
/// of its test, as quoted by Bauer, Clark and Lehr, "Understanding Broadband Speed Measurements", 2010).
const SLICES: u64 = 20;
/// The number of slowest slices that are not counted.
const SLOWEST: usize = 6;
/// The number of fastest slices that are not counted.
const FASTEST: usize = 2;

impl SpeedTally {
    /// Creates the counts of a test with `connections`, which lasts from `begins` to `ends`.
    pub fn new(connections: u32, begins: Time, ends: Time) -> SpeedTally {
        SpeedTally { connections, begins, ends, readings: Vec::new() }
    }
    /// Returns the time of the next reading; `None` after the last reading.
    pub fn next(&self) -> Option<Time> {
        let taken = self.readings.len() as u128;
        let length = u128::from(self.ends.saturating_sub(self.begins).as_picoseconds());
        if length == 0 || taken > u128::from(SLICES) {
            return None;
        }
        Some(self.begins + Time::from_picoseconds((length * taken / u128::from(SLICES)) as u64))
    }
    /// The length of a slice, seconds.
    fn slice_s(&self) -> f64 {
        self.ends.saturating_sub(self.begins).as_seconds() / SLICES as f64
    }
    /// Returns the mean rate over the whole test as iperf3 reports it, bits per second; NaN if the test did
    /// not end.
    pub fn mean_bps(&self) -> f64 {
        if self.readings.len() as u64 <= SLICES {
            return f64::NAN;
        }
        let bytes = self.readings[SLICES as usize] - self.readings[0];
        8.0 * bytes as f64 / (self.slice_s() * SLICES as f64)
    }
    /// Returns the mean rate over the slices without the slowest and the fastest, bits per second; NaN if the
    /// test did not end.
    pub fn trimmed_bps(&self) -> f64 {
        if self.readings.len() as u64 <= SLICES {
            return f64::NAN;
        }
        let mut slices: Vec<u64> = self.readings.windows(2).map(|pair| pair[1] - pair[0]).collect();
        slices.sort_unstable();
        let kept = &slices[SLOWEST..slices.len() - FASTEST];
        8.0 * kept.iter().sum::<u64>() as f64 / (self.slice_s() * kept.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test has 20 slices of 0.5 s: 6 without bytes, 12 with 1 MB, and 2 with 5 MB.
    #[test]
    fn the_slowest_and_the_fastest_slices_do_not_count() {
        let mut tally = SpeedTally::new(4, Time::from_seconds(2), Time::from_seconds(12));
        let mut received = 7;
        let mut times = Vec::new();
        while let Some(time) = tally.next() {
            times.push(time);
            let slice = times.len();
            received += match slice {
                1..=7 => 0,
                8..=19 => 1_000_000,
                _ => 5_000_000,
            };
            tally.readings.push(received);
        }
        assert_eq!((times.len(), times[0], times[20]), (21, Time::from_seconds(2), Time::from_seconds(12)));
        assert_eq!(tally.trimmed_bps(), 16e6);
        assert_eq!(tally.mean_bps(), 8.0 * 22e6 / 10.0);
    }

    #[test]
    fn a_test_that_is_not_over_has_no_rate() {
        let mut tally = SpeedTally::new(1, Time::ZERO, Time::from_seconds(1));
        tally.readings.push(0);
        assert!(tally.mean_bps().is_nan() && tally.trimmed_bps().is_nan());
        assert_eq!(SpeedTally::new(1, Time::from_seconds(2), Time::from_seconds(1)).next(), None);
    }

    #[test]
    fn shares_and_means_of_a_video() {
        let tally = VideoTally {
            segments: 4,
            bitrates: 10_000_000,
            stalled: Time::from_seconds(1),
            played: Time::from_seconds(3),
            ..VideoTally::default()
        };
        assert_eq!((tally.bitrate(), tally.stalled_percent()), (2.5e6, 25.0));
        assert!(VideoTally::default().stalled_percent().is_nan());
    }
}
