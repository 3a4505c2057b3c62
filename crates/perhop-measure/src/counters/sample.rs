//! Samples over time.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::{Color, Packet};
use perhop_qos::port::{Peak, Port};
use perhop_qos::units::Time;

use super::DelayStatistics;

/// A sample of one queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueSample {
    /// Time of the sample.
    pub time: Time,
    /// Index of the queue.
    pub queue: u32,
    /// Packets in the queue.
    pub packets: u64,
    /// IP bytes in the queue.
    pub bytes: u64,
    /// The largest content of the queue since the previous sample.
    pub most: Peak,
    /// The drop precedence of `average`; 0 if the buffer manager has no averages.
    pub precedence: u32,
    /// The average of the buffer manager for `precedence`, in the unit of its thresholds; NaN if the buffer
    /// manager has no average.
    pub average: f64,
    /// The average that the buffer manager compares with its thresholds for packets of `precedence`. Some
    /// buffer managers add several averages. For all others, this value equals `average`.
    pub deciding_average: f64,
}

impl QueueSample {
    /// Adds a sample of every queue of `port` to `samples`. A queue has one row for each average, or one row
    /// if it has no average. `most` is the largest content of each queue since the previous sample.
    pub fn take(port: &Port, most: &[Peak], time: Time, samples: &mut Vec<QueueSample>) {
        let queues = port.queues().iter().zip(port.buffers()).zip(most);
        for (index, ((queue, buffer), most)) in queues.enumerate() {
            let (averages, occupancy) = (buffer.averages(), queue.occupancy());
            let most = most.with(occupancy);
            let rows = averages.iter().copied().chain(averages.is_empty().then_some(f64::NAN));
            samples.extend(rows.enumerate().map(|(precedence, average)| QueueSample {
                time,
                queue: index as u32,
                packets: occupancy.packets,
                bytes: occupancy.bytes,
                most,
                precedence: precedence as u32,
                average,
                deciding_average:
                    buffer.deciding_average(Color::new(precedence), occupancy).unwrap_or(f64::NAN),
            }));
        }
    }
}

/// Counts in consecutive intervals of equal length.
#[derive(Clone, Debug)]
pub struct Intervals<T> {
    /// Start of the first interval.
    begins: Time,
    /// Length of an interval.
    pub every: Time,
    counted: Vec<T>,
}

impl<T: Clone> Intervals<T> {
    /// Creates counts for the complete intervals between `begins` and `ends`. Each count starts as `nothing`.
    pub fn new(begins: Time, ends: Time, every: Time, nothing: T) -> Intervals<T> {
        let count = ends.saturating_sub(begins).as_picoseconds() / every.as_picoseconds();
        Intervals { begins, every, counted: vec![nothing; count as usize] }
    }
    /// Returns the count of the interval that contains `now`; `None` after the last complete interval.
    fn at(&mut self, now: Time) -> Option<&mut T> {
        let interval = now.saturating_sub(self.begins).as_picoseconds() / self.every.as_picoseconds();
        self.counted.get_mut(interval as usize)
    }
    /// Adds the counts of another part of a network in the same intervals. `add` adds two counts.
    pub(crate) fn merge(&mut self, part: Intervals<T>, add: impl Fn(&mut T, T)) {
        self.counted.iter_mut().zip(part.counted).for_each(|(own, part)| add(own, part));
    }
    /// Returns the end and the count of each interval.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &T)> {
        (1..).zip(&self.counted).map(|(number, counted)| (self.begins + self.every * number, counted))
    }
}

/// The delivered packets of some flows.
#[derive(Clone, Debug, Default)]
pub struct PacketLog {
    /// Whether the packets of a flow are logged, by index of the flow.
    pub kept: Vec<bool>,
    /// The packets.
    pub packets: Vec<LoggedPacket>,
}

/// A delivered packet.
#[derive(Clone, Copy, Debug)]
pub struct LoggedPacket {
    /// Index of the flow.
    pub flow: u32,
    /// The number of the packet in its flow, from 0. The numbers of packets that did not arrive are missing.
    pub number: u32,
    /// The time at which the packet was sent.
    pub sent: Time,
    /// Length of the IP packet, bytes.
    pub bytes: u32,
    /// One-way delay.
    pub delay: Time,
}

