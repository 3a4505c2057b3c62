//! Samples over time.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::{Color, Packet};
use perhop_qos::port::Port;
use perhop_qos::units::Time;

use super::PacketLog;
use super::delay::DelayStatistics;

/// Samples of the queues of one port at fixed intervals, as columns.
#[derive(Clone, Debug, Default)]
pub struct QueueSamples {
    /// Time of each sample.
    pub time: Vec<Time>,
    /// Index of the queue.
    pub queue: Vec<u32>,
    /// Packets in the queue.
    pub packets: Vec<u64>,
    /// IP bytes in the queue.
    pub bytes: Vec<u64>,
    /// Drop precedence of `average`, if the buffer manager has averages; else 0.
    pub precedence: Vec<u32>,
    /// The buffer manager's average for that precedence, in the unit of its thresholds; NaN if there is none.
    pub average: Vec<f64>,
    /// The average that applies to a packet of that precedence: the sum, for buffer managers that add
    /// averages; else `average` itself.
    pub deciding_average: Vec<f64>,
}

impl QueueSamples {
    /// Samples every queue of `port`: one row per average, or one row for a queue without averages.
    pub fn sample(&mut self, now: Time, port: &Port) {
        for (index, (queue, buffer)) in port.queues().iter().zip(port.buffers()).enumerate() {
            let averages = buffer.averages();
            let rows = averages.iter().copied().chain(averages.is_empty().then_some(f64::NAN));
            for (precedence, average) in rows.enumerate() {
                self.time.push(now);
                self.queue.push(index as u32);
                self.packets.push(queue.occupancy().packets);
                self.bytes.push(queue.occupancy().bytes);
                self.precedence.push(precedence as u32);
                self.average.push(average);
                let deciding = buffer.deciding_average(Color::new(precedence), queue.occupancy());
                self.deciding_average.push(deciding.unwrap_or(f64::NAN));
            }
        }
    }
}

/// Received packets of each class in intervals of equal length.
#[derive(Clone, Debug)]
pub struct ThroughputSamples {
    /// Start of the first interval.
    pub begins: Time,
    /// Length of an interval.
    pub every: Time,
    /// Counters of received packets by interval and class.
    pub received: Vec<Vec<Count>>,
}

impl ThroughputSamples {
    /// Counters at 0 for the whole intervals between `begins` and `ends`, for `classes` classes.
    pub fn new(begins: Time, ends: Time, every: Time, classes: usize) -> ThroughputSamples {
        let intervals = ends.saturating_sub(begins).as_picoseconds() / every.as_picoseconds();
        let received = vec![vec![Count::default(); classes]; intervals as usize];
        ThroughputSamples { begins, every, received }
    }
    /// Counts a packet of `length` IP bytes that `class` received at `now`; not in the last, incomplete
    /// interval.
    pub fn add(&mut self, now: Time, class: usize, length: u32) {
        let interval = now.saturating_sub(self.begins).as_picoseconds() / self.every.as_picoseconds();
        if let Some(counts) = self.received.get_mut(interval as usize) {
            counts[class].add(length);
        }
    }
}

/// Delay and delay variation of one class in intervals of equal length.
#[derive(Clone, Debug)]
pub struct DelaySamples {
    /// Start of the first interval.
    pub begins: Time,
    /// Length of an interval.
    pub every: Time,
    /// Statistics of the packets that arrived in each interval.
    pub intervals: Vec<DelayStatistics>,
}

impl DelaySamples {
    /// Empty statistics for the whole intervals between `begins` and `ends`.
    pub fn new(begins: Time, ends: Time, every: Time) -> DelaySamples {
        let count = ends.saturating_sub(begins).as_picoseconds() / every.as_picoseconds();
        DelaySamples { begins, every, intervals: vec![DelayStatistics::default(); count as usize] }
    }
    /// Counts a packet that arrived at `now` with `delay`; `variation` is its IPDV in picoseconds, if it has
    /// one. Not in the last, incomplete interval.
    pub fn add(&mut self, now: Time, delay: Time, variation: Option<i64>) {
        let interval = now.saturating_sub(self.begins).as_picoseconds() / self.every.as_picoseconds();
        if let Some(statistics) = self.intervals.get_mut(interval as usize) {
            statistics.add(delay, variation);
        }
    }
}

/// Measurements that a scenario requests in addition to the counters.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// What each class received, interval by interval.
    pub throughput: Option<ThroughputSamples>,
    /// Packets one by one.
    pub packets: Option<PacketLog>,
    /// Delays by class, interval by interval; empty where nothing is sampled.
    pub delays: Vec<DelaySamples>,
}

impl Samples {
    /// Samples a packet of `class` with `length` IP bytes that arrived at `now`.
    pub fn receive(&mut self, now: Time, class: usize, length: u32) {
        if let Some(throughput) = &mut self.throughput {
            throughput.add(now, class, length);
        }
    }
    /// Samples packet `number` of `flow`, of `class`, which was sent after the warm-up and arrived at `now`;
    /// `variation` is its IPDV in picoseconds, if it has one.
    pub fn deliver(
        &mut self,
        now: Time,
        [class, flow]: [usize; 2],
        number: u32,
        packet: &Packet,
        variation: Option<i64>,
    ) {
        let delay = now - packet.sent_at;
        self.receive(now, class, packet.length);
        if let Some(log) = &mut self.packets {
            log.record(flow, number, packet.length, packet.sent_at, delay);
        }
        if let Some(samples) = self.delays.get_mut(class) {
            samples.add(now, delay, variation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_fall_into_the_interval_of_their_arrival() {
        let ms = Time::from_milliseconds;
        let mut samples = DelaySamples::new(ms(1000), ms(1350), ms(100));
        for (arrival, delay, variation) in
            [(1000, 10, None), (1099, 14, Some(4)), (1100, 11, Some(-3)), (1349, 99, Some(88))]
        {
            let variation = variation.map(|ms: i64| ms * 1_000_000_000);
            samples.add(ms(arrival), ms(delay), variation);
        }
        let packets: Vec<u64> = samples.intervals.iter().map(|one| one.packets).collect();
        assert_eq!(packets, [2, 1, 0], "the broken interval from 1.3 s on counts nothing");
        assert_eq!(samples.intervals[0].mean(), 0.012);
        assert_eq!(samples.intervals[1].mean_variation(), -0.003);
    }
}
