//! Three-parameter scheduling: each class has a minimum, a maximum (its shaper) and a share of the excess.

use super::contract::Scheduler;
use super::scfq::Scfq;
use super::share::{Takes, error_in};
use super::tournament::Tournament;
use super::virtual_time::Virtual;
use crate::error::ConfigError;
use crate::policy::ClassConfig;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

const TAKES: Takes = Takes {
    scheduler: "three-parameter",
    shares: &["minimum", "weight"],
    help: "three-parameter accepts the keys minimum (a guaranteed rate) and weight (the share of the rate \
        that is not guaranteed, 1 by default); for a maximum, write a `shape` in the class",
};

/// The scheduler of routers with three parameters for each class. It serves minima first, and then the excess
/// by weight.
///
/// Cisco, "3-Level User-Defined Queuing Policy Support" (IOS XE 16.11): a node has a minimum (`bandwidth`), a
/// maximum (`shape`) and an excess (`bandwidth remaining`). The excess is shared after the minima are
/// satisfied, equally by default. The order of packets is not published. This implementation serves minima by
/// the real-time criterion of H-FSC (Stoica, Zhang, Ng, "A hierarchical fair service curve algorithm for
/// link-sharing, real-time and priority services", SIGCOMM 1997), with straight lines as service curves: it
/// serves the eligible head with the earliest deadline. [`Scfq`] shares the excess.
///
/// Unlike in H-FSC, service by the minimum is not counted when the excess is shared, so a class receives its
/// minimum plus its share of the excess. As in H-FSC, service from the excess does not reduce the service by
/// the minimum.
#[derive(Clone, Debug)]
pub struct ThreeParameter {
    excess: Scfq,
    guarantees: Guarantees,
}

/// The minimum rates of the children, and the times at which these rates serve heads.
#[derive(Clone, Debug)]
struct Guarantees {
    /// The minimum of each child. `None` for a child without a minimum.
    children: Vec<Option<Guarantee>>,
    /// The start times of the heads that are not due yet.
    early: Tournament,
    /// The deadlines of the heads that are due.
    due: Tournament,
    /// The total time for which the clock of the guarantees has been stopped.
    stopped: Virtual,
}

/// The minimum of one child. Times are on the clock of the guarantees, in steps of 2⁻³² ps.
#[derive(Clone, Debug)]
struct Guarantee {
    /// The time of a byte at the minimum rate.
    byte: Virtual,
    /// The time from which on the minimum may serve the child's head.
    start: Virtual,
    /// The length of the child's head, or 0 if it has no head.
    head: u32,
    /// The number of packets in the child.
    waiting: u32,
    /// Whether the minimum may serve the head now.
    is_due: bool,
    /// Whether the child had no head although it contained packets.
    was_held: bool,
}

/// The number of fractional bits of a time in picoseconds.
const FRACTION_BITS: u32 = 32;
/// The longest time by which a guarantee can be late. Service that is missed for a longer time is lost.
///
/// The default burst of policers in routers is rate × 250 ms, so classes of higher priority can use the wire
/// for 250 ms. After this time, every class still receives the guaranteed service that it has missed.
const PATIENCE: Virtual = (PICOSECONDS_PER_SECOND as Virtual / 4) << FRACTION_BITS;

impl ThreeParameter {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<ThreeParameter, ConfigError> {
        let excess = Scfq::build_for(&TAKES, classes)?;
        let guarantee = |(index, class): (usize, &ClassConfig)| match class.share.minimum {
            None => Ok(None),
            Some(minimum) if minimum.as_bits_per_second() > 0 => Ok(Some(Guarantee::at_rate(minimum))),
            Some(_) => Err(error_in(index, "minimum", "a minimum of 0 guarantees nothing").help(
                "write a minimum above 0, for example 300kb/s; without a minimum, the class gets its \
                    share of the rate that is not guaranteed",
            )),
        };
        let children: Vec<_> = classes.iter().enumerate().map(guarantee).collect::<Result<_, _>>()?;
        let (early, due) = (Tournament::new(children.len()), Tournament::new(children.len()));
        Ok(ThreeParameter { excess, guarantees: Guarantees { children, early, due, stopped: 0 } })
    }
}

