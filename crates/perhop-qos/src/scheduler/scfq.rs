//! Self-clocked fair queueing (Golestani, INFOCOM 1994).

use super::contract::Scheduler;
use super::share::Takes;
use super::tournament::Tournament;
use super::virtual_time::{Virtual, Weight};
use crate::policy::ClassConfig;
use crate::{ConfigError, Time};

const TAKES: Takes = Takes {
    scheduler: "scfq",
    shares: &["weight", "bandwidth"],
    help: "scfq accepts the key weight (1 by default) or the key bandwidth; shares are proportional to the \
        weights",
};

/// Self-clocked fair queueing: serves the head with the lowest finish tag. The tag of the packet in service
/// is the virtual time.
///
/// Only heads have tags. If a packet has waited behind another one, its finish tag is the finish tag of that
/// packet plus length / φ. The virtual time at its arrival is not needed: it is the tag of a packet that was
/// served before that packet, so it is not larger. An idle scheduler need not be reset: all tags are at or
/// below the virtual time, so all children start a new busy period with the same value.
#[derive(Clone, Debug)]
pub struct Scfq {
    children: Vec<Child>,
    /// The finish tags of the heads.
    heads: Tournament,
    /// The finish tag of the packet in service, or of the packet that was served last.
    virtual_time: Virtual,
}

#[derive(Clone, Debug)]
struct Child {
    weight: Weight,
    /// The start tag of the child's head: the finish tag of the previous packet, or the virtual time at which
    /// the child became backlogged.
    start: Virtual,
    /// The length of the child's head, or 0 if it has no head.
    head: u32,
    /// The number of packets of the child.
    waiting: u32,
}

impl Scfq {
    pub(super) fn build(classes: &[ClassConfig]) -> Result<Scfq, ConfigError> {
        Scfq::build_for(&TAKES, classes)
    }
    /// Builds this scheduler for the scheduler that `takes` describes.
    pub(super) fn build_for(takes: &Takes, classes: &[ClassConfig]) -> Result<Scfq, ConfigError> {
        if classes.len() > Tournament::MOST_PLAYERS {
            let message = format!("{} classes are too many for one {}", classes.len(), takes.scheduler);
            let help = format!("at most {}; classes may have classes of their own", Tournament::MOST_PLAYERS);
            return Err(ConfigError::new("classes", message).help(help));
        }
        let child = |weight| Child { weight, start: 0, head: 0, waiting: 0 };
        let heads = Tournament::new(classes.len());
        Ok(Scfq {
            children: takes.weights(classes)?.into_iter().map(child).collect(),
            heads,
            virtual_time: 0,
        })
    }
    /// Records that the head of child `index` has left and is not charged. The next packet has the start tag
    /// of that head.
    #[expect(clippy::inline_always, reason = "as short as a call")]
    #[inline(always)]
    pub(super) fn sent_uncharged(&mut self, index: usize, next: u32) {
        let child = &mut self.children[index];
        child.head = next;
        child.waiting -= 1;
        self.heads.set(index, child.tag());
    }
}

impl Child {
    #[inline]
    fn finish(&self, length: u32) -> Virtual {
        self.start + self.weight.span(length)
    }
    /// Returns the finish tag of the child's head, or `None` if the child has no head.
    #[inline]
    fn tag(&self) -> Option<Virtual> {
        (self.head > 0).then(|| self.finish(self.head))
    }
}

