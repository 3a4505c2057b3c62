//! Fragments of a bundle of PPP links (`ppp multilink fragment`), and what goes between them.

use perhop_lint::Diagnostic;
use perhop_qos::ByteSize;
use perhop_qos::framing::{Header, Multilink};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::{Context, Wire};
use crate::ast::Interface;
use crate::check::rate;
use crate::rules;

/// What a fragment lasts on one link where `interleave` stands alone, microseconds.
const DEFAULT_DELAY: u64 = 30_000;
/// What routers take off for address, control, protocol and multilink header: `show ppp multilink` gives 152
/// bytes for 10 ms at 128 kb/s, where 160 would take that long.
const HEADERS: u64 = 8;
/// The fewest bytes that perhop cuts a packet into.
const LEAST: u64 = 16;
/// Above that a packet of 1500 bytes lasts less than 16 ms: Cisco's designs fragment up to there. Kilobits
/// per second.
const FASTEST: u64 = 768;

/// Whether `interface` bundles PPP links.
pub(super) fn is_bundle(interface: &Interface) -> bool {
    interface.multilink_group.is_some() && interface.name.starts_with("Multilink")
}

impl Context<'_> {
    /// The multilink header of the packets of `bundle`, and what it cuts.
    pub(super) fn multilink(&self, bundle: &Interface) -> Multilink {
        let written = bundle.multilink.unwrap_or_default();
        let interleave = written.interleave.is_some() && written.unfragmented.is_none();
        let default = interleave.then_some(DEFAULT_DELAY);
        let delay = written.fragment_microseconds.map(|delay| delay.value).or(default);
        let by_delay = delay
            .map(|delay| (self.link_kilobits(bundle).saturating_mul(delay) / 8000).saturating_sub(HEADERS));
        let bytes = written.fragment_bytes.map(|bytes| bytes.value).or(by_delay);
        let fragment = bytes.filter(|_| written.unfragmented.is_none());
        let fragment = fragment.map(|bytes| ByteSize::from_bytes(bytes.clamp(LEAST, 65535)));
        Multilink { fragment, interleave, ..Multilink::default() }
    }

    /// The rate of the slowest link of `bundle` that is not shut down, or its own where none is known:
    /// kilobits per second.
    fn link_kilobits(&self, bundle: &Interface) -> u64 {
        let group = bundle.multilink_group.map(|group| group.value);
        let links = self.configuration.links_of(group).filter(|interface| interface.name != bundle.name);
        let (up, down): (Vec<_>, Vec<_>) = links.partition(|interface| interface.shutdown.is_none());
        let slowest = |links: &[&Interface]| links.iter().filter_map(|interface| rate(interface)).min();
        slowest(&up).or_else(|| slowest(&down)).or_else(|| rate(bundle)).unwrap_or(1544)
    }

    /// Says where interleaving cannot do what it is for.
    pub(super) fn advise_fragments(&mut self, interface: &Interface, wire: &Wire, output: &PolicyConfig) {
        let cuts = |header: &&Header| matches!(header, Header::Mlppp(Multilink { fragment: Some(_), .. }));
        if !is_bundle(interface) || !wire.headers.headers().iter().any(|header| cuts(&header)) {
            return;
        }
        let (name, kilobits) = (&interface.name, self.link_kilobits(interface));
        let interleave = interface.multilink.and_then(|multilink| multilink.interleave);
        if let Some(line) = interleave.map(|interleave| interleave.line)
            && !output.queueing.as_ref().is_some_and(has_priority)
        {
            self.found.push(Diagnostic::new(
                &rules::INTERLEAVE_WITHOUT_PRIORITY,
                line,
                format!("{name} interleaves, but no class of its output has `priority`"),
                "the router sends small packets of `fair-queue` between fragments; in perhop nothing goes there",
            ));
        }
        if kilobits > FASTEST {
            let multilink = interface.multilink.unwrap_or_default();
            let lines = [
                multilink.fragment_microseconds.map(|delay| delay.line),
                multilink.fragment_bytes.map(|bytes| bytes.line),
                multilink.interleave.map(|interleave| interleave.line),
            ];
            self.found.push(Diagnostic::new(
                &rules::FRAGMENTS_ON_FAST_LINK,
                lines.into_iter().flatten().next().unwrap_or(interface.line),
                format!("{name} cuts packets for links of {kilobits} kb/s"),
                "the router does it; Cisco advises fragments up to 768 kb/s: above they cost more than they save",
            ));
        }
    }
}

/// Whether a class of `queueing` has priority over others.
fn has_priority(queueing: &QueueingConfig) -> bool {
    let inside = |class: &perhop_qos::policy::ClassConfig| class.queueing.as_ref().is_some_and(has_priority);
    queueing.scheduler == SchedulerConfig::Priority || queueing.classes.iter().any(inside)
}
