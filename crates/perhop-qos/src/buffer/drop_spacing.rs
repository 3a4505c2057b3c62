//! [`DropSpacing`]: how a drop probability becomes drops.
//!
//! With a probability of p they drop 2 p (both uniform rules), p (geometric) and 0.67 p (wait) of the packets
//! in the long run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop_curve::Probability;
use super::fixed_point::multiply_high;
use crate::random::Stream;

/// How early drops are spread over the arrivals. For a constant probability p the number of
/// arrivals from one drop to the next is:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropSpacing {
    /// Uniform on 1 to 1/p, mean (1 + 1/p)/2: p rises to p/(1 − n·p) after n packets kept
    /// (Floyd & Jacobson 1993, method 2).
    #[default]
    Uniform,
    /// Uniform on 1 to 1/p while p is constant, with one random number per drop instead of one per packet:
    /// after n packets kept a packet is dropped if (n + 1)·p reaches R, uniform on 0 to 1 (Linux, after Floyd
    /// & Jacobson 1993, Figure 17).
    UniformPerDrop,
    /// Geometric with mean 1/p: each packet is judged on its own (method 1; assumed of routers that publish
    /// only p).
    Geometric,
    /// As `uniform`, but the packet itself is among those kept: p/(1 − (n + 1)·p) after n packets kept since a
    /// drop, so that gaps are uniform on 1 to 1/p − 1 (Floyd & Jacobson 1993, Figure 2; ns-2 with `wait_
    /// false`).
    CountedFirst,
    /// As `counted-first`, without a guard: once n·p has passed 1 the probability is negative, and nothing is
    /// dropped before the average leaves the range from `min` to `max` or falls within it (dsRED of ns-2, a
    /// defect).
    Unguarded,
    /// Uniform on 1/p to 2/p − 1: no drop while fewer than 1/p packets have passed (ns-2 and ns-3, `wait`).
    Wait,
}

/// What a rule remembers of `N` drop precedences: three take 40 bytes, so that the state of RED fits one
/// cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Counts<const N: usize> {
    next: [u32; N],
    due: [u64; N],
}

const _: () = assert!(size_of::<Counts<3>>() == 40);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Counts<N> {
        Counts { next: [0; N], due: [0; N] }
    }
}

impl<const N: usize> Counts<N> {
    /// The count of precedence `index`, below `N`.
    #[inline]
    pub(super) fn at(&mut self, index: usize) -> SinceDrop<'_> {
        SinceDrop { next: &mut self.next[index], due: &mut self.due[index] }
    }
}

/// What a rule remembers since the last drop, or since the average rose above its minimum threshold.
#[derive(Debug)]
pub(super) struct SinceDrop<'c> {
    /// The number of the next packet, n + 1 where n were kept; without meaning while nothing is counted.
    /// After 2³² packets it is 0 again: that many are kept only where drops are rarer than one in 2³²
    /// packets.
    next: &'c mut u32,
    /// Before (n + 1) · part reaches this, 1 or more, nothing is dropped or drawn; 0 while nothing is
    /// counted.
    due: &'c mut u64,
}

