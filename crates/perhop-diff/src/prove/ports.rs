//! The paths of packets through ports, and their comparison.

use std::collections::BTreeSet;

use perhop_analysis::{Field, PacketSpace, Set, TooComplex};
use perhop_device::intent::{Condition, Direction};
use perhop_device::{AccessDecision, DeviceModel, Port};
use perhop_qos::Rate;
use perhop_qos::framing::IpVersion;
use perhop_qos::packet::Encapsulation;

use super::answer::Proof;
use crate::treatment::{Difference, PolicyPath, Treatments, compare};

/// A port with its device.
#[derive(Clone, Copy)]
pub(crate) struct PortOf<'a> {
    pub(crate) model: &'a DeviceModel,
    pub(crate) port: &'a Port,
}

impl<'a> PortOf<'a> {
    /// Adds the access lists of one direction to a path.
    pub(super) fn filter(
        self,
        space: &mut PacketSpace,
        path: &mut PolicyPath<'a>,
        direction: Direction,
    ) -> Result<(), TooComplex> {
        for group in self.port.forwarding.access_groups.iter().filter(|group| group.direction == direction) {
            let Some(list) = self.model.router.forwarding.access_lists.get(&group.list) else { continue };
            let mut permitted = decided(list.rest);
            for entry in list.entries.iter().rev() {
                let taken = match &entry.condition {
                    Condition::Always => Set::ALL,
                    Condition::Never => Set::NONE,
                    Condition::When(config) => space.taken_by(config)?,
                };
                permitted = match entry.decision {
                    AccessDecision::Permit => space.or(permitted, taken)?,
                    AccessDecision::Deny => space.minus(permitted, taken)?,
                };
            }
            let family = space.equals(Field::Family, u128::from(group.version != IpVersion::Ipv4))?;
            let others = space.minus(Set::ALL, family)?;
            let passed = space.or(permitted, others)?;
            path.filter(passed);
        }
        Ok(())
    }

    /// Adds the stages of arriving packets to a path.
    pub(super) fn input(self, space: &mut PacketSpace, path: &mut PolicyPath<'a>) -> Result<(), TooComplex> {
        self.filter(space, path, Direction::Input)?;
        path.conditioners(space, &self.port.input)
    }

    /// Adds the stages of departing packets to a path.
    pub(super) fn output(
        self,
        space: &mut PacketSpace,
        path: &mut PolicyPath<'a>,
        encapsulation: Encapsulation,
    ) -> Result<(), TooComplex> {
        self.filter(space, path, Direction::Output)?;
        path.departure(space, encapsulation)?;
        path.conditioners(space, &self.port.output)?;
        path.queues(space, &self.port.output, self.line())
    }

    /// Returns the rate of the port; `None` if it is unknown.
    pub(crate) fn line(self) -> Option<Rate> {
        let known = Some(self.port).filter(|port| port.has_known_line)?;
        known.wire.rate.or(known.assumed_rate).or(known.bandwidth)
    }

    pub(super) fn encapsulation(self) -> Encapsulation {
        let headers = self.port.wire.headers.headers();
        let carries = |name: &str| headers.iter().any(|header| header.name() == name);
        Encapsulation { tag: carries("vlan"), labels: carries("mpls") }
    }

    pub(super) fn has_filter(self, direction: Direction) -> bool {
        self.port.forwarding.access_groups.iter().any(|group| group.direction == direction)
    }

    /// Returns the access lists of one direction as text, without line numbers.
    pub(super) fn filters(self, direction: Direction) -> Vec<String> {
        let groups = self.port.forwarding.access_groups.iter().filter(|group| group.direction == direction);
        let list = |name: &String| self.model.router.forwarding.access_lists.get(name);
        let text = |group: &perhop_device::AccessGroup| {
            let entries = list(&group.list).map(|list| {
                let entries: Vec<String> = list
                    .entries
                    .iter()
                    .map(|entry| format!("{:?} {:?}", entry.decision, entry.condition))
                    .collect();
                (list.rest, entries)
            });
            format!("{:?} {entries:?}", group.version)
        };
        groups.map(text).collect()
    }
}

fn decided(decision: AccessDecision) -> Set {
    match decision {
        AccessDecision::Permit => Set::ALL,
        AccessDecision::Deny => Set::NONE,
    }
}

/// Adds the steps of one side (0 or 1) to a path.
pub(super) type Make<'a, 'm> =
    dyn Fn(&mut PacketSpace, usize, &mut PolicyPath<'a>) -> Result<(), TooComplex> + 'm;

/// Compares the treatments of `packets` on the paths of two sides. `make` builds the path of a side.
pub(super) fn compare_paths(
    space: &mut PacketSpace,
    packets: Set,
    make: &Make,
) -> Result<Difference, TooComplex> {
    let mut sides = Vec::new();
    for side in [0, 1] {
        let mut path = PolicyPath::default();
        make(space, side, &mut path)?;
        sides.push(Treatments::follow(space, path, packets)?);
    }
    compare(space, [&sides[0], &sides[1]])
}

impl Proof {
    /// Records a comparison at `place`, and returns whether it answers the question. A difference answers the
    /// question if `accept` returns true for it.
    pub(super) fn record(
        &mut self,
        place: &str,
        found: Result<Difference, TooComplex>,
        accept: impl FnOnce(&Difference) -> bool,
    ) -> bool {
        match found {
            Err(TooComplex) => {
                self.not_decided.push(format!("{place}: {TooComplex}"));
                false
            }
            Ok(difference) => {
                let kinds = match difference.kinds {
                    1 => "1 kind of packets".to_owned(),
                    kinds => format!("{kinds} kinds of packets"),
                };
                self.compared.push(format!("{place}: {kinds}"));
                let schedulers: BTreeSet<String> = difference
                    .schedulers
                    .iter()
                    .map(|(first, second)| {
                        format!(
                            "{place}: the order of packets can differ: the schedulers are {first} and {second}, \
                             with equal rates"
                        )
                    })
                    .collect();
                self.not_decided.extend(schedulers);
                let Some(packet) = &difference.packet else { return false };
                if !accept(&difference) {
                    self.not_decided
                        .push(format!("{place}: the configurations treat {} differently", packet.packet));
                    return false;
                }
                self.place = Some(place.to_owned());
                self.counterexample = difference.packet;
                true
            }
        }
    }
}
