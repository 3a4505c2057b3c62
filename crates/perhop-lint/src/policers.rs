//! Bursts of policers: too small for a packet, or for TCP.

use perhop_qos::action::Action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::ClassConfig;
use perhop_qos::{ByteSize, Rate};

use crate::finding::{Finding, Place, Subject};
use crate::rules;

/// IP bytes of the longest packet on an Ethernet.
const LONGEST: u64 = 1500;
/// IP bytes of 20 ms of G.711 (RFC 3551 §4.5.14) with RTP, UDP and IP headers.
const VOICE: u64 = 200;
/// Seconds of a round trip: what TCP has under way at a rate.
const ROUND_TRIP_S: f64 = 0.1;

pub(crate) fn check(subject: &Subject, found: &mut Vec<Finding>) {
    for (index, conditioner) in subject.policy.conditioners.iter().enumerate() {
        let Some((rate, burst)) = bucket(conditioner.meter.as_ref()) else { continue };
        if !drops(conditioner) {
            continue;
        }
        let name = conditioner.name.clone().unwrap_or_else(|| index.to_string());
        let place = Place::Conditioner(index);
        if let Some(finding) = below_packet(&place, &name, burst, LONGEST) {
            found.push(finding);
        } else if burst.as_bytes() as f64 * 8.0 < rate.as_bits_per_second() as f64 * ROUND_TRIP_S {
            let needed = (rate.as_bits_per_second() as f64 * ROUND_TRIP_S / 8.0).ceil();
            found.push(Finding::new(
                &rules::POLICE_BURST_SMALL,
                place,
                format!(
                    "the policer of {name} has a burst of {burst}, {:.0} ms of its rate {rate}",
                    burst.as_bytes() as f64 * 8e3 / rate.as_bits_per_second() as f64
                ),
                format!("TCP over 100 ms needs {needed:.0} bytes to reach the rate"),
            ));
        }
    }
}

/// Bits per second to which a conditioner holds its packets.
pub(crate) fn held_to(conditioner: &ConditionerConfig) -> Option<Rate> {
    bucket(conditioner.meter.as_ref()).filter(|_| drops(conditioner)).map(|(rate, _)| rate)
}

/// The policer of a class that has one in front of its queue.
pub(crate) fn check_class(class: &ClassConfig, is_voice: bool, place: &Place, found: &mut Vec<Finding>) {
    if let Some(police) = &class.police {
        let packet = if is_voice { VOICE } else { LONGEST };
        found.extend(below_packet(place, &class.name, police.burst, packet));
    }
}

fn below_packet(place: &Place, name: &str, burst: ByteSize, packet: u64) -> Option<Finding> {
    (burst.as_bytes() < packet).then(|| {
        Finding::new(
            &rules::POLICE_BURST_BELOW_PACKET,
            place.clone(),
            format!("the policer of {name} has a burst of {burst}: no packet of {packet} bytes conforms"),
            "give it the longest packet at least",
        )
    })
}

/// Rate and burst within which packets conform.
fn bucket(meter: Option<&MeterConfig>) -> Option<(Rate, ByteSize)> {
    match meter? {
        MeterConfig::TokenBucket(config) => Some((config.rate, config.burst)),
        MeterConfig::TokenBucketWithDebt(config) => Some((config.rate, config.burst)),
        MeterConfig::SingleRateTcm(config) => Some((config.cir, config.cbs)),
        MeterConfig::TwoRateTcm(config) => Some((config.cir, config.cbs)),
        _ => None,
    }
}

/// Whether what does not conform is dropped.
fn drops(conditioner: &ConditionerConfig) -> bool {
    conditioner.yellow.contains(&Action::Drop) || conditioner.red.contains(&Action::Drop)
}