impl SinceDrop<'_> {
    /// Whether no packet came since [`SinceDrop::end_below_min`]: ns-2's `old`, negated.
    #[inline]
    pub(super) fn was_below_min(&self) -> bool {
        (*self.next, *self.due) == (0, 0)
    }
    /// Counts no longer: the average is below its minimum threshold.
    #[inline]
    pub(super) fn end_below_min(&mut self) {
        (*self.next, *self.due) = (0, 0);
    }
    /// Counts anew from the next packet that is tested: this one was dropped above the maximum threshold.
    #[inline]
    pub(super) fn end_above_max(&mut self) {
        (*self.next, *self.due) = (1, 0);
    }
    /// Counts no longer, where nobody asks [`SinceDrop::was_below_min`].
    #[inline]
    pub(super) fn end(&mut self) {
        *self.due = 0;
    }
    /// Keeps a packet whose probability is `part` of the whole if no drop is due, and returns whether it did.
    #[inline]
    pub(super) fn keeps(&mut self, part: u32) -> bool {
        let keeps = u64::from(*self.next) * u64::from(part) < *self.due;
        if keeps {
            self.count();
        }
        keeps
    }
    /// Begins to count where nothing is counted. `whole` is that of the probabilities to come.
    #[inline]
    pub(super) fn begin(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        if *self.due > 0 {
        } else if spacing.counts_the_drop() {
            // No drop came before: the packet that is tested is the first of all.
            (*self.next, *self.due) = (1, 1);
        } else {
            self.restart(spacing, whole, random);
        }
    }
    /// The packet that is tested first is spared, and counts.
    pub(super) fn spare(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        self.begin(spacing, whole, random);
        self.count();
        // ns-2 `queue/red.cc`: `count` is 1 with the packet spared, and 2 with the next.
        if spacing.counts_the_drop() {
            self.count();
        }
    }
    /// Counts anew from the next packet: this one was dropped, but not because it was drawn.
    pub(super) fn end_by_drop(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        if spacing.counts_the_drop() {
            self.restart(spacing, whole, random);
        } else {
            self.end_above_max();
        }
    }
    /// Counts bytes anew: `bytes` have come since a drop (ns-2, `count_bytes`).
    pub(super) fn begin_bytes(&mut self, bytes: u32) {
        (*self.next, *self.due) = (bytes, 1);
    }
    /// `bytes` more have come since a drop: how many in all.
    pub(super) fn count_bytes(&mut self, bytes: u32) -> u32 {
        self.begin_bytes(self.next.saturating_add(bytes));
        *self.next
    }
    /// Whether it counts, and a drop that is due needs no further number ([`DropSpacing::UniformPerDrop`]).
    #[inline]
    pub(super) fn drops_when_due(&self, spacing: DropSpacing) -> bool {
        spacing == DropSpacing::UniformPerDrop && *self.due > 0
    }
    /// Counts from 0 to the next drop of [`DropSpacing::UniformPerDrop`].
    ///
    /// Linux include/net/red.h, `red_action`: R (`qR`) is drawn when counting begins, and anew with each
    /// drop.
    #[inline]
    pub(super) fn draw(&mut self, whole: u64, random: &mut Stream) {
        (*self.next, *self.due) = (1, multiply_high(random.bits(), whole) + 1);
    }
    /// Counts from 0.
    #[inline]
    fn restart(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        let due = match spacing {
            // A drop is possible at once.
            DropSpacing::Uniform | DropSpacing::Geometric => 1,
            DropSpacing::UniformPerDrop => return self.draw(whole, random),
            DropSpacing::Wait => whole,
            // As if one had been kept: the drop itself counts.
            DropSpacing::CountedFirst | DropSpacing::Unguarded => {
                (*self.next, *self.due) = (2, 1);
                return;
            }
        };
        (*self.next, *self.due) = (1, due);
    }
    /// A packet is kept, or not counted as a drop.
    #[inline]
    pub(super) fn count(&mut self) {
        *self.next = self.next.wrapping_add(1);
    }
}

/// A probability for reports as a fraction: 0 or less means never, 1 or more (a denominator up to the
/// numerator) always.
#[derive(Clone, Copy, Debug)]
struct Odds {
    numerator: f64,
    denominator: f64,
}

impl DropSpacing {
    /// Whether a drop counts as a packet kept.
    #[inline]
    fn counts_the_drop(self) -> bool {
        matches!(self, DropSpacing::CountedFirst | DropSpacing::Unguarded)
    }

    /// The probability that a packet is dropped where the average asks for `probability` and `kept` packets
    /// were kept at that probability since the last drop, or since the average rose above its minimum
    /// threshold.
    pub fn probability(self, probability: f64, kept: u32) -> f64 {
        let Odds { numerator, denominator } = self.odds(probability, f64::from(kept));
        if numerator <= 0.0 || (self == DropSpacing::Unguarded && denominator < 0.0) {
            0.0
        } else if numerator >= denominator {
            1.0
        } else {
            numerator / denominator
        }
    }

