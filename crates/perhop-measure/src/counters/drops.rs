//! [`Drops`]: dropped packets by cause.

use perhop_qos::conditioner::Count;
use perhop_qos::verdict::DropCause;

/// Dropped packets, by cause. Most flows and ports drop nothing and allocate no memory for drops.
#[derive(Clone, Debug, Default)]
pub struct Drops(Option<Box<[Count; DropCause::COUNT]>>);

impl Drops {
    /// Counts a packet of `length` IP bytes that was dropped because of `cause`.
    #[inline]
    pub fn add(&mut self, cause: DropCause, length: u32) {
        self.0.get_or_insert_default()[cause.index()].add(length);
    }
    /// Adds `count` packets that were dropped because of `cause`.
    pub fn merge(&mut self, cause: DropCause, count: Count) {
        self.0.get_or_insert_default()[cause.index()].merge(count);
    }
    /// The packets of each cause, in the order of [`DropCause::ALL`].
    pub fn by_cause(&self) -> [Count; DropCause::COUNT] {
        self.0.as_deref().copied().unwrap_or_default()
    }
}
