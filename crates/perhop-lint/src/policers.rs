//! Rules for policer bursts: too small for a packet, for TCP or for calls, or too large to enforce the rate.

use perhop_qos::action::Action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policer::PoliceConfig;
use perhop_qos::policy::ClassConfig;
use perhop_qos::{ByteSize, Rate};

use crate::finding::{Finding, Place, Subject};
use crate::needed_burst::{TcpBurst, calls_burst};
use crate::rules;

/// IP bytes of the longest packet on Ethernet.
const LONGEST: u64 = 1500;
/// IP bytes of a packet with 20 ms of G.711 (RFC 3551 §4.5.14) and RTP, UDP and IP headers, and the rate of
/// these packets, bits per second.
const VOICE: u64 = 200;
const CALL: f64 = 80_000.0;
/// The assumed round-trip time of TCP, seconds.
const ROUND_TRIP_S: f64 = 0.1;
/// Least retransmission timeout of TCP, seconds (RFC 6298 §2.4).
const RETRANSMISSION_S: f64 = 1.0;
/// Bytes of two longest packets. A smaller bucket drops the second of two back-to-back packets.
const TWO_LONGEST: u64 = 2 * LONGEST;
/// The longest usual burst, in seconds of the rate. It is the extended burst of CAR according to Cisco: twice
/// the normal burst of 1.5 s (Policing and Shaping Overview).
const LONGEST_USUAL_S: f64 = 3.0;

pub(crate) fn check(subject: &Subject, found: &mut Vec<Finding>) {
    for (index, conditioner) in subject.policy.conditioners.iter().enumerate() {
        let Some((rate, burst)) = bucket(conditioner.meter.as_ref()) else { continue };
        if !drops(conditioner) {
            continue;
        }
        let name = conditioner.name.clone().unwrap_or_else(|| index.to_string());
        let place = Place::Conditioner(index);
        let below = below_packet(&place, &name, burst, LONGEST);
        found.extend(second_below_packet(&place, &name, conditioner).filter(|_| below.is_none()));
        found.extend(
            below
                .or_else(|| slow(&place, &name, rate, burst))
                .or_else(|| small(&place, &name, rate, burst))
                .or_else(|| large(&place, &name, rate, at_once(conditioner, burst))),
        );
    }
}

/// Reports a policer whose bucket is smaller than the product of its rate and a round trip.
fn small(place: &Place, name: &str, rate: Rate, burst: ByteSize) -> Option<Finding> {
    let bits = rate.as_bits_per_second() as f64;
    let needed = TcpBurst::new(bits, ROUND_TRIP_S, LONGEST);
    ((burst.as_bytes() as f64) < needed.product).then(|| {
        let lasts_ms = burst.as_bytes() as f64 * 8e3 / bits;
        let digits = if lasts_ms < 1.0 { 2 } else { 0 };
        let (near, whole) = (needed.product.ceil(), needed.committed());
        let needs = if whole > near {
            format!("{near:.0} bytes to approach the rate, and {whole:.0} bytes to reach it")
        } else {
            format!("{near:.0} bytes to reach the rate")
        };
        Finding::new(
            &rules::POLICE_BURST_SMALL,
            place.clone(),
            format!(
                "the policer of {name} has a burst of {burst}, {lasts_ms:.digits$} ms of its rate {rate}"
            ),
            format!("TCP with an RTT of 100 ms needs {needs}; see `perhop design policer`"),
        )
    })
}

/// Reports a policer with a burst of several seconds of its rate, more than any TCP connection needs.
fn large(place: &Place, name: &str, rate: Rate, burst: ByteSize) -> Option<Finding> {
    let bits = rate.as_bits_per_second() as f64;
    let usual = bits * LONGEST_USUAL_S / 8.0;
    let needed = TcpBurst::new(bits, ROUND_TRIP_S, LONGEST).committed();
    (burst.as_bytes() as f64 > usual.max(needed)).then(|| {
        Finding::new(
            &rules::POLICE_BURST_LARGE,
            place.clone(),
            format!(
                "the policer of {name} passes {burst} at once, {:.1} s of its rate {rate}",
                burst.as_bytes() as f64 * 8.0 / bits.max(1.0)
            ),
            format!(
                "the unit of a policer's burst is bytes; TCP with an RTT of 100 ms needs {needed:.0} bytes"
            ),
        )
    })
}