    /// Whether the packet is dropped; `since` counts it. Draws a number only if the answer is uncertain, or
    /// once per drop.
    ///
    /// [`DropSpacing::probability`] in integers: the number drawn, uniform below 1, times the denominator is
    /// less than the numerator.
    #[expect(clippy::inline_always, reason = "the most of a judgment, which is a function of its own")]
    #[inline(always)]
    pub(super) fn drops(self, probability: Probability, mut since: SinceDrop, random: &mut Stream) -> bool {
        let Probability { part, whole } = probability;
        since.begin(self, whole, random);
        let expected = u64::from(*since.next).saturating_mul(part);
        let mut falls_below =
            |denominator: u64| part >= denominator || multiply_high(random.bits(), denominator) < part;
        let drops = expected >= *since.due
            && match self {
                DropSpacing::Uniform | DropSpacing::CountedFirst => {
                    falls_below((whole + part).saturating_sub(expected))
                }
                // ns-2 `diffserv/dsredq.cc`, enque: `pa = pb/(1.0 - count*pb)`, without a guard: infinite where
                // count · pb is 1, negative from there on.
                DropSpacing::Unguarded => (whole + part).checked_sub(expected).is_some_and(&mut falls_below),
                DropSpacing::UniformPerDrop => true,
                DropSpacing::Geometric => falls_below(whole),
                DropSpacing::Wait => falls_below((2 * whole).saturating_sub(expected)),
            };
        if drops {
            since.restart(self, whole, random);
        } else {
            since.count();
        }
        drops
    }

    /// Whether a packet of `length` bytes is dropped where the count is one of bytes and the length counts
    /// after the spacing; `since` counts it.
    ///
    /// ns-2.35 `queue/red.cc`, `modify_p` with `bytes_`: count is bytes over the mean size, rounded down, and
    /// a probability below 1 is multiplied by the length over the mean.
    #[inline(never)]
    pub(super) fn drops_by_bytes(
        self,
        probability: f64,
        length: u32,
        mean: u32,
        mut since: SinceDrop,
        random: &mut Stream,
    ) -> bool {
        let count = f64::from(since.count_bytes(length) / mean);
        let expected = count * probability;
        let spaced = match self {
            DropSpacing::Wait if expected < 1.0 => 0.0,
            DropSpacing::Wait if expected < 2.0 => probability / (2.0 - expected),
            DropSpacing::CountedFirst if expected < 1.0 => probability / (1.0 - expected),
            _ => 1.0,
        };
        let by_length = spaced * f64::from(length) / f64::from(mean);
        let chance = if spaced < 1.0 { by_length.min(1.0) } else { 1.0 };
        let drops = chance >= 1.0 || (chance > 0.0 && random.uniform() < chance);
        if drops {
            since.begin_bytes(0);
        }
        drops
    }

