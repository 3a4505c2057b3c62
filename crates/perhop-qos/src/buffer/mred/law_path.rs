//! The steps of multi-level RED that only some laws have: the times of samples and idle periods, the test of
//! the limit, and the state of packets that joined or were dropped. The threshold tests are in `mred.rs`.

use super::moving_average::QueueAverage;
use super::rules::{IdleBegins, LimitTest, Overflow};
use super::{Mred, TestOn, TestState};
use crate::queue::Occupancy;
use crate::{Color, DropCause, Packet, Time, Verdict};

impl Mred {
    #[inline(never)]
    pub(super) fn admit_by_law(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        queue: &Occupancy,
    ) -> Verdict {
        let index = self.profile.index(precedence);
        // ns-2 `diffserv/dsredq.cc`, enque: the limit is tested first.
        if self.profile.limit_test == LimitTest::First && !self.profile.fits_by_law(index, packet, queue) {
            return Verdict::Drop(DropCause::QueueFull);
        }
        if self.cold.all_sent <= now {
            let since = std::mem::replace(&mut self.cold.all_sent, QueueAverage::NOT_IDLE);
            for average in &mut self.cold.averages {
                average.idle_since = since;
            }
        }
        let average = if self.profile.is_blind_to_last && index == self.profile.last {
            self.deciding_level(index, queue)
        } else {
            self.update_by_law(index, queue, |average, held, averaging| {
                average.arrival_by_law(now, held, averaging);
            })
        };
        let verdict = self.decide(now, index, average, packet, queue);
        if matches!(verdict, Verdict::Drop(_)) {
            return verdict;
        }
        if !self.profile.fits_by_law(index, packet, queue) {
            self.overflows(index);
            return Verdict::Drop(DropCause::QueueFull);
        }
        self.joins(index, packet);
        verdict
    }

    /// Records that a packet of precedence `index` exceeded the limit, although RED would have kept it.
    fn overflows(&mut self, index: usize) {
        let restarts = match self.profile.overflow {
            Overflow::CountsAsKept => false,
            Overflow::Restarts => true,
            Overflow::RestartsButLast => index < self.profile.last,
        };
        if !restarts {
            return;
        }
        let TestState { profile, curves, mut since, random } = self.state(TestOn::Deciding, index);
        if profile.sparing.spares_short_queues() && since.was_below_min() {
            // ns-2: `old` stays 0, and the next packet between the thresholds is not dropped.
        } else if profile.counts_bytes.is_some() {
            since.begin_bytes(0);
        } else {
            since.end_by_drop(profile.spacing, curves.whole(index), random);
        }
    }

    /// Records that `packet`, of precedence `index`, joins the queue.
    fn joins(&mut self, index: usize, packet: &Packet) {
        match self.profile.averaging.idle.begins {
            IdleBegins::QueueEmpty => {}
            IdleBegins::LinkFree => self.cold.last_length = packet.length,
            // dsRED `updateIdleFlag`: the flag is cleared when a packet is queued.
            IdleBegins::PrecedenceGone => self.cold.averages[0].idle_since = QueueAverage::NOT_IDLE,
            IdleBegins::AllSent => {
                self.cold.last_length = packet.length;
                // `deque` clears `idle_` for each packet, and `in_idle_` for each packet with the precedence
                // *in* of RIO.
                for average in &mut self.cold.averages[index..] {
                    average.idle_since = QueueAverage::NOT_IDLE;
                }
                self.cold.all_sent = QueueAverage::NOT_IDLE;
            }
        }
    }

    /// Records that the last queued packet of precedence `index` has left.
    #[inline(never)]
    pub(super) fn depart_by_law(&mut self, now: Time, index: usize, queue: &Occupancy) {
        let idle_from = self.profile.averaging.idle_from(now, self.cold.last_length);
        if self.profile.averaging.idle.begins == IdleBegins::AllSent {
            if queue.packets == 0 {
                self.cold.all_sent = idle_from;
            }
            return;
        }
        self.update_by_law(index, queue, |average, held, averaging| {
            average.departure_by_law(idle_from, held, averaging);
        });
        let profile = &*self.profile;
        if let Some(own) = &mut self.cold.own {
            let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
            own.averages[index].departure(now, held, &profile.averaging);
        }
    }
}
