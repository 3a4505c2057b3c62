//! [`prove`]: whether two networks treat all packets between all sites equally.
//!
//! The networks treat all packets equally if the devices, links and written facts are the same, and each
//! device treats all packets equally at all ports. Otherwise, perhop follows the packets that a device treats
//! differently between the sites. Only a difference between the walks of these packets counts.

use std::collections::BTreeSet;

use perhop_analysis::{Field, PacketSpace, Set, TooComplex};
use perhop_qos::classifier::Prefix;
use perhop_qos::{ConfigError, Dscp, Packet};
use rayon::prelude::*;

use super::answer::{NetworkDifference, OnlyIn, WalkChange, written};
use super::pairs::{DevicePair, Ends};
use super::walks::{Comparer, Walked};
use crate::prove::{Verdict, devices};
use crate::treatment::{Counterexample, Difference};

/// Limit on the walks of packets that a device treats differently.
const MOST_WALKS: usize = 20_000;
/// Limit on the further pairs of sites that are tried for a witness.
const MOST_PAIRS: usize = 2_000;

/// Proves that all packets are treated equally, or searches for a counterexample.
pub(super) fn prove(
    found: &mut NetworkDifference,
    comparer: &Comparer,
    names: [&str; 2],
    ends: &[Ends],
) -> Result<(), ConfigError> {
    let mut proof = std::mem::take(&mut found.proof);
    for only in &found.only {
        if only.kind != "policy" {
            let name = names[usize::from(only.snapshot == "new")];
            proof.not_decided.push(format!("only {name} has the {} {}", only.kind, only.name));
        }
    }
    if written(comparer.snapshots[0]) != written(comparer.snapshots[1]) {
        proof.not_decided.push("the facts of network.yaml and the given routes differ".to_owned());
    }
    for (snapshot, name) in comparer.snapshots.iter().zip(names) {
        let files = snapshot.left_out.iter();
        proof.not_decided.extend(
            files.map(|file| format!("{name}: perhop does not read {}: {}", file.file, file.because)),
        );
    }
    if ends.is_empty() {
        proof.not_decided.push("fewer than two sites exist in both networks".to_owned());
    }
    let mut lifting = Lifting { comparer, ends, walks: 0, found: Vec::new(), failed: None };
    let mut equal = 0;
    for (pair, _) in comparer.changed {
        if comparer.equal.contains(&pair[0].name) {
            equal += 1;
            continue;
        }
        let [Some(old), Some(new)] = [pair[0].device.model(), pair[1].device.model()] else { continue };
        let own =
            devices::prove([old, new], names, &mut |space, difference| lifting.try_all(space, difference));
        let device = &pair[0].name;
        let place = |text: String| format!("{device}: {text}");
        proof.not_decided.extend(own.not_decided.into_iter().map(place));
        proof.compared.extend(own.compared.into_iter().map(place));
        proof.not_looked_at.extend(own.not_looked_at.into_iter().map(place));
        lifting.failed.take().map_or(Ok(()), Err)?;
    }
    if equal > 0 {
        proof
            .compared
            .push(format!("{equal} devices with a changed configuration treat all packets as before"));
    }
    proof.compared.extend(same_configurations(found, comparer));
    for walked in lifting.found {
        found.add_witness(walked);
    }
    found.assumed.push("every router forwards as perhop computes, and no link or device fails".to_owned());
    if let Some(change) = found.witnesses.first().or(found.changes.first()) {
        proof.counterexample = Some(Counterexample {
            packet: change.packet.clone(),
            with: None,
            treatment: change.what.clone(),
            is_doubtful: false,
        });
        proof.place = change.pairs.first().map(|(from, to)| format!("from {from} to {to}"));
    }
    found.proof = proof.with_verdict();
    Ok(())
}

/// Returns the number of devices of both networks with the same configuration, in words.
fn same_configurations(found: &NetworkDifference, comparer: &Comparer) -> Option<String> {
    let is_removed = |only: &&OnlyIn| only.kind == "device" && only.snapshot == "old";
    let differing = found.only.iter().filter(is_removed).count() + comparer.changed.len();
    match comparer.snapshots[0].devices.len().saturating_sub(differing) {
        0 => None,
        1 => Some("1 device has the same configuration in both".to_owned()),
        count => Some(format!("{count} devices have the same configuration in both")),
    }
}

/// Returns the names of devices with a changed configuration that treat all packets equally.
pub(super) fn equal_devices(
    changed: &[(DevicePair, crate::answer::Difference)],
    names: [&str; 2],
) -> BTreeSet<String> {
    let is_equal = |pair: &DevicePair| {
        let [Some(old), Some(new)] = pair.map(|device| device.device.model()) else { return false };
        devices::prove([old, new], names, &mut |_, _| true).verdict == Verdict::Equal
    };
    let equal = changed.par_iter().filter(|(pair, _)| is_equal(pair));
    equal.map(|(pair, _)| pair[0].name.clone()).collect()
}

