//! [`Hosts`]: the number of flows of each host with waiting packets, so that hosts share a tin fairly.

/// The number of queues among which a flow searches for its own. Linux, `CAKE_SET_WAYS`.
pub(super) const SETS_OF: usize = 8;

/// The hosts at one end of the flows of a tin, each found by its hash among eight places.
#[derive(Clone, Debug)]
pub(super) struct Hosts(Box<[Host]>);

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    /// The number of the host's flows that have waiting packets and are not sparse.
    bulk_flows: u16,
}

impl Hosts {
    pub(super) fn new(places: usize) -> Hosts {
        Hosts(vec![Host::default(); places].into())
    }

    /// Returns the index of the host with this `tag`. The index is that of the host, otherwise an unused one
    /// of the eight in its set, otherwise the first, which the host then shares. Linux, `cake_hash`.
    pub(super) fn place_of(&mut self, tag: u32) -> u16 {
        let first = tag as usize % self.0.len();
        let (inner, outer) = (first % SETS_OF, first - first % SETS_OF);
        let places = || (0..SETS_OF).map(|step| outer + (inner + step) % SETS_OF);
        let found = places().find(|place| self.0[*place].tag == tag);
        let place = found.or_else(|| places().find(|place| self.0[*place].bulk_flows == 0));
        let place = place.unwrap_or(first);
        self.0[place].tag = tag;
        place as u16
    }
    /// The number of bulk flows of the host at `place`.
    #[inline]
    pub(super) fn load(&self, place: u16) -> u16 {
        self.0[usize::from(place)].bulk_flows
    }
    pub(super) fn count(&mut self, place: u16) {
        self.0[usize::from(place)].bulk_flows += 1;
    }
    pub(super) fn discount(&mut self, place: u16) {
        let flows = &mut self.0[usize::from(place)].bulk_flows;
        *flows = flows.saturating_sub(1);
    }
}
