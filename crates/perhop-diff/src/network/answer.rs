//! [`NetworkDifference`]: the answer, as `perhop diff OLDDIR NEWDIR --json` prints it.

use std::collections::{BTreeMap, BTreeSet};

use perhop_network::snapshot::Snapshot;
use serde::Serialize;

use super::pairs::DevicePair;
use super::walks::Walked;
use crate::answer::{Difference, LineEffect};
use crate::prove::{Proof, Verdict};
use crate::treatment::Aspect;

/// The codepoint of a packet, the packet, and its changes.
type PacketChange = (String, String, Vec<Aspect>);

/// Everything that differs between two snapshots of a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NetworkDifference {
    /// Whether anything differs, or may differ because it was not compared.
    pub differs: bool,
    /// Devices, links, sites and policies in one snapshot only.
    pub only: Vec<OnlyIn>,
    /// The common devices whose configurations differ.
    pub devices: Vec<DeviceChange>,
    /// The changes for pairs of sites and codepoints; equal changes are merged.
    pub changes: Vec<WalkChange>,
    /// Changes for packets of other protocols or ports. The proof has found them.
    pub witnesses: Vec<WalkChange>,
    /// The number of pairs of sites and codepoints without a change.
    pub same: usize,
    /// The number of common sites.
    pub sites: usize,
    /// The proof that all packets between all sites are treated equally, or the reason why it failed.
    pub proof: Proof,
    /// Walks without a known result, with the reason, so that the snapshots may differ.
    pub not_compared: Vec<String>,
    /// Assumptions in place of facts that the configurations do not contain.
    pub assumed: Vec<String>,
    /// Parts of the snapshots that perhop ignores. They do not affect `differs`.
    pub not_looked_at: Vec<String>,
}

/// An item that exists in one snapshot only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OnlyIn {
    /// The snapshot: `old` or `new`.
    pub snapshot: String,
    /// The kind of the item: device, link, site or policy.
    pub kind: String,
    /// The name of the item.
    pub name: String,
}

/// A device whose configuration differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceChange {
    /// The name of the device.
    pub device: String,
    /// The path of the old configuration.
    pub old: String,
    /// The path of the new configuration.
    pub new: String,
    /// The difference between both configurations, with every changed line.
    pub difference: Difference,
}

/// A change for packets between sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WalkChange {
    /// The pairs of sites, sender first, with the codepoints of their packets.
    pub pairs: Vec<(String, String)>,
    /// The codepoints, as sent.
    pub codepoints: Vec<String>,
    /// A packet that the change affects.
    pub packet: String,
    /// The aspects of the treatment that change.
    pub what: Vec<Aspect>,
}

impl NetworkDifference {
    /// Whether nothing differs and everything was compared.
    pub(super) fn is_empty(&self) -> bool {
        let quiet = |change: &DeviceChange| {
            change.difference.not_compared.is_empty()
                && change.difference.lines.iter().all(|line| line.effect <= LineEffect::Same)
        };
        self.only.is_empty()
            && self.changes.is_empty()
            && self.witnesses.is_empty()
            && self.devices.iter().all(quiet)
            && self.proof.verdict == Verdict::Equal
            && self.not_compared.is_empty()
    }

    /// Whether both snapshots certainly have the same walks: no configuration, device, link, site or written
    /// fact differs.
    pub(super) fn is_unchanged(
        &self,
        snapshots: [&Snapshot; 2],
        changed: &[(DevicePair, Difference)],
    ) -> bool {
        changed.is_empty() && self.only.is_empty() && written(snapshots[0]) == written(snapshots[1])
    }

    /// Adds the results of compared walks. Walks with equal changes are merged.
    pub(super) fn add_walks(&mut self, walked: Vec<Walked>) {
        let (mut assumed, mut not_looked_at) = (BTreeSet::new(), BTreeSet::new());
        let mut unknown: BTreeMap<String, (usize, String)> = BTreeMap::new();
        // Merges the codepoints of each pair with equal changes, then the pairs.
        let mut by_pair: BTreeMap<(_, Vec<Key>), Vec<PacketChange>> = BTreeMap::new();
        for walked in walked {
            assumed.extend(walked.assumed);
            not_looked_at.extend(walked.not_looked_at);
            for reason in walked.unknown {
                unknown.entry(reason).or_insert_with(|| (0, walked.packet.clone())).0 += 1;
            }
            if walked.what.is_empty() {
                self.same += 1;
            } else {
                let key = (walked.pair, walked.what.iter().map(key).collect());
                by_pair.entry(key).or_default().push((walked.dscp, walked.packet, walked.what));
            }
        }
        let mut alike: BTreeMap<(Vec<String>, Vec<Key>), WalkChange> = BTreeMap::new();
        for ((pair, what), packets) in by_pair {
            let codepoints: Vec<String> = packets.iter().map(|(dscp, ..)| dscp.clone()).collect();
            let (_, packet, aspects) = &packets[0];
            let change = alike.entry((codepoints.clone(), what)).or_insert_with(|| WalkChange {
                pairs: Vec::new(),
                codepoints,
                packet: packet.clone(),
                what: aspects.clone(),
            });
            change.pairs.push(pair);
        }
        self.changes.extend(alike.into_values());
        self.assumed.extend(assumed);
        self.not_looked_at.extend(not_looked_at);
        for (reason, (count, packet)) in unknown {
            self.not_compared.push(format!("{reason}: {count} walks, for example {packet}"));
        }
    }
}

type Key = (String, Option<String>, Option<String>);

fn key(aspect: &Aspect) -> Key {
    (aspect.what.clone(), aspect.first.clone(), aspect.second.clone())
}

/// Returns the facts that the user wrote, as text.
pub(super) fn written(snapshot: &Snapshot) -> String {
    format!("{:?}", snapshot.written)
}

/// Returns the devices, links, sites and policies that exist in one snapshot only.
pub(super) fn only_in(snapshots: [&Snapshot; 2]) -> Vec<OnlyIn> {
    let all = snapshots.map(named_items);
    let mut found = Vec::new();
    for (own, other, name) in [(0, 1, "old"), (1, 0, "new")] {
        for (kind, thing) in all[own].difference(&all[other]) {
            found.push(OnlyIn { snapshot: name.to_owned(), kind: (*kind).to_owned(), name: thing.clone() });
        }
    }
    found
}

fn named_items(snapshot: &Snapshot) -> BTreeSet<(&'static str, String)> {
    let mut found: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for device in &snapshot.devices {
        found.insert(("device", device.name.clone()));
        for port in device.device.model().into_iter().flat_map(|model| &model.router.ports) {
            for (side, policy) in [("input", port.input_policy()), ("output", port.output_policy())] {
                if let Some(policy) = policy {
                    let name = format!("{} at {} {} {side}", policy.name, device.name, port.name);
                    found.insert(("policy", name));
                }
            }
        }
    }
    for link in &snapshot.links {
        let mut ends: Vec<String> =
            link.ends.iter().map(|end| format!("{}:{}", end.device, end.interface)).collect();
        ends.sort();
        found.insert(("link", ends.join(" - ")));
    }
    found.extend(snapshot.sites().into_iter().map(|site| ("site", site.name)));
    found
}