impl Guarantee {
    fn at_rate(minimum: Rate) -> Guarantee {
        let byte = (Virtual::from(8 * PICOSECONDS_PER_SECOND) << FRACTION_BITS)
            / Virtual::from(minimum.as_bits_per_second());
        Guarantee { byte, start: 0, head: 0, waiting: 0, is_due: false, was_held: false }
    }
    /// Returns the deadline of a head of `length` bytes.
    ///
    /// H-FSC: a head is eligible when the service curve reaches the service that the class has received by
    /// this criterion. Its deadline is the time at which the curve reaches this service plus the length of
    /// the head.
    #[inline]
    fn deadline(&self, length: u32) -> Virtual {
        self.start + Virtual::from(length) * self.byte
    }
}

impl Guarantees {
    /// Returns the time on the clock of the guarantees. The clock stops while a guarantee is late by more
    /// than [`PATIENCE`]. If the wire cannot satisfy all minima, the service is therefore in proportion to
    /// the minima.
    #[inline]
    fn clock(&mut self, now: Time) -> Virtual {
        let clock = self.unchecked_clock(now);
        let latest = self.due.lower_bound() + PATIENCE;
        if clock > latest {
            self.stopped += clock - latest;
        }
        clock.min(latest)
    }
    /// Returns the time on the clock of the guarantees. The result is valid only if no guarantee is now late
    /// by more than [`PATIENCE`].
    #[inline]
    fn unchecked_clock(&self, now: Time) -> Virtual {
        (Virtual::from(now.as_picoseconds()) << FRACTION_BITS) - self.stopped
    }
    #[inline]
    fn enqueued(&mut self, now: Time, index: usize) {
        let Some(guarantee) = &mut self.children[index] else { return };
        guarantee.waiting += 1;
        if guarantee.waiting == 1 {
            self.start_backlog(now, index);
        }
    }
    /// Starts the service curve of child `index`, whose first packet has arrived.
    ///
    /// H-FSC: the curve of a class that becomes backlogged starts now, or at the deadline of its last packet.
    /// If other classes are late, the curve starts at the earliest of their deadlines. Otherwise the class
    /// would have to wait until they have caught up.
    #[inline(never)]
    fn start_backlog(&mut self, now: Time, index: usize) {
        let clock = self.advance(now);
        let earliest = self.due.lower_bound().min(clock);
        let Some(guarantee) = &mut self.children[index] else { return };
        guarantee.start = guarantee.start.max(earliest);
        guarantee.was_held = false;
        if guarantee.head > 0 {
            self.early.set(index, Some(guarantee.start));
        }
    }
    #[inline]
    fn head_changed(&mut self, index: usize, head: u32) {
        let Some(guarantee) = &mut self.children[index] else { return };
        let before = std::mem::replace(&mut guarantee.head, head);
        match (before, head) {
            (_, 0) => self.withdraw(index),
            // `enqueued` starts the backlog period. It can be called before or after this function.
            (0, _) if guarantee.waiting == 0 => {}
            (0, _) => self.early.set(index, Some(guarantee.start)),
            _ if guarantee.is_due => self.due.set(index, Some(guarantee.deadline(head))),
            _ => {}
        }
    }
    /// Records that child `index` has no head.
    fn withdraw(&mut self, index: usize) {
        let Some(guarantee) = &mut self.children[index] else { return };
        (guarantee.head, guarantee.was_held) = (0, guarantee.waiting > 0);
        let from = if guarantee.is_due { &mut self.due } else { &mut self.early };
        guarantee.is_due = false;
        from.set(index, None);
    }
    /// Whether a call of [`advance`](Guarantees::advance) would change nothing.
    #[inline]
    fn is_up_to_date(&self, now: Time) -> bool {
        let clock = self.unchecked_clock(now);
        self.early.lower_bound() > clock && clock <= self.due.lower_bound() + PATIENCE
    }
    /// Moves the heads that have become due to the due heads. Returns the time on the clock of the
    /// guarantees.
    #[inline(never)]
    fn advance(&mut self, now: Time) -> Virtual {
        loop {
            let clock = self.clock(now);
            if self.early.lower_bound() > clock {
                return clock;
            }
            self.make_earliest_due(clock);
        }
    }
    /// Moves the earliest of the early heads to the due heads.
    #[inline]
    fn make_earliest_due(&mut self, clock: Virtual) {
        let Some(index) = self.early.winner() else { return };
        self.early.set(index, None);
        let Some(guarantee) = &mut self.children[index] else { return };
        if std::mem::take(&mut guarantee.was_held) {
            // The child has held its packet back until now, so the head becomes due now and not at its start
            // time.
            guarantee.start = clock;
        }
        guarantee.is_due = true;
        self.due.set(index, Some(guarantee.deadline(guarantee.head)));
    }
    /// Records that child `index` has sent its head of `length` bytes. Returns whether the minimum served
    /// this head.
    #[inline]
    fn dequeued(&mut self, now: Time, index: usize, length: u32, next: u32) -> bool {
        let Some(guarantee) = &mut self.children[index] else { return false };
        guarantee.waiting -= 1;
        let is_due = guarantee.is_due;
        if is_due {
            guarantee.start = guarantee.deadline(length);
        }
        guarantee.head = next;
        if next == 0 {
            self.withdraw(index);
        } else if is_due {
            self.place_head(now, index);
        }
        is_due
    }
    /// Records that the head of child `index` was dropped. The next head becomes due at the time of the
    /// dropped head.
    fn dropped(&mut self, index: usize, next: u32) {
        if let Some(guarantee) = &mut self.children[index] {
            guarantee.waiting -= 1;
            self.head_changed(index, next);
        }
    }
    /// Adds the next head to the due or to the early heads.
    #[inline]
    fn place_head(&mut self, now: Time, index: usize) {
        let clock = self.clock(now);
        let Some(guarantee) = &mut self.children[index] else { return };
        guarantee.is_due = guarantee.start <= clock;
        if guarantee.is_due {
            self.due.set(index, Some(guarantee.deadline(guarantee.head)));
        } else {
            self.due.set(index, None);
            self.early.set(index, Some(guarantee.start));
        }
    }
}

