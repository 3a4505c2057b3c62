//! PPP multilink fragmentation (`ppp multilink fragment`) and interleaving.

use perhop_qos::ByteSize;
use perhop_qos::framing::Multilink;

use crate::ast::{Configuration, Interface, LinkEncapsulation};
use crate::check::rate;

/// Default transmission time of a fragment with `interleave`, microseconds.
const DEFAULT_DELAY: u64 = 30_000;
/// The bytes of a fragment for address, control, protocol and multilink header, which routers subtract.
/// Source: `show ppp multilink` prints 152 bytes for 10 ms at 128 kb/s, which is the time of 160 bytes.
const HEADERS: u64 = 8;
/// The minimum fragment size in perhop, bytes.
const LEAST: u64 = 16;

/// Whether `interface` bundles PPP links.
pub(in crate::convert) fn is_bundle(interface: &Interface) -> bool {
    interface.multilink_group.is_some() && interface.name.starts_with("Multilink")
}

/// The number of usable links of a bundle, and the line to report if a link is missing.
pub(in crate::convert) struct BundleLinks {
    pub(in crate::convert) usable: usize,
    pub(in crate::convert) line: usize,
}

/// Counts the usable links of `bundle`. The reported line belongs to a link that is down, does not run PPP,
/// names an unknown bundle, or runs PPP without a bundle. If no such link exists, the reported line is the
/// first line of the bundle.
pub(in crate::convert) fn bundle_links(bundle: &Interface, configuration: &Configuration) -> BundleLinks {
    let group = bundle.multilink_group.map(|group| group.value);
    let links = || configuration.links_of(group).filter(|link| link.name != bundle.name);
    let speaks_ppp = |link: &Interface| {
        link.encapsulation.is_some_and(|encapsulation| encapsulation.value == LinkEncapsulation::Ppp)
    };
    let obstacle = |link: &Interface| {
        let other = link.encapsulation.filter(|_| !speaks_ppp(link)).map(|encapsulation| encapsulation.line);
        link.shutdown.map(|at| at.line).or(other)
    };
    let is_known = |number: u64| configuration.links_of(Some(number)).any(is_bundle);
    let stray = || {
        configuration.interfaces.iter().find_map(|link| {
            let number = link.multilink_group.filter(|number| !is_bundle(link) && !is_known(number.value))?;
            Some(number.line)
        })
    };
    let alone = || {
        configuration
            .interfaces
            .iter()
            .find(|link| speaks_ppp(link) && link.multilink_group.is_none() && link.addresses.is_empty())
    };
    let line = links().find_map(obstacle).or_else(stray).or_else(|| alone().map(|link| link.line));
    BundleLinks {
        usable: links().filter(|link| obstacle(link).is_none()).count(),
        line: line.unwrap_or(bundle.line),
    }
}

/// Returns the multilink header of the packets of `bundle`, and its fragmentation.
pub(super) fn multilink(bundle: &Interface, configuration: &Configuration) -> Multilink {
    let written = bundle.multilink.unwrap_or_default();
    let interleave = written.interleave.is_some() && written.unfragmented.is_none();
    let default = interleave.then_some(DEFAULT_DELAY);
    let delay = written.fragment_microseconds.map(|delay| delay.value).or(default);
    let by_delay = delay.map(|delay| {
        (link_kilobits(bundle, configuration).saturating_mul(delay) / 8000).saturating_sub(HEADERS)
    });
    let bytes = written.fragment_bytes.map(|bytes| bytes.value).or(by_delay);
    let fragment = bytes.filter(|_| written.unfragmented.is_none());
    let fragment = fragment.map(|bytes| ByteSize::from_bytes(bytes.clamp(LEAST, 65535)));
    Multilink { fragment, interleave, ..Multilink::default() }
}

/// Returns the rate of the slowest link of `bundle` that is up, kilobits per second. If no rate is known,
/// returns the rate of the bundle.
pub(in crate::convert) fn link_kilobits(bundle: &Interface, configuration: &Configuration) -> u64 {
    let group = bundle.multilink_group.map(|group| group.value);
    let links = configuration.links_of(group).filter(|interface| interface.name != bundle.name);
    let (up, down): (Vec<_>, Vec<_>) = links.partition(|interface| interface.shutdown.is_none());
    let slowest = |links: &[&Interface]| links.iter().filter_map(|interface| rate(interface)).min();
    slowest(&up).or_else(|| slowest(&down)).or_else(|| rate(bundle)).unwrap_or(1544)
}