/// The search for a walk between sites on which a packet of a device's difference is treated differently.
struct Lifting<'s, 'c, 'a> {
    comparer: &'s Comparer<'c, 'a>,
    ends: &'s [Ends<'s>],
    walks: usize,
    found: Vec<Walked>,
    failed: Option<ConfigError>,
}

impl Lifting<'_, '_, '_> {
    /// Whether a packet of `difference` between two sites is treated differently. Adds the walks that were
    /// found.
    fn try_all(&mut self, space: &mut PacketSpace, difference: &Difference) -> bool {
        let sets = difference.packets.clone();
        for set in sets {
            for ends in self.ends {
                match self.try_pair(space, set, *ends) {
                    Ok(Some((packet, walked))) => {
                        self.found.push(walked);
                        self.add_other_pairs(space, set, *ends, packet.dscp);
                        return true;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.failed = Some(error);
                        return false;
                    }
                }
                if self.walks > MOST_WALKS {
                    return false;
                }
            }
        }
        false
    }

    /// Follows packets of a set between two sites. Tries all sent codepoints, because a device on the path
    /// can change the codepoint.
    fn try_pair(
        &mut self,
        space: &mut PacketSpace,
        set: Set,
        ends: Ends,
    ) -> Result<Option<(Packet, Walked)>, ConfigError> {
        let Ok(Some(packet)) = between(space, set, ends) else { return Ok(None) };
        let own = std::iter::once(packet.dscp);
        for dscp in own.chain((0..64).filter_map(Dscp::new).filter(|dscp| *dscp != packet.dscp)) {
            self.walks += 1;
            let packet = Packet { dscp, ..packet };
            let walked = self.comparer.compare(ends, &packet)?;
            if !walked.what.is_empty() {
                return Ok(Some((packet, walked)));
            }
        }
        Ok(None)
    }

    /// Adds the other pairs of sites for which a packet of `set` is treated differently.
    fn add_other_pairs(&mut self, space: &mut PacketSpace, set: Set, first: Ends, dscp: Dscp) {
        let is_other = |ends: &&Ends| !std::ptr::eq(ends[0], first[0]) || !std::ptr::eq(ends[1], first[1]);
        for ends in self.ends.iter().filter(is_other).take(MOST_PAIRS) {
            let Ok(Some(packet)) = between(space, set, *ends) else { continue };
            let walked = self.comparer.compare(*ends, &Packet { dscp, ..packet });
            self.found.extend(walked.into_iter().filter(|walked| !walked.what.is_empty()));
        }
    }
}

/// Returns a packet of a set from one site to another.
fn between(space: &mut PacketSpace, set: Set, ends: Ends) -> Result<Option<Packet>, TooComplex> {
    let mut set = set;
    for (field, site) in [(Field::Source, ends[0]), (Field::Destination, ends[1])] {
        let prefix = site.subnet.as_ref().and_then(|subnet| subnet.parse::<Prefix>().ok());
        let (address, length) = match site.address {
            std::net::IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
            std::net::IpAddr::V6(address) => (address.to_bits(), 128),
        };
        let family = space.equals(Field::Family, u128::from(site.address.is_ipv6()))?;
        set = space.and(set, family)?;
        let host = space.begins(field, address, length)?;
        let only = space.and(set, host)?;
        set = match prefix {
            // If the set does not contain the host of the site, another host in its subnet is used.
            Some(prefix) if only == Set::NONE => {
                let subnet = space.begins(field, address, u32::from(prefix.length()))?;
                space.and(set, subnet)?
            }
            _ => only,
        };
    }
    let plain = Packet::default();
    let sent = |packet: Packet| Packet { input: plain.input, color: plain.color, label: 0, ..packet };
    Ok(space.witness(set)?.map(|witness| sent(witness.packet)))
}

impl NetworkDifference {
    /// Adds a change that the proof has found. Equal changes are merged.
    fn add_witness(&mut self, walked: Walked) {
        if self.changes.iter().any(|change| change.what == walked.what) {
            return;
        }
        match self.witnesses.iter_mut().find(|change| change.what == walked.what) {
            Some(change) => change.pairs.push(walked.pair),
            None => self.witnesses.push(WalkChange {
                pairs: vec![walked.pair],
                codepoints: vec![walked.dscp],
                packet: walked.packet,
                what: walked.what,
            }),
        }
    }
}