/// Measurements that a scenario requests in addition to the counters.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Received packets of each class in each interval.
    pub throughput: Option<Intervals<Vec<Count>>>,
    /// Dropped packets of each class in the intervals of `throughput`; `None` in live runs, which do not
    /// record the times of drops.
    pub drops: Option<Intervals<Vec<u64>>>,
    /// The log of individual packets.
    pub packets: Option<PacketLog>,
    /// Packets of calls and games, which are evaluated at the end of the replication.
    pub application_packets: Option<PacketLog>,
    /// Delays of each class in each interval. The list is empty if delays are not sampled.
    pub delays: Vec<Intervals<DelayStatistics>>,
}

impl Samples {
    /// Samples a packet of `class` with `length` IP bytes that arrived at `now`.
    pub fn receive(&mut self, now: Time, class: usize, length: u32) {
        if let Some(counts) = self.throughput.as_mut().and_then(|throughput| throughput.at(now)) {
            counts[class].add(length);
        }
    }
    /// Samples a packet of `class` that was dropped at `now`.
    pub fn drop_packet(&mut self, now: Time, class: usize) {
        if let Some(counts) = self.drops.as_mut().and_then(|drops| drops.at(now)) {
            counts[class] += 1;
        }
    }
    /// Samples packet `number` of `flow` in `class`. The packet was sent after the warm-up and arrived at
    /// `now`. `variation` is the IPDV of the packet in picoseconds, if it has one.
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
        for log in [&mut self.packets, &mut self.application_packets].into_iter().flatten() {
            if log.kept.get(flow) == Some(&true) {
                let (flow, sent, bytes) = (flow as u32, packet.sent_at, packet.length);
                log.packets.push(LoggedPacket { flow, number, sent, bytes, delay });
            }
        }
        if let Some(statistics) = self.delays.get_mut(class).and_then(|delays| delays.at(now)) {
            statistics.add(delay, variation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_fall_into_the_interval_of_their_arrival() {
        let ms = Time::from_milliseconds;
        let mut samples = Intervals::new(ms(1000), ms(1350), ms(100), DelayStatistics::default());
        for (arrival, delay, variation) in
            [(1000, 10, None), (1099, 14, Some(4)), (1100, 11, Some(-3)), (1349, 99, Some(88))]
        {
            let variation = variation.map(|ms: i64| ms * 1_000_000_000);
            if let Some(interval) = samples.at(ms(arrival)) {
                interval.add(ms(delay), variation);
            }
        }
        let packets: Vec<u64> = samples.iter().map(|(_, sample)| sample.packets).collect();
        assert_eq!(packets, [2, 1, 0], "the incomplete interval from 1.3 s on counts nothing");
        assert_eq!(samples.counted[0].mean(), 0.012);
        assert_eq!(samples.counted[1].mean_variation(), -0.003);
    }

    #[test]
    fn a_delivered_packet_is_in_every_sample_of_its_flow_and_class() {
        let ms = Time::from_milliseconds;
        let intervals = |nothing| Intervals::new(Time::ZERO, ms(200), ms(100), nothing);
        let delays = Intervals::new(Time::ZERO, ms(200), ms(100), DelayStatistics::default());
        let mut samples = Samples {
            throughput: Some(intervals(vec![Count::default(); 2])),
            drops: None,
            packets: Some(PacketLog { kept: vec![false, true], packets: Vec::new() }),
            application_packets: None,
            delays: vec![delays.clone(), delays],
        };
        let packet = Packet { length: 500, sent_at: ms(110), ..Packet::default() };
        samples.deliver(ms(150), [1, 1], 7, &packet, None);
        samples.deliver(ms(160), [1, 0], 8, &packet, None);
        let counted = &samples.throughput.as_ref().unwrap().counted;
        assert_eq!(counted[1], [Count::default(), Count { packets: 2, bytes: 1000 }]);
        assert_eq!(counted[0], [Count::default(); 2]);
        let log = &samples.packets.as_ref().unwrap().packets;
        let logged: Vec<_> =
            log.iter().map(|entry| (entry.flow, entry.number, entry.bytes, entry.delay)).collect();
        assert_eq!(logged, [(1, 7, 500, ms(40))], "the other flow is not logged");
        assert_eq!(samples.delays[1].counted[1].mean(), 0.045);
        assert_eq!(samples.delays[0].counted[1].packets, 0);
    }
}
