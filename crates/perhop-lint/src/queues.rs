//! Rules for the delay in queues, at the guaranteed rate of their class, and in the tx-ring.

use perhop_qos::QueueSize;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::ring::{RingConfig, RingRelease};

use crate::finding::{Finding, Place, Subject};
use crate::leaf::Leaf;
use crate::{policers, rules, wred};

/// Limit on the one-way delay of conversation (ITU-T G.114).
const CONVERSATION_MS: f64 = 150.0;
/// Limit on the delay of other traffic. It is a rule of thumb, because applications with longer delays time
/// out and retry.
const PATIENCE_MS: f64 = 1000.0;
/// Limit on the time that a packet with priority waits because of the tx-ring.
const RING_MS: f64 = 30.0;
/// IP bytes of the assumed packet for limits in packets: voice, and the mean of other traffic.
const VOICE_BYTES: f64 = 200.0;
const MEAN_BYTES: f64 = 500.0;
/// IP bytes of small and full packets. They determine the least and the greatest delay of a limit in packets.
const SMALL_BYTES: f64 = 64.0;
const LONGEST_BYTES: u64 = 1500;

impl Leaf<'_> {
    pub(crate) fn check(&self, found: &mut Vec<Finding>) {
        policers::check_class(self.class, self.has_priority, &self.place, found);
        let limit = self.queue_limit();
        if let Some(config) = self.class.buffer.as_ref().and_then(BufferConfig::mred) {
            wred::check(self, config, limit, found);
        }
        found.extend(limit.and_then(|limit| self.slow(limit)));
    }

    fn queue_limit(&self) -> Option<QueueSize> {
        match &self.class.buffer {
            Some(BufferConfig::TailDrop(config)) => Some(config.limit),
            Some(BufferConfig::FillProfile(config)) => Some(config.limit),
            // These buffer managers limit the waiting time or only a part of the queue, so the queue limit
            // does not determine the delay.
            Some(
                BufferConfig::WeightedTailDrop(_)
                | BufferConfig::SharedMemory(_)
                | BufferConfig::Codel(_)
                | BufferConfig::FqCodel(_)
                | BufferConfig::FqPie(_)
                | BufferConfig::Pie(_)
                | BufferConfig::DualPi2(_)
                | BufferConfig::Cake(_),
            ) => None,
            Some(
                BufferConfig::Red(config)
                | BufferConfig::Wred(config)
                | BufferConfig::RioC(config)
                | BufferConfig::RioDc(config)
                | BufferConfig::Mred(config),
            ) => config.limit.or(self.limit),
            None => self.limit,
        }
    }

    fn slow(&self, limit: QueueSize) -> Option<Finding> {
        let rate = self.sure.filter(|rate| rate.as_bits_per_second() > 0)?;
        let (most_ms, packet) =
            if self.has_priority { (CONVERSATION_MS, VOICE_BYTES) } else { (PATIENCE_MS, MEAN_BYTES) };
        // After a burst, conforming traffic arrives at the rate of the policer, so at most the burst waits in
        // the queue.
        let burst = self.class.police.map_or(f64::INFINITY, |police| police.burst.as_bytes() as f64);
        let takes_ms = |packet: f64| {
            let bytes = match limit {
                QueueSize::Packets(packets) => packets as f64 * packet,
                QueueSize::Bytes(bytes) => bytes as f64,
            };
            bytes.min(burst) * 8e3 / rate.as_bits_per_second() as f64
        };
        let (waits_ms, small_ms, full_ms) =
            (takes_ms(packet), takes_ms(SMALL_BYTES), takes_ms(LONGEST_BYTES as f64));
        let time = if small_ms < full_ms {
            format!(
                "{small_ms:.0} ms ({SMALL_BYTES}-byte packets) to {full_ms:.0} ms ({LONGEST_BYTES}-byte \
                 packets)"
            )
        } else {
            format!("{full_ms:.0} ms")
        };
        let name = &self.class.name;
        (waits_ms > most_ms).then(|| {
            Finding::new(
                &rules::QUEUE_DELAY,
                self.place.clone(),
                format!("class {name}: a full queue of {limit} takes {time} at the guaranteed rate {rate}"),
                format!(
                    "a limit of {:.0} bytes takes {most_ms:.0} ms",
                    rate.as_bits_per_second() as f64 * most_ms / 8e3
                ),
            )
        })
    }
}

/// Checks the delay of the tx-ring, for a port with a priority class.
pub(crate) fn check_ring(subject: &Subject, found: &mut Vec<Finding>) {
    let Some(wire) = subject.wire else { return };
    let bytes = match wire.ring {
        RingConfig::Packets(count) => u64::from(count).saturating_mul(LONGEST_BYTES),
        RingConfig::Particles { count, size, release, .. } => {
            let sent = if release == RingRelease::FirstBit { LONGEST_BYTES } else { 0 };
            u64::from(count).saturating_mul(size.as_bytes()).saturating_add(sent)
        }
    };
    // A ring of one packet adds no delay: a priority packet always waits for the packet on the wire.
    let rate = wire.rate.as_bits_per_second();
    if bytes <= LONGEST_BYTES || rate == 0 {
        return;
    }
    let delay_ms = bytes as f64 * 8e3 / rate as f64;
    if delay_ms > RING_MS {
        found.push(Finding::new(
            &rules::RING_DELAY,
            Place::Policy,
            format!("a transmit ring of {bytes} bytes takes {delay_ms:.0} ms at {}", wire.rate),
            "priority packets wait until the ring is empty; two or three packets are enough to keep the line \
             busy",
        ));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use perhop_qos::Rate;
    use serde_json::json;

    use crate::{Subject, check_sharing};

    /// Returns the message of the rule for a class with a queue of this limit at 100 kb/s.
    fn delay_of(limit: &str) -> Option<String> {
        let policy = serde_json::from_value(json!({"queueing": {"classes": [
            {"name": "all", "buffer": {"tail-drop": {"limit": limit}}},
        ]}}));
        let (policy, limits) = (policy.unwrap(), BTreeMap::new());
        let rate = Some(Rate::from_bits_per_second(100_000));
        let found =
            check_sharing(&Subject { policy: &policy, rate, wire: None, limits: &limits, interfaces: &[] });
        found.into_iter().find(|finding| finding.rule.id == "queue-delay").map(|finding| finding.message)
    }

    #[test]
    fn a_limit_in_packets_has_a_time_for_small_and_for_full_packets() {
        // 64 · 64 · 8 / 100 kb/s are 328 ms; 64 · 1500 · 8 / 100 kb/s are 7680 ms.
        let message = delay_of("64 packets").unwrap();
        let time =
            "takes 328 ms (64-byte packets) to 7680 ms (1500-byte packets) at the guaranteed rate 100kb/s";
        assert!(message.contains(time), "{message}");
        assert_eq!(delay_of("24 packets"), None);
    }

    #[test]
    fn a_limit_in_bytes_has_one_time() {
        let message = delay_of("25000B").unwrap();
        assert!(message.contains("takes 2000 ms at the guaranteed rate 100kb/s"), "{message}");
    }
}
