//! [`compare_networks`]: compares two snapshots of a network, and returns end-to-end changes and the affected
//! packets.
//!
//! ```text
//! devices of both → differences of configurations ──────┐
//! sites of both → walks of each pair and codepoint ─────┼→ changes; equal ones are merged
//! devices of both → proof for all packets ──────────────┘
//!                     └ a packet at a device → walks of such packets between sites
//! ```

mod answer;
mod pairs;
mod proof;
mod walks;

use std::collections::BTreeMap;

use perhop_device::FrontEnds;
use perhop_network::snapshot::{Site, Snapshot, SnapshotDevice};
use perhop_qos::{ConfigError, Dscp};
use rayon::prelude::*;

pub use answer::{DeviceChange, NetworkDifference, OnlyIn, WalkChange};

use crate::answer::Difference;
use crate::configurations::{self, Question};
use pairs::{DevicePair, Ends};
use walks::{Comparer, Walked};

/// Returns the differences between two snapshots for packets between their sites. The comparison covers each
/// of `codepoints`, and all packets if sets of packets can prove equality.
///
/// # Errors
/// The policies of a device cannot be built.
pub fn compare_networks(
    front_ends: FrontEnds,
    snapshots: [&Snapshot; 2],
    names: [&str; 2],
    codepoints: &[Dscp],
) -> Result<NetworkDifference, ConfigError> {
    let mut found = NetworkDifference { only: answer::only_in(snapshots), ..NetworkDifference::default() };
    let pairs = pairs_of_devices(snapshots);
    let changed: Vec<(DevicePair, Difference)> = pairs
        .par_iter()
        .filter(|pair| pair[0].device.configuration() != pair[1].device.configuration())
        .map(|pair| Ok((*pair, device_difference(front_ends, *pair)?)))
        .collect::<Result<_, ConfigError>>()?;
    let by_name: BTreeMap<&str, &Difference> =
        changed.iter().map(|(pair, difference)| (pair[0].name.as_str(), difference)).collect();
    let equal = proof::equal_devices(&changed, names);
    let comparer = Comparer { snapshots, differences: &by_name, changed: &changed, equal };
    let has_other_facts = |pair: &&DevicePair| pair[0].device.facts() != pair[1].device.facts();
    let other_facts: Vec<&DevicePair> = pairs.iter().filter(has_other_facts).collect();
    found.proof.not_decided.extend(other_facts.iter().map(|pair| {
        format!("the given routes and tunnels of {}: they differ between the two networks", pair[0].name)
    }));
    let sites = snapshots.map(Snapshot::sites);
    let ends = pairs_of_sites(&sites);
    found.sites = sites[0].iter().filter(|site| sites[1].iter().any(|other| other.name == site.name)).count();
    if other_facts.is_empty() && found.is_unchanged(snapshots, &changed) {
        found.same = ends.len() * codepoints.len();
    } else {
        let walk = &|ends, dscp| comparer.walk(ends, dscp);
        let walked: Vec<Walked> = ends
            .par_iter()
            .flat_map_iter(|ends| codepoints.iter().map(move |dscp| walk(*ends, *dscp)))
            .collect::<Result<_, ConfigError>>()?;
        found.add_walks(walked);
    }
    proof::prove(&mut found, &comparer, names, &ends)?;
    found.devices = changed
        .into_iter()
        .map(|(pair, difference)| DeviceChange {
            device: pair[0].name.clone(),
            old: pair[0].file.clone(),
            new: pair[1].file.clone(),
            difference,
        })
        .collect();
    found.differs = !found.is_empty();
    Ok(found)
}

fn pairs_of_devices<'s, 'a>(snapshots: [&'s Snapshot<'a>; 2]) -> Vec<DevicePair<'s, 'a>> {
    let new: BTreeMap<&str, &SnapshotDevice> =
        snapshots[1].devices.iter().map(|device| (device.name.as_str(), device)).collect();
    let old = snapshots[0].devices.iter();
    old.filter_map(|device| Some([device, *new.get(device.name.as_str())?])).collect()
}

fn device_difference(front_ends: FrontEnds, pair: DevicePair) -> Result<Difference, ConfigError> {
    let [Some(old), Some(new)] = [pair[0].device.configuration(), pair[1].device.configuration()] else {
        return Ok(Difference::default());
    };
    // Each side is read with the options of its snapshot. A changed platform is a separate difference.
    let question = Question {
        texts: [old.0, new.0],
        names: [&pair[0].file, &pair[1].file],
        options: new.1,
        at: None,
        only: None,
    };
    let mut found = configurations::compare(front_ends, &question)?;
    if old.1 != new.1 {
        found.not_looked_at.push(
            "the platform or the assumptions in network.yaml: they differ between the two networks"
                .to_owned(),
        );
    }
    Ok(found)
}

/// Returns the pairs of different common sites with the same IP version.
fn pairs_of_sites(sites: &[Vec<Site>; 2]) -> Vec<Ends<'_>> {
    let both =
        |site: &&Site| sites[1].iter().any(|other| other.name == site.name && other.address == site.address);
    let common: Vec<&Site> = sites[0].iter().filter(both).collect();
    let is_pair = |from: &Site, to: &Site| {
        (&from.device, &from.interface) != (&to.device, &to.interface)
            && from.address.is_ipv4() == to.address.is_ipv4()
    };
    let all = common.iter().flat_map(|from| common.iter().map(move |to| [*from, *to]));
    all.filter(|[from, to]| is_pair(from, to)).collect()
}
