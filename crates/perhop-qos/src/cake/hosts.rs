//! [`Hosts`]: the number of bulk flows of each host, so that hosts share a tin fairly.

/// The number of places in a set. A flow or a host can use each place of the set that its hash selects.
/// Linux, `CAKE_SET_WAYS`.
pub(super) const SET_WAYS: usize = 8;

/// The sources or the destinations of the flows of a tin. The hash of a host selects a set of eight places.
#[derive(Clone, Debug)]
pub(super) struct Hosts(Box<[Host]>);

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    /// The number of the host's flows that have queued packets and are not sparse.
    bulk_flows: u16,
}

impl Hosts {
    pub(super) fn new(places: usize) -> Hosts {
        Hosts(vec![Host::default(); places].into())
    }

    /// Returns the place of the host with the hash `tag`. A host without a place gets an unused place of its
    /// set. If all eight places are used, the host shares the place that its hash selects. Linux,
    /// `cake_hash`.
    pub(super) fn place_of(&mut self, tag: u32) -> u16 {
        let first = tag as usize % self.0.len();
        let (inner, outer) = (first % SET_WAYS, first - first % SET_WAYS);
        let places = || (0..SET_WAYS).map(|step| outer + (inner + step) % SET_WAYS);
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
    /// Adds a bulk flow to the host at `place`.
    pub(super) fn count(&mut self, place: u16) {
        self.0[usize::from(place)].bulk_flows += 1;
    }
    /// Removes a bulk flow from the host at `place`.
    pub(super) fn discount(&mut self, place: u16) {
        let flows = &mut self.0[usize::from(place)].bulk_flows;
        *flows = flows.saturating_sub(1);
    }
}