#[allow(clippy::inline_always)] // two schedulers call them, so the compiler does not inline them by itself
impl Scheduler for Scfq {
    #[inline(always)]
    fn enqueued(&mut self, _: Time, index: usize, _: u32) {
        let child = &mut self.children[index];
        child.waiting += 1;
        if child.waiting == 1 {
            // Golestani 1994: F_i^k = max(F_i^{k-1}, v(a_i^k)) + L_i^k / r_i
            child.start = child.start.max(self.virtual_time);
            if child.head > 0 {
                self.heads.set(index, child.tag());
            }
        }
    }
    #[inline(always)]
    fn head_changed(&mut self, index: usize, head: u32) {
        let child = &mut self.children[index];
        child.head = head;
        self.heads.set(index, child.tag());
    }
    #[inline(always)]
    fn select(&mut self, _: Time, _: &[u32]) -> Option<usize> {
        self.heads.winner()
    }
    #[inline(always)]
    fn dequeued(&mut self, _: Time, index: usize, length: u32, next: u32) {
        let child = &mut self.children[index];
        child.start = child.finish(length);
        child.head = next;
        child.waiting -= 1;
        self.virtual_time = child.start;
        self.heads.set(index, child.tag());
    }
    /// The next packet has the start tag of the dropped packet.
    fn dropped(&mut self, _: Time, index: usize, _: u32, next: u32) {
        self.sent_uncharged(index, next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheduler::ShareConfig;

    /// A simple implementation that reads the tags of all heads for each choice.
    struct Plain {
        weights: Vec<Weight>,
        start: Vec<Virtual>,
        waiting: Vec<u32>,
        heads: Vec<u32>,
        virtual_time: Virtual,
    }

    impl Plain {
        fn finish(&self, child: usize, length: u32) -> Virtual {
            self.start[child] + self.weights[child].span(length)
        }
        fn enqueued(&mut self, child: usize) {
            if self.waiting[child] == 0 {
                self.start[child] = self.start[child].max(self.virtual_time);
            }
            self.waiting[child] += 1;
        }
        fn select(&self) -> Option<usize> {
            let sending = (0..self.heads.len()).filter(|child| self.heads[*child] > 0);
            sending.min_by_key(|child| self.finish(*child, self.heads[*child]))
        }
        fn dequeued(&mut self, child: usize, length: u32) {
            self.start[child] = self.finish(child, length);
            self.waiting[child] -= 1;
            self.virtual_time = self.start[child];
        }
    }

    proptest! {
        #[test]
        fn the_tournament_agrees_with_a_linear_search(
            weights in prop::collection::vec(1u32..5, 1..20),
            // There are only a few different lengths, so that tags are often equal.
            steps in prop::collection::vec((0u32..6, 0usize..20, 1u32..4), 1..400),
        ) {
            let class = |weight: &u32| ClassConfig {
                share: ShareConfig { weight: Some(f64::from(*weight)), ..ShareConfig::default() },
                ..ClassConfig::default()
            };
            let classes: Vec<ClassConfig> = weights.iter().map(class).collect();
            let mut scfq = Scfq::build(&classes).unwrap();
            let count = classes.len();
            let weights = scfq.children.iter().map(|child| child.weight).collect();
            let (start, waiting, heads) = (vec![0; count], vec![0; count], vec![0; count]);
            let mut plain = Plain { weights, start, waiting, heads, virtual_time: 0 };
            for (step, child, length) in steps {
                let (child, length, now) = (child % count, 500 * length, Time::ZERO);
                match (step, scfq.select(now, &[])) {
                    (0..=2, _) => {
                        scfq.enqueued(now, child, length);
                        plain.enqueued(child);
                        if plain.heads[child] == 0 {
                            scfq.head_changed(child, length);
                            plain.heads[child] = length;
                        }
                    }
                    // If the child has a head, it holds the head back. Otherwise it offers one.
                    (3, _) if plain.waiting[child] > 0 => {
                        plain.heads[child] = if plain.heads[child] == 0 { length } else { 0 };
                        scfq.head_changed(child, plain.heads[child]);
                    }
                    (_, Some(chosen)) => {
                        let head = plain.heads[chosen];
                        let next = if plain.waiting[chosen] > 1 { length } else { 0 };
                        scfq.dequeued(now, chosen, head, next);
                        plain.dequeued(chosen, head);
                        plain.heads[chosen] = next;
                    }
                    _ => {}
                }
                prop_assert_eq!(scfq.select(now, &[]), plain.select());
            }
        }
    }

    #[test]
    fn too_many_classes_are_refused() {
        let classes = vec![ClassConfig::default(); Tournament::MOST_PLAYERS + 1];
        let error = Scfq::build(&classes).unwrap_err();
        assert!(error.message.contains("4097 classes") && error.help.is_some(), "{error}");
        assert!(Scfq::build(&classes[1..]).is_ok());
    }
}