    #[inline]
    fn odds(self, probability: f64, kept: f64) -> Odds {
        match self {
            // Floyd & Jacobson 1993, section 7: p_b / (1 − count · p_b), where count is the number
            // of unmarked packets that have arrived since the last marked packet.
            DropSpacing::Uniform | DropSpacing::UniformPerDrop => {
                Odds { numerator: probability, denominator: 1.0 - kept * probability }
            }
            // Figure 2: count, incremented first, is 1 for the first packet after a drop.
            DropSpacing::CountedFirst | DropSpacing::Unguarded => {
                Odds { numerator: probability, denominator: 1.0 - (kept + 1.0) * probability }
            }
            DropSpacing::Geometric => Odds { numerator: probability, denominator: 1.0 },
            // ns-2's modify_p counts this packet as well: 0 while count · p < 1, then p / (2 − count · p).
            DropSpacing::Wait => {
                let expected = (kept + 1.0) * probability;
                let numerator = if expected < 1.0 { 0.0 } else { probability };
                Odds { numerator, denominator: 2.0 - expected }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Streams;

    /// What all probabilities of these tests are parts of.
    const WHOLE: u64 = 1 << 62;

    fn of(probability: f64) -> Probability {
        Probability { part: (WHOLE as f64 * probability) as u64, whole: WHOLE }
    }

    /// A rule and its state.
    struct Spacing {
        rule: DropSpacing,
        counts: Counts<1>,
        random: Stream,
    }

    impl Spacing {
        fn new(rule: DropSpacing, seed: u64) -> Spacing {
            Spacing { rule, counts: Counts::default(), random: Streams::new(seed, 0).stream() }
        }
        fn drops(&mut self, probability: Probability) -> bool {
            self.rule.drops(probability, self.counts.at(0), &mut self.random)
        }
        /// [`Spacing::drops`] after `kept` packets.
        fn drops_after(&mut self, kept: u32, probability: Probability) -> bool {
            self.counts.at(0).begin(self.rule, probability.whole, &mut self.random);
            self.counts.next = [kept + 1];
            self.drops(probability)
        }
    }

    #[test]
    fn certain_answers_draw_nothing() {
        use DropSpacing::{Geometric, Uniform, Wait};
        let untouched = Streams::new(1, 0).stream().uniform();
        for (rule, probability, kept, drops) in [
            (Uniform, 0.0, 5, false),
            (Geometric, 1.0, 0, true),
            (Uniform, 1.0, 0, true),
            (Uniform, 0.25, 3, true),
            (Uniform, 0.25, u32::MAX - 1, true),
            (Wait, 0.25, 2, false),
            (Wait, 0.25, 6, true),
        ] {
            let mut spacing = Spacing::new(rule, 1);
            assert_eq!(spacing.drops_after(kept, of(probability)), drops, "{rule:?} {probability} {kept}");
            assert_eq!(spacing.random.uniform(), untouched);
        }
    }

    /// [`DropSpacing::drops`] word for word: the denominator first, with digits for everything.
    fn drops_by_formula(rule: DropSpacing, probability: Probability, kept: u32, random: &mut Stream) -> bool {
        let [numerator, one] = [probability.part, probability.whole].map(i128::from);
        let expected = (i128::from(kept) + 1) * numerator;
        let denominator = match rule {
            DropSpacing::Uniform | DropSpacing::CountedFirst => one - (expected - numerator),
            DropSpacing::Unguarded if expected - numerator > one => return false,
            DropSpacing::Unguarded => one - (expected - numerator),
            DropSpacing::Geometric => one,
            DropSpacing::Wait if expected < one => return false,
            DropSpacing::Wait => 2 * one - expected,
            DropSpacing::UniformPerDrop => unreachable!("it draws for drops and not for packets"),
        };
        if numerator >= denominator {
            return true;
        }
        numerator > 0 && (i128::from(random.bits()) * denominator) >> 64 < numerator
    }

    /// Any part of any whole, also such as come from few digits.
    fn probabilities() -> impl Strategy<Value = Probability> {
        let whole = prop_oneof![1..=WHOLE, Just(WHOLE), 1..1_000_u64];
        let share = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64];
        (whole, share).prop_map(|(whole, share)| Probability {
            part: ((whole as f64 * share) as u64).min(whole),
            whole,
        })
    }

    proptest! {
        /// Near certainty too, where the shorter questions turn.
        #[test]
        fn a_draw_is_as_its_formula_says(
            rule in 0..5usize, kept in prop_oneof![0..200u32, 0..u32::MAX],
            probability in probabilities(),
            place in prop_oneof![Just(None), (-2..=2i128, 1..=2i128).prop_map(Some)], seed in any::<u64>(),
        ) {
            use DropSpacing::{CountedFirst, Geometric, Unguarded, Uniform, Wait};
            let rule = [Uniform, Geometric, Wait, CountedFirst, Unguarded][rule];
            // The probability itself, or one so that about 1 or 2 drops are expected.
            let whole = i128::from(probability.whole);
            let part = place.map_or(probability.part, |(beside, drops)| {
                (drops * whole / i128::from(kept + 1) + beside).clamp(0, whole) as u64
            });
            let probability = Probability { part, ..probability };
            let (mut spacing, mut plain) = (Spacing::new(rule, seed), Streams::new(seed, 0).stream());
            let dropped = spacing.drops_after(kept, probability);
            prop_assert_eq!(dropped, drops_by_formula(rule, probability, kept, &mut plain));
            prop_assert_eq!(spacing.random.bits(), plain.bits());
        }

        /// In integers a draw decides as in floating point, but where it falls on the last digits of the
        /// probability.
        #[test]
        fn a_draw_falls_below_the_probability_that_is_told(
            rule in 0..3usize, exponent in 0.0..20.0f64, kept in 0..2_000u32, seed in any::<u64>(),
        ) {
            let rule = [DropSpacing::Uniform, DropSpacing::Geometric, DropSpacing::Wait][rule];
            let probability = libm::exp2(-exponent);
            let mut spacing = Spacing::new(rule, seed);
            let draw = spacing.random.clone().uniform();
            let dropped = spacing.drops_after(kept, of(probability));
            let told = rule.probability(probability, kept);
            prop_assert!(dropped == (draw < told) || (draw - told).abs() < 1e-11, "{draw} {told} {dropped}");
        }

        /// Whatever the probability becomes, and wherever counting begins anew.
        #[test]
        fn one_number_for_each_drop_decides_as_its_formula_says(
            packets in prop::collection::vec((prop_oneof![Just(0), 0..=WHOLE, 0..1u64 << 58], 0..20u8), 1..400),
            kept in prop_oneof![Just(0), 0..u32::MAX - 400], seed in any::<u64>(),
        ) {
            let rule = DropSpacing::UniformPerDrop;
            let (mut spacing, mut plain) = (Spacing::new(rule, seed), Streams::new(seed, 0).stream());
            let mut draw = || ((i128::from(plain.bits()) * i128::from(WHOLE)) >> 64) + 1;
            spacing.counts.at(0).begin(rule, WHOLE, &mut spacing.random);
            spacing.counts.next = [kept + 1];
            let (mut count, mut drawn) = (i128::from(kept), Some(draw()));
            for (part, event) in packets {
                if event == 0 {
                    spacing.counts.at(0).end();
                    (count, drawn) = (0, None);
                }
                let reached = (count + 1) * i128::from(part) >= *drawn.get_or_insert_with(&mut draw);
                count = if reached { 0 } else { count + 1 };
                if reached {
                    drawn = Some(draw());
                }
                prop_assert_eq!(spacing.drops(Probability { part, whole: WHOLE }), reached);
            }
            prop_assert_eq!(spacing.random.bits(), plain.bits());
        }

        /// With a constant p the drop comes at packet R / p, rounded up: all numbers up to 1 / p are as
        /// likely.
        #[test]
        fn a_number_names_the_packet_that_is_dropped(one_in in 1..2_000u64, seed in any::<u64>()) {
            let mut spacing = Spacing::new(DropSpacing::UniformPerDrop, seed);
            let drawn = multiply_high(spacing.random.clone().bits(), one_in) + 1;
            let mut packets = 1;
            while !spacing.drops(Probability { part: 1, whole: one_in }) {
                packets += 1;
            }
            prop_assert_eq!(packets, drawn);
            prop_assert!(packets <= one_in);
        }

        /// [`SinceDrop::keeps`] keeps what the rule keeps without a random number.
        #[test]
        fn what_is_kept_at_once_is_kept_at_length(
            rule in 0..6usize, packets in prop::collection::vec((0..=u32::MAX, 0..20u8), 1..200),
            digits in 32..50u32, seed in any::<u64>(),
        ) {
            use DropSpacing::{CountedFirst, Geometric, Unguarded, Uniform, UniformPerDrop, Wait};
            let rule = [Uniform, UniformPerDrop, Geometric, Wait, CountedFirst, Unguarded][rule];
            let (mut short, mut plain) = (Spacing::new(rule, seed), Spacing::new(rule, seed));
            for (part, event) in packets {
                if event == 0 {
                    short.counts.at(0).end();
                    plain.counts.at(0).end();
                }
                let probability = Probability { part: part.into(), whole: 1 << digits };
                let dropped = plain.drops(probability);
                let kept_at_once = short.counts.at(0).keeps(part);
                prop_assert_eq!(!kept_at_once && short.drops(probability), dropped);
                prop_assert_eq!(short.random.clone().bits(), plain.random.clone().bits());
            }
        }
    }
}
