//! [`Peaks`]: the largest backlogs of the queues of a port.

use crate::Time;
use crate::queue::{Occupancy, Queue, QueueId};

/// The largest backlog of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// The number of packets.
    pub packets: u64,
    /// The number of IP bytes.
    pub bytes: u64,
}

impl Peak {
    /// The larger values of this peak and of a queue's occupancy.
    #[must_use]
    pub fn with(self, occupancy: &Occupancy) -> Peak {
        self.or(Peak { packets: occupancy.packets, bytes: occupancy.bytes })
    }
    /// The larger values of both peaks.
    #[must_use]
    pub fn or(self, other: Peak) -> Peak {
        Peak { packets: self.packets.max(other.packets), bytes: self.bytes.max(other.bytes) }
    }
}

/// The peaks of all queues of a port.
///
/// A backlog counts only if it lasts for some time. A packet that joins and leaves its queue at the same
/// instant does not count. The peaks therefore do not depend on the order of simultaneous events, or on
/// whether such a packet joins its queue at all.
#[derive(Clone, Debug)]
pub(super) struct Peaks(Vec<Watched>);

#[derive(Clone, Copy, Debug)]
struct Watched {
    peak: Peak,
    /// The time of the last recording of the queue.
    changed: Time,
}

impl Peaks {
    pub(super) fn new(now: Time, queues: usize) -> Peaks {
        Peaks(vec![Watched { peak: Peak::default(), changed: now }; queues])
    }

    /// Records the backlog of queue `id` before a change at `now`.
    #[cold]
    pub(super) fn record(&mut self, now: Time, id: QueueId, queues: &[Queue]) {
        self.0[id.index()].record(now, queues[id.index()].occupancy());
    }

    /// Returns the peaks since the last call.
    pub(super) fn take(&mut self, now: Time, queues: &[Queue]) -> Vec<Peak> {
        let taken = |(watched, queue): (&mut Watched, &Queue)| {
            watched.record(now, queue.occupancy());
            std::mem::take(&mut watched.peak)
        };
        self.0.iter_mut().zip(queues).map(taken).collect()
    }
}

impl Watched {
    fn record(&mut self, now: Time, occupancy: &Occupancy) {
        if now > self.changed {
            self.peak = self.peak.with(occupancy);
            self.changed = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    const QUEUE: QueueId = QueueId(0);

    fn ms(milliseconds: u64) -> Time {
        Time::from_milliseconds(milliseconds)
    }

    #[test]
    fn only_packets_that_wait_count() {
        let packet = Packet { length: 100, ..Packet::default() };
        let mut queues = vec![Queue::default()];
        let mut peaks = Peaks::new(ms(0), 1);
        for _ in 0..3 {
            peaks.record(ms(1), QUEUE, &queues);
            queues[0].push(packet);
        }
        peaks.record(ms(1), QUEUE, &queues);
        queues[0].pop();
        peaks.record(ms(2), QUEUE, &queues);
        queues[0].pop();
        let peak = |packets| Peak { packets, bytes: 100 * packets };
        assert_eq!(peaks.take(ms(3), &queues), [peak(2)], "the third packet had not waited");
        peaks.record(ms(3), QUEUE, &queues);
        queues[0].pop();
        assert_eq!(peaks.take(ms(4), &queues), [peak(0)], "a peak that ended with the last interval");
        queues[0].push(packet);
        assert_eq!(peaks.take(ms(9), &queues), [peak(1)], "a peak that lasts to the end");
    }
}
