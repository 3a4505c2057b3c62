//! Strict priority, non-preemptive, with an optional cap on the priority traffic of a class.

use super::config::CapConfig;
use super::contract::Scheduler;
use super::ranks::Ranks;
use super::share::{Takes, error_in};
use crate::meter::bucket::RatedBucket;
use crate::policy::ClassConfig;
use crate::{ConfigError, Time};

const TAKES: Takes = Takes {
    scheduler: "strict priority",
    shares: &["level", "cap"],
    help: "strict priority accepts the keys level (0 is served first) and cap",
};

/// Strict priority: of the children that have a head, the child with the lowest level is served.
///
/// A child with a cap has its priority while a token bucket with the rate and the burst of the cap covers its
/// head. Above the cap, it is served only if no child within its cap has a packet, and it is not charged. The
/// cap therefore limits the rate that other children lose to this child, and not the rate of this child. RFC
/// 2598 §2 requires such a limit if a priority queue serves EF.
#[derive(Clone, Debug)]
pub struct Priority {
    /// The children in the order of their levels.
    order: Vec<u16>,
    /// The position of each child in the order of levels.
    ranks: Vec<u16>,
    /// The positions of the children that have a head.
    waiting: Ranks,
    /// The cap of each child, up to the last child that has one. Most schedulers have none.
    caps: Vec<Option<RatedBucket>>,
}

impl Priority {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Priority, ConfigError> {
        TAKES.check(classes)?;
        let levels = levels(classes)?;
        let build = |(index, class): (usize, &ClassConfig)| {
            let cap = class.share.cap.map(|cap| cap.build()).transpose();
            cap.map_err(|error| error.within("cap").within("share").within(index).within("classes"))
        };
        let mut caps: Vec<Option<RatedBucket>> =
            classes.iter().enumerate().map(build).collect::<Result<_, _>>()?;
        caps.truncate(caps.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        let mut order: Vec<u16> = (0..classes.len() as u16).collect();
        order.sort_by_key(|child| levels[usize::from(*child)]);
        let mut ranks = vec![0; order.len()];
        for (rank, child) in order.iter().enumerate() {
            ranks[usize::from(*child)] = rank as u16;
        }
        Ok(Priority { waiting: Ranks::none_of(order.len()), order, ranks, caps })
    }
}

/// The level of each class. Either all classes have different configured levels, or no class has a configured
/// level.
fn levels(classes: &[ClassConfig]) -> Result<Vec<u16>, ConfigError> {
    if classes.iter().all(|class| class.share.level.is_none()) {
        return Ok((0..classes.len() as u16).collect());
    }
    let mut levels = Vec::with_capacity(classes.len());
    for (index, class) in classes.iter().enumerate() {
        let Some(level) = class.share.level else {
            return Err(error_in(
                index,
                "",
                "the class has no level, but other classes of the scheduler have one",
            )
            .help("write a level in every class (0 is served first), or in none for their order"));
        };
        if levels.contains(&level) {
            return Err(error_in(index, "level", format!("level {level} is taken by an earlier class"))
                .help("put classes of equal priority into one class with an inner scheduler"));
        }
        levels.push(level);
    }
    Ok(levels)
}

impl CapConfig {
    fn build(&self) -> Result<RatedBucket, ConfigError> {
        if self.rate.as_bits_per_second() == 0 {
            return Err(ConfigError::new("rate", "a cap of 0 leaves no priority")
                .help("write a rate above 0, for example 300kb/s"));
        }
        if self.burst.as_bytes() == 0 {
            return Err(ConfigError::new("burst", "a burst of 0 covers no packet")
                .help("at least the longest packet, for example 1500B"));
        }
        Ok(RatedBucket::full(self.rate, self.burst))
    }
}

impl Priority {
    /// Selects the first child that has a head and whose cap covers it. If there is no such child, selects
    /// the first child that has a head.
    #[inline(never)]
    fn select_entitled(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        let caps = &mut self.caps;
        let mut is_entitled = |child: usize| match caps.get_mut(child) {
            Some(Some(cap)) => cap.has_tokens_for(now, heads[child]),
            _ => true,
        };
        let mut waiting = self.waiting.iter().map(|rank| usize::from(self.order[rank]));
        let first = waiting.next()?;
        if is_entitled(first) {
            Some(first)
        } else {
            waiting.find(|child| is_entitled(*child)).or(Some(first))
        }
    }
    /// Charges a packet to the cap of `child`, if it has one.
    #[inline(never)]
    fn charge(&mut self, now: Time, child: usize, length: u32) {
        if let Some(Some(cap)) = self.caps.get_mut(child) {
            // If the tokens do not cover the packet, it was sent without priority and no tokens are spent.
            cap.take(now, length);
        }
    }
}

impl Scheduler for Priority {
    #[inline]
    fn enqueued(&mut self, _: Time, _: usize, _: u32) {}
    #[inline]
    fn head_changed(&mut self, child: usize, head: u32) {
        self.waiting.set(usize::from(self.ranks[child]), head > 0);
    }
    #[inline]
    fn select(&mut self, now: Time, heads: &[u32]) -> Option<usize> {
        if !self.caps.is_empty() {
            return self.select_entitled(now, heads);
        }
        self.waiting.first().map(|rank| usize::from(self.order[rank]))
    }
    #[inline]
    fn dequeued(&mut self, now: Time, child: usize, length: u32, next: u32) {
        self.head_changed(child, next);
        if !self.caps.is_empty() {
            self.charge(now, child, length);
        }
    }
    fn dropped(&mut self, _: Time, child: usize, _: u32, next: u32) {
        self.head_changed(child, next);
    }
    /// Returns false, because the scheduler needs only the heads.
    fn counts_arrivals(&self) -> bool {
        false
    }
    /// Returns true if a class has a cap, because the tokens of a cap grow with time.
    fn depends_on_time(&self) -> bool {
        !self.caps.is_empty()
    }
}
