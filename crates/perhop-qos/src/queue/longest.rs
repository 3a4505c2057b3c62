//! [`LongestFlow`]: the search for the flow with the most bytes.

/// The flow with the most bytes. If several flows have equally many bytes, it is the flow with the lowest
/// number.
///
/// Flows are in groups of 64. A flow that grows is compared with the longest flow of its group. If the
/// longest flow of a group shrinks, the group is searched again at the next query.
#[derive(Clone, Debug)]
pub(super) struct LongestFlow(Box<[Group]>);

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// One bit for each flow that has packets.
    backlogged: u64,
    /// The bytes of the longest flow. If the group is stale, the longest flow can have fewer bytes.
    bytes: u64,
    /// The longest flow.
    flow: u16,
    /// Whether the longest flow has shrunk since the group was searched.
    is_stale: bool,
}

impl LongestFlow {
    pub(super) fn new(flows: u16) -> LongestFlow {
        LongestFlow(vec![Group::default(); usize::from(flows).div_ceil(64)].into())
    }
    /// Records that a packet has joined `flow`, which now has `bytes` bytes.
    #[inline]
    pub(super) fn grew(&mut self, flow: u16, bytes: u64) {
        let group = &mut self.0[usize::from(flow) / 64];
        group.backlogged |= 1 << (flow % 64);
        let is_first = bytes == group.bytes && flow < group.flow && !group.is_stale;
        if bytes > group.bytes || is_first {
            (group.bytes, group.flow, group.is_stale) = (bytes, flow, false);
        }
    }
    /// Records that a packet has left `flow`. `is_empty` is whether no packet remains.
    #[inline]
    pub(super) fn shrank(&mut self, flow: u16, is_empty: bool) {
        let group = &mut self.0[usize::from(flow) / 64];
        group.is_stale |= group.flow == flow;
        group.backlogged &= !(u64::from(is_empty) << (flow % 64));
    }
    /// Returns the longest flow and its bytes. `bytes_of` must return the bytes of a flow.
    pub(super) fn find(&mut self, bytes_of: impl Fn(u16) -> u64) -> (u16, u64) {
        let mut longest = (0, 0);
        for (number, group) in self.0.iter_mut().enumerate() {
            if group.is_stale {
                group.search(64 * number as u16, &bytes_of);
            }
            if group.bytes > longest.1 {
                longest = (group.flow, group.bytes);
            }
        }
        longest
    }
}

impl Group {
    /// Finds the longest flow of this group, which begins with the flow `first`.
    #[inline(never)]
    fn search(&mut self, first: u16, bytes_of: impl Fn(u16) -> u64) {
        (self.bytes, self.flow, self.is_stale) = (0, first, false);
        let mut rest = self.backlogged;
        while rest != 0 {
            let flow = first + rest.trailing_zeros() as u16;
            rest &= rest - 1;
            let bytes = bytes_of(flow);
            if bytes > self.bytes {
                (self.bytes, self.flow) = (bytes, flow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The lengths have few different values, so that several flows are often equally long.
        #[test]
        fn the_longest_flow_is_the_first_with_the_most_bytes(
            changes in prop::collection::vec((0u16..150, 0u64..4, 0u8..5), 1..400),
        ) {
            let (mut longest, mut bytes) = (LongestFlow::new(150), [0u64; 150]);
            for (flow, length, what) in changes {
                let own = &mut bytes[usize::from(flow % 130)];
                match what {
                    0 => {
                        let most = *bytes.iter().max().unwrap();
                        let first = bytes.iter().position(|bytes| *bytes == most).unwrap();
                        let found = longest.find(|flow| bytes[usize::from(flow)]);
                        prop_assert_eq!(found, (first as u16, most));
                    }
                    1 | 2 if *own > 0 => {
                        *own -= length.min(*own);
                        longest.shrank(flow % 130, *own == 0);
                    }
                    _ => {
                        *own += 1 + length;
                        longest.grew(flow % 130, *own);
                    }
                }
            }
        }
    }
}