impl ThreeParameter {
    /// Returns the child with the earliest deadline among the due heads. If no head is due, returns the child
    /// that receives the excess.
    #[inline]
    fn winner(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        self.guarantees.due.winner().or_else(|| self.excess.select(now, heads))
    }
    /// Moves the heads that have become due, and selects a child.
    #[inline(never)]
    fn advance(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        self.guarantees.advance(now);
        self.winner(now, heads)
    }
}

impl Scheduler for ThreeParameter {
    #[inline(never)]
    fn enqueued(&mut self, now: Time, index: usize, length: u32) {
        self.excess.enqueued(now, index, length);
        self.guarantees.enqueued(now, index);
    }
    #[inline(never)]
    fn head_changed(&mut self, index: usize, head: u32) {
        self.excess.head_changed(index, head);
        self.guarantees.head_changed(index, head);
    }
    #[inline(never)]
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        if self.guarantees.is_up_to_date(now) { self.winner(now, heads) } else { self.advance(now, heads) }
    }
    #[inline(never)]
    fn dequeued(&mut self, now: Time, index: usize, length: u32, next: u32) {
        // If the head of the selected child was due, the minimum of the child has served it.
        if self.guarantees.dequeued(now, index, length, next) {
            self.excess.sent_uncharged(index, next);
        } else {
            self.excess.dequeued(now, index, length, next);
        }
    }
    fn dropped(&mut self, _: Time, index: usize, _: u32, next: u32) {
        self.guarantees.dropped(index, next);
        self.excess.sent_uncharged(index, next);
    }
    /// Returns true if a child has a minimum, because heads become due with time.
    fn depends_on_time(&self) -> bool {
        self.guarantees.children.iter().any(Option::is_some)
    }
    /// The time before which no head becomes due and no guarantee becomes too late.
    #[inline]
    fn choice_holds_until(&self) -> Time {
        let Guarantees { early, due, stopped, .. } = &self.guarantees;
        let until = early.lower_bound().min(due.lower_bound() + PATIENCE) + stopped;
        Time::from_picoseconds(u64::try_from(until >> FRACTION_BITS).unwrap_or(u64::MAX))
    }
}
