//! Default maps, and the maps of a configuration.

use std::collections::BTreeMap;

use perhop_device::intent::At;

use crate::ast::{MlsQos, QueuePlace};

/// The number of codepoints.
const CODEPOINTS: u8 = 64;
/// The number of classes of service.
const CLASSES: u8 = 8;

/// The default codepoints of the classes of service and of the precedences. Source: Cisco, "Catalyst 4500
/// Software Configuration Guide" (OL-23818-01); the switches have the same map.
const CLASS_SELECTORS: [u8; 8] = [0, 8, 16, 24, 32, 40, 48, 56];

/// Returns the codepoint of each class of service.
pub(crate) fn codepoints_of_cos(mls: &MlsQos) -> [u8; 8] {
    mls.cos_dscp.map_or(CLASS_SELECTORS, |at| at.value)
}

/// Returns the codepoint of each precedence.
pub(crate) fn codepoints_of_precedence(mls: &MlsQos) -> [u8; 8] {
    mls.precedence_dscp.map_or(CLASS_SELECTORS, |at| at.value)
}

/// Returns all maps by the words of their commands: for each value of a field, the new value.
pub(super) fn all(mls: &MlsQos) -> BTreeMap<&'static str, Vec<u8>> {
    let mapped = |written: &BTreeMap<u8, At<u8>>, usual: fn(u8) -> u8| -> Vec<u8> {
        (0..CODEPOINTS).map(|dscp| written.get(&dscp).map_or(usual(dscp), |at| at.value)).collect()
    };
    BTreeMap::from([
        ("cos-dscp", codepoints_of_cos(mls).to_vec()),
        ("ip-prec-dscp", codepoints_of_precedence(mls).to_vec()),
        // Source: Cisco, "Catalyst 4500 Software Configuration Guide" (OL-23818-01).
        ("dscp-cos", mapped(&mls.dscp_cos, |dscp| dscp / 8)),
        ("policed-dscp", mapped(&mls.policed_dscp, |dscp| dscp)),
    ])
}

/// Returns the output queue and threshold of each codepoint.
pub(super) fn output_dscp(mls: &MlsQos) -> Vec<QueuePlace> {
    overlaid((0..CODEPOINTS).map(usual_output), &mls.output_dscp)
}

/// Returns the output queue and threshold of each class of service.
pub(super) fn output_cos(mls: &MlsQos) -> Vec<QueuePlace> {
    overlaid((0..CLASSES).map(|cos| usual_output(cos * 8)), &mls.output_cos)
}

/// Returns the input queue and threshold of each codepoint.
pub(super) fn input_dscp(mls: &MlsQos) -> Vec<QueuePlace> {
    overlaid((0..CODEPOINTS).map(usual_input), &mls.input_dscp)
}

/// Returns the input queue and threshold of each class of service.
pub(super) fn input_cos(mls: &MlsQos) -> Vec<QueuePlace> {
    overlaid((0..CLASSES).map(|cos| usual_input(cos * 8)), &mls.input_cos)
}

/// Returns the default output queue and threshold of a codepoint. Source: Cisco, "Catalyst 2960 Switch
/// Software Configuration Guide", default maps of output queues.
fn usual_output(dscp: u8) -> QueuePlace {
    let queue = match dscp {
        0..=15 => 2,
        16..=31 => 3,
        40..=47 => 1,
        _ => 4,
    };
    QueuePlace { queue, threshold: 1 }
}

/// Returns the default input queue and threshold of a codepoint. Source: Cisco, "Catalyst 3560 Switch
/// Software Configuration Guide" (78-16156-01), page 28-53.
fn usual_input(dscp: u8) -> QueuePlace {
    QueuePlace { queue: if (40..=47).contains(&dscp) { 2 } else { 1 }, threshold: 1 }
}

fn overlaid(
    usual: impl Iterator<Item = QueuePlace>,
    written: &BTreeMap<u8, At<QueuePlace>>,
) -> Vec<QueuePlace> {
    let values = usual.zip(0..);
    values.map(|(usual, value)| written.get(&value).map_or(usual, |at| at.value)).collect()
}
