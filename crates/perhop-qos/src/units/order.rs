//! The order of [`Time`].
//!
//! The comparisons are written explicitly, because test builds do not inline derived comparisons: these calls
//! took 6 % of the time. The default methods `lt`, `le`, `gt` and `ge` are generic, and test builds share
//! generic functions between crates, so these methods would be calls, too.

use std::cmp::Ordering;

use super::Time;

impl Ord for Time {
    #[inline]
    fn cmp(&self, other: &Time) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Time {
    #[inline]
    fn partial_cmp(&self, other: &Time) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline]
    fn lt(&self, other: &Time) -> bool {
        self.0 < other.0
    }
    #[inline]
    fn le(&self, other: &Time) -> bool {
        self.0 <= other.0
    }
    #[inline]
    fn gt(&self, other: &Time) -> bool {
        self.0 > other.0
    }
    #[inline]
    fn ge(&self, other: &Time) -> bool {
        self.0 >= other.0
    }
}
