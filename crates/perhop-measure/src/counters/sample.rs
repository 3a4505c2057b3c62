//! What is sampled over time.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::{Color, Packet};
use perhop_qos::port::Port;
use perhop_qos::units::Time;

use super::PacketLog;
use super::delay::DelayStatistics;

/// The queues of one port at fixed intervals, as columns.
#[derive(Clone, Debug, Default)]
pub struct QueueSamples {
    /// Instant of each sample.
    pub time: Vec<Time>,
    /// Queue.
    pub queue: Vec<u32>,
    /// Packets waiting.
    pub packets: Vec<u64>,
    /// IP bytes waiting.
    pub bytes: Vec<u64>,
    /// Drop precedence of `average`, where the buffer manager keeps averages; else 0.
    pub precedence: Vec<u32>,
    /// The buffer manager's average for that precedence in the unit of its thresholds; NaN without one.
    pub average: Vec<f64>,
    /// The average that would decide about a packet of that precedence at this instant: of averages
    /// that are added, the sum; else `average` itself.
    pub deciding_average: Vec<f64>,
}

impl QueueSamples {
    /// Samples every queue of `port`: one row per average, one row for a queue without any.
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

/// What each class received in intervals of equal length.
#[derive(Clone, Debug)]
pub struct ThroughputSamples {
    /// When the first interval begins.
    pub begins: Time,
    /// Length of an interval.
    pub every: Time,
    /// Received in each interval, by class.
    pub received: Vec<Vec<Count>>,
}

impl ThroughputSamples {
    /// Counters of as many whole intervals as fit between `begins` and `ends`, for `classes` classes.
    pub fn new(begins: Time, ends: Time, every: Time, classes: usize) -> ThroughputSamples {
        let intervals = ends.saturating_sub(begins).as_picoseconds() / every.as_picoseconds();
        let received = vec![vec![Count::default(); classes]; intervals as usize];
        ThroughputSamples { begins, every, received }
    }
    /// `class` received a packet of `length` IP bytes at `now`; one in the last, broken interval is not counted.
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
    /// When the first interval begins.
    pub begins: Time,
    /// Length of an interval.
    pub every: Time,
    /// The packets that arrived in each interval.
    pub intervals: Vec<DelayStatistics>,
}

impl DelaySamples {
    /// Nothing measured yet in as many whole intervals as fit between `begins` and `ends`.
    pub fn new(begins: Time, ends: Time, every: Time) -> DelaySamples {
        let count = ends.saturating_sub(begins).as_picoseconds() / every.as_picoseconds();
        DelaySamples { begins, every, intervals: vec![DelayStatistics::default(); count as usize] }
    }
    /// A packet that arrived at `now` took `delay`; `variation` is its IPDV in picoseconds, if it has one.
    /// One in the last, broken interval is not counted.
    pub fn add(&mut self, now: Time, delay: Time, variation: Option<i64>) {
        let interval = now.saturating_sub(self.begins).as_picoseconds() / self.every.as_picoseconds();
        if let Some(statistics) = self.intervals.get_mut(interval as usize) {
            statistics.add(delay, variation);
        }
    }
}

/// What a scenario asks for beyond the counters of what arrives.
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
    /// A packet of `length` IP bytes of `class` arrived at `now`.
    pub fn receive(&mut self, now: Time, class: usize, length: u32) {
        if let Some(throughput) = &mut self.throughput {
            throughput.add(now, class, length);
        }
    }
    /// Packet `number` of `flow`, which is one of `class`, arrived at `now`, sent after the warm-up; `variation`
    /// is its IPDV in picoseconds, if it has one.
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
