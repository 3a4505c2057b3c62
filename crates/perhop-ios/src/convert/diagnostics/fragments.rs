//! Reports PPP multilink fragmentation that has no effect or more cost than benefit.

use perhop_device::Wire;
use perhop_lint::Diagnostic;
use perhop_qos::framing::{Header, Multilink};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use crate::ast::{Configuration, Interface};
use crate::convert::wire::{is_bundle, link_kilobits};
use crate::rules;

/// Rate, kilobits per second, above which a packet of 1500 bytes takes less than 16 ms. Cisco's designs
/// fragment up to this rate.
const FASTEST: u64 = 768;

/// Reports interleaving that has no effect, and fragmentation on links that are too fast for it.
pub(in crate::convert) fn advise_fragments(
    interface: &Interface,
    configuration: &Configuration,
    wire: &Wire,
    output: &PolicyConfig,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let cuts = |header: &&Header| matches!(header, Header::Mlppp(Multilink { fragment: Some(_), .. }));
    if !is_bundle(interface) || !wire.headers.headers().iter().any(|header| cuts(&header)) {
        return found;
    }
    let (name, kilobits) = (&interface.name, link_kilobits(interface, configuration));
    let interleave = interface.multilink.and_then(|multilink| multilink.interleave);
    if let Some(line) = interleave.map(|interleave| interleave.line)
        && !output.queueing.as_ref().is_some_and(has_priority)
    {
        found.push(Diagnostic::new(
            &rules::INTERLEAVE_WITHOUT_PRIORITY,
            line,
            format!(
                "{name} interleaves packets between fragments, but no class of its output policy has \
                     `priority`"
            ),
            "the router sends small packets of `fair-queue` between fragments; perhop interleaves only \
             packets of a priority class",
        ));
    }
    if kilobits > FASTEST {
        let multilink = interface.multilink.unwrap_or_default();
        let lines = [
            multilink.fragment_microseconds.map(|delay| delay.line),
            multilink.fragment_bytes.map(|bytes| bytes.line),
            multilink.interleave.map(|interleave| interleave.line),
        ];
        found.push(Diagnostic::new(
            &rules::FRAGMENTS_ON_FAST_LINK,
            lines.into_iter().flatten().next().unwrap_or(interface.line),
            format!("{name} fragments packets at {kilobits} kb/s"),
            "the router accepts the line; Cisco recommends fragments only up to 768 kb/s, because each \
             fragment has its own header",
        ));
    }
    found
}

/// Whether a class of `queueing` has priority over other classes.
fn has_priority(queueing: &QueueingConfig) -> bool {
    let inside = |class: &perhop_qos::policy::ClassConfig| class.queueing.as_ref().is_some_and(has_priority);
    queueing.scheduler == SchedulerConfig::Priority || queueing.classes.iter().any(inside)
}