/// Checks the policer in front of a class's queue.
pub(crate) fn check_class(class: &ClassConfig, is_voice: bool, place: &Place, found: &mut Vec<Finding>) {
    if let Some(police) = &class.police {
        let packet = if is_voice { VOICE } else { LONGEST };
        let below = below_packet(place, &class.name, police.burst, packet);
        found.extend(
            below
                .or_else(|| priority_burst(place, class, police))
                .or_else(|| large(place, &class.name, police.rate, police.burst)),
        );
    }
}

/// Reports a priority class whose bucket is smaller than two long packets, or than one packet of each call.
fn priority_burst(place: &Place, class: &ClassConfig, police: &PoliceConfig) -> Option<Finding> {
    let burst = police.burst.as_bytes();
    let calls = (police.rate.as_bits_per_second() as f64 / CALL).floor();
    let meeting = calls_burst(calls, VOICE, 0.0);
    if burst >= TWO_LONGEST && (burst as f64) < meeting {
        let message = format!(
            "class {}: a burst of {burst} bytes is {} packets of {VOICE} bytes, but {} carries {calls} calls",
            class.name,
            burst / VOICE,
            police.rate
        );
        let remedy = format!(
            "if all calls send at the same time, they need {meeting:.0} bytes: see `perhop design policer \
             --calls`"
        );
        return Some(Finding::new(&rules::PRIORITY_BURST_SMALL, place.clone(), message, remedy));
    }
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
            "longer bursts lose packets while the link is congested",
        )
    })
}

/// Reports a policer that needs longer than TCP's retransmission timeout to refill for a long packet.
fn slow(place: &Place, name: &str, rate: Rate, burst: ByteSize) -> Option<Finding> {
    let packet_s = LONGEST as f64 * 8.0 / (rate.as_bits_per_second() as f64).max(1.0);
    (burst.as_bytes() < TWO_LONGEST && packet_s > RETRANSMISSION_S).then(|| {
        Finding::new(
            &rules::POLICE_RATE_SLOW,
            place.clone(),
            format!(
                "the policer of {name} passes one packet of {LONGEST} bytes per {:.0} ms: {rate}, burst \
                 {burst}",
                packet_s * 1e3
            ),
            "TCP retransmits earlier, after 1000 ms, so a session that sends long packets stalls",
        )
    })
}

fn below_packet(place: &Place, name: &str, burst: ByteSize, packet: u64) -> Option<Finding> {
    (burst.as_bytes() < packet).then(|| {
        Finding::new(
            &rules::POLICE_BURST_BELOW_PACKET,
            place.clone(),
            format!("the policer of {name} has a burst of {burst}: no packet of {packet} bytes conforms"),
            "write a burst of at least the longest packet",
        )
    })
}

/// Reports a second bucket that is smaller than a long packet. A peak bucket of this size drops all long
/// packets. An excess bucket of this size passes no long packet.
fn second_below_packet(place: &Place, name: &str, conditioner: &ConditionerConfig) -> Option<Finding> {
    match conditioner.meter.as_ref()? {
        MeterConfig::TwoRateTcm(config) => {
            let message = format!("the policer of {name} has a peak burst of {}", config.pbs);
            below_packet(place, name, config.pbs, LONGEST).map(|found| Finding {
                message: format!("{message}: no packet of {LONGEST} bytes is within the peak rate"),
                ..found
            })
        }
        MeterConfig::SingleRateTcm(config) if config.ebs.as_bytes() > 0 => {
            let message = format!("the policer of {name} has an excess burst of {}", config.ebs);
            below_packet(place, name, config.ebs, LONGEST).map(|found| Finding {
                message: format!(
                    "{message}: no packet of {LONGEST} bytes fits into it, so such a packet \
                                  conforms or violates but never exceeds"
                ),
                ..found
            })
        }
        _ => None,
    }
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

/// Returns the bytes that pass at once. They include the excess bucket if exceeding packets pass, because
/// this bucket fills at the same rate.
fn at_once(conditioner: &ConditionerConfig, burst: ByteSize) -> ByteSize {
    let excess = match &conditioner.meter {
        Some(MeterConfig::SingleRateTcm(config)) if !conditioner.yellow.contains(&Action::Drop) => config.ebs,
        _ => ByteSize::from_bytes(0),
    };
    ByteSize::from_bytes(burst.as_bytes().saturating_add(excess.as_bytes()))
}

/// Whether non-conforming packets are dropped.
fn drops(conditioner: &ConditionerConfig) -> bool {
    conditioner.yellow.contains(&Action::Drop) || conditioner.red.contains(&Action::Drop)
}
