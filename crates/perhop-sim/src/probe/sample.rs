//! What is sampled over time.

use perhop_qos::conditioner::Count;
use perhop_qos::port::Port;
use perhop_qos::units::Time;

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
            }
        }
    }
}

/// What each class received in intervals of equal length.
#[derive(Clone, Debug, Default)]
pub struct ThroughputSamples {
    /// End of each interval.
    pub ends: Vec<Time>,
    /// Received in each interval, by class.
    pub received: Vec<Vec<Count>>,
}

impl ThroughputSamples {
    /// An interval ends; the classes received `totals` since the start of the run.
    pub fn sample(&mut self, now: Time, totals: Vec<Count>) {
        self.ends.push(now);
        self.received.push(totals);
    }
}
