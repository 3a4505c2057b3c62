//! Rules for policer bursts that are too small for a packet or for TCP.

use perhop_qos::action::Action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policer::PoliceConfig;
use perhop_qos::policy::ClassConfig;
use perhop_qos::{ByteSize, Rate};

use crate::finding::{Finding, Place, Subject};
use crate::rules;

/// IP bytes of the longest packet on Ethernet.
const LONGEST: u64 = 1500;
/// IP bytes of 20 ms of G.711 (RFC 3551 §4.5.14) with RTP, UDP and IP headers.
const VOICE: u64 = 200;
/// Round-trip time in seconds, whose data TCP has in flight at a rate.
const ROUND_TRIP_S: f64 = 0.1;
/// Least retransmission timeout of TCP, seconds (RFC 6298 §2.4).
const RETRANSMISSION_S: f64 = 1.0;
/// Bytes of two longest packets. A smaller bucket drops the second of two back-to-back packets.
const TWO_LONGEST: u64 = 2 * LONGEST;

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
        } else if let Some(finding) = slow(&place, &name, rate, burst) {
            found.push(finding);
        } else if burst.as_bytes() as f64 * 8.0 < rate.as_bits_per_second() as f64 * ROUND_TRIP_S {
            let needed = (rate.as_bits_per_second() as f64 * ROUND_TRIP_S / 8.0).ceil();
            let lasts_ms = burst.as_bytes() as f64 * 8e3 / rate.as_bits_per_second() as f64;
            let digits = if lasts_ms < 1.0 { 2 } else { 0 };
            found.push(Finding::new(
                &rules::POLICE_BURST_SMALL,
                place,
                format!(
                    "the policer of {name} has a burst of {burst}, {lasts_ms:.digits$} ms of its rate {rate}"
                ),
                format!("TCP over 100 ms needs {needed:.0} bytes to reach the rate"),
            ));
        }
    }
}

/// Checks the policer in front of a class's queue.
pub(crate) fn check_class(class: &ClassConfig, is_voice: bool, place: &Place, found: &mut Vec<Finding>) {
    if let Some(police) = &class.police {
        let packet = if is_voice { VOICE } else { LONGEST };
        let below = below_packet(place, &class.name, police.burst, packet);
        let small = below.is_none().then(|| priority_burst(place, class, police)).flatten();
        found.extend(below.or(small));
    }
}

/// Reports a priority class whose bucket is too small for two long packets.
fn priority_burst(place: &Place, class: &ClassConfig, police: &PoliceConfig) -> Option<Finding> {
    let burst = police.burst.as_bytes();
    (burst < TWO_LONGEST).then(|| {
        Finding::new(
            &rules::PRIORITY_BURST_SMALL,
            place.clone(),
            format!(
                "class {}: a burst of {burst} bytes is {} packets of {VOICE} bytes or {} of {LONGEST}",
                class.name,
                burst / VOICE,
                burst / LONGEST
            ),
            "packets that arrive together beyond it are dropped while the link is congested",
        )
    })
}

/// Reports a policer that takes longer between two long packets than TCP's retransmission timeout.
fn slow(place: &Place, name: &str, rate: Rate, burst: ByteSize) -> Option<Finding> {
    let packet_s = LONGEST as f64 * 8.0 / (rate.as_bits_per_second() as f64).max(1.0);
    (burst.as_bytes() < TWO_LONGEST && packet_s > RETRANSMISSION_S).then(|| {
        Finding::new(
            &rules::POLICE_RATE_SLOW,
            place.clone(),
            format!(
                "the policer of {name} passes one packet of {LONGEST} bytes in {:.0} ms: {rate}, burst {burst}",
                packet_s * 1e3
            ),
            "TCP sends a lost packet again after 1000 ms: a session that sends long packets stalls",
        )
    })
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

/// Returns rate and burst of conforming packets.
fn bucket(meter: Option<&MeterConfig>) -> Option<(Rate, ByteSize)> {
    match meter? {
        MeterConfig::TokenBucket(config) => Some((config.rate, config.burst)),
        MeterConfig::TokenBucketWithDebt(config) => Some((config.rate, config.burst)),
        MeterConfig::SingleRateTcm(config) => Some((config.cir, config.cbs)),
        MeterConfig::TwoRateTcm(config) => Some((config.cir, config.cbs)),
        _ => None,
    }
}

/// Whether non-conforming packets are dropped.
fn drops(conditioner: &ConditionerConfig) -> bool {
    conditioner.yellow.contains(&Action::Drop) || conditioner.red.contains(&Action::Drop)
}
