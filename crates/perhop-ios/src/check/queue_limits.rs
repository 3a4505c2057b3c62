//! Reports queues that are too short for a fast retransmit after a loss.

use perhop_device::intent::QueueLimit;
use perhop_lint::Diagnostic;

use crate::ast::Configuration;
use crate::rules;

/// The number of packets that a fast retransmit needs: the lost packet, and the three later packets that
/// cause three duplicate acknowledgments (RFC 5681 §3.2).
const FAST_RETRANSMIT_PACKETS: u64 = 4;

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        let Some(limit) = &class.queue_limit else { continue };
        let QueueLimit::Packets(packets) = limit.value else { continue };
        if packets < FAST_RETRANSMIT_PACKETS && class.priority.is_none() {
            found.push(Diagnostic::new(
                &rules::QUEUE_LIMIT_SMALL,
                limit.line,
                format!("the queue of class {} admits {packets} packets", class.name),
                "a queue this short drops packets of every burst, and TCP waits for a timeout after most \
                 drops",
            ));
        }
    }
}
