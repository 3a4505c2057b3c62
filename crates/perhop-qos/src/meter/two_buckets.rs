//! [`Buckets`]: the state of the three color markers of RFC 2697, 2698 and 4115. It consists of a committed
//! bucket and an excess bucket.

use std::sync::Arc;

use super::bucket::{BucketProfile, ByWidth, Clock, Level, Word};
use super::contract::ColorMode;
use crate::units::{ByteSize, Rate, Time};

/// Two buckets with the narrowest words that are exact.
pub(super) type TwoBuckets = ByWidth<Buckets<u64>, Buckets<u128>>;

/// The state of a meter, and the constants that all meters of its configuration share.
#[derive(Clone, Debug)]
pub(super) struct Buckets<W> {
    pub(super) profile: Arc<Profile<W>>,
    pub(super) clock: Clock,
    pub(super) committed: Level<W>,
    pub(super) excess: Level<W>,
}

/// The constants of a meter: the profiles of both buckets, and the mode.
#[derive(Debug)]
pub(super) struct Profile<W> {
    pub(super) committed: BucketProfile<W>,
    pub(super) excess: BucketProfile<W>,
    /// The time after which two empty buckets are full.
    pub(super) longest: Time,
    pub(super) mode: ColorMode,
}

/// The use of tokens that arrive while the committed bucket is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surplus {
    /// The tokens are lost. Both buckets are filled at the same time, each at its own rate.
    Lost,
    /// The tokens go to the excess bucket. It is filled after the committed bucket, at the same rate.
    Spills,
}

impl TwoBuckets {
    /// Builds both buckets full, each from a rate and a burst.
    pub(super) fn full(
        committed: (Rate, ByteSize),
        excess: (Rate, ByteSize),
        surplus: Surplus,
        mode: ColorMode,
    ) -> TwoBuckets {
        let narrow = Buckets::<u64>::full(committed, excess, surplus, mode);
        let is_exact = narrow.profile.is_exact(surplus);
        ByWidth::choose(narrow, is_exact, || Buckets::full(committed, excess, surplus, mode))
    }
}

impl<W: Word> Buckets<W> {
    fn full(
        committed: (Rate, ByteSize),
        excess: (Rate, ByteSize),
        surplus: Surplus,
        mode: ColorMode,
    ) -> Buckets<W> {
        let committed = BucketProfile::new(committed.0, committed.1);
        let excess = BucketProfile::new(excess.0, excess.1);
        let longest = match surplus {
            Surplus::Lost => committed.fills_in().max(excess.fills_in()),
            Surplus::Spills => committed.fills_in().saturating_add(excess.fills_in()),
        };
        let (clock, levels) = (Clock::default(), (committed.full(), excess.full()));
        let profile = Arc::new(Profile { committed, excess, longest, mode });
        Buckets { profile, clock, committed: levels.0, excess: levels.1 }
    }
}

impl<W: Word> Profile<W> {
    fn is_exact(&self, surplus: Surplus) -> bool {
        match surplus {
            Surplus::Lost => {
                self.committed.is_exact(W::ZERO, self.longest) && self.excess.is_exact(W::ZERO, self.longest)
            }
            // Both buckets have the same rate and therefore the same unit. The tokens that exceed one bucket
            // go to the other. A word must therefore have room for the tokens of both buckets and those that
            // arrive in `longest`.
            Surplus::Spills => self.committed.is_exact(self.excess.size(), self.longest),
        }
    }
}
