//! [`Guess`]: links that only descriptions of interfaces suggest.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{LinkEnd, PortId, Snapshot, carries_packets};

/// Characters that separate the words of a description, in addition to spaces.
const SEPARATORS: &str = ":;,()[]<>{}|=\"'";

/// A link that descriptions suggest. It is not a link of the snapshot, so no path uses it.
#[derive(Clone, Debug, Serialize)]
pub struct Guess {
    /// The two ends of the link.
    pub ends: [LinkEnd; 2],
    /// The descriptions that suggest the link.
    pub described: Vec<Described>,
}

/// The description of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The name of the device.
    pub device: String,
    /// The name of the interface.
    pub interface: String,
    /// The text of the description.
    pub description: String,
}

/// The far end that a description names.
#[derive(Clone, Copy)]
struct Named {
    device: usize,
    /// The port of the far end; `None` if the description does not name a port.
    port: Option<usize>,
}

impl Snapshot<'_> {
    /// Returns the links that descriptions suggest between ports without a link and without a cable.
    ///
    /// A description must name exactly one other device. It must also name a port of that device, or only one
    /// port of that device may have a description that names this device. Guesses that share a port are
    /// omitted, as are guesses whose ends contradict each other.
    pub fn guesses(&self) -> Vec<Guess> {
        let free = self.free_ports();
        let names: BTreeMap<String, usize> = self
            .devices
            .iter()
            .enumerate()
            .map(|(place, device)| (device.name.to_lowercase(), place))
            .collect();
        let named: BTreeMap<PortId, Named> =
            free.iter().filter_map(|id| Some((*id, self.far_end(*id, &names)?))).collect();
        let mut found: BTreeMap<[PortId; 2], Vec<PortId>> = BTreeMap::new();
        let mut contradicted = BTreeSet::new();
        for (id, far) in &named {
            let other = counterpart(*id, *far, &named).filter(|other| free.contains(other));
            let Some(other) = other else { continue };
            let pair = [(*id).min(other), (*id).max(other)];
            if named.get(&other).is_some_and(|back| !back.leads_to(*id)) {
                contradicted.insert(pair);
            }
            found.entry(pair).or_default().push(*id);
        }
        let mut uses: BTreeMap<PortId, usize> = BTreeMap::new();
        for end in found.keys().flatten() {
            *uses.entry(*end).or_default() += 1;
        }
        let is_clear =
            |pair: &[PortId; 2]| pair.iter().all(|end| uses[end] == 1) && !contradicted.contains(pair);
        let guess = |(pair, described): ([PortId; 2], Vec<PortId>)| Guess {
            ends: pair.map(|id| self.link_end(id)),
            described: described.into_iter().map(|id| self.described(id)).collect(),
        };
        found.into_iter().filter(|(pair, _)| is_clear(pair)).map(guess).collect()
    }

    /// Returns the pairs of ports whose descriptions name each other. These ports may already have links.
    pub(crate) fn described_pairs(&self) -> Vec<[PortId; 2]> {
        let names: BTreeMap<String, usize> = self
            .devices
            .iter()
            .enumerate()
            .map(|(place, member)| (member.name.to_lowercase(), place))
            .collect();
        let all = (0..self.devices.len()).flat_map(|device| {
            let router = self.router(device);
            let up = (0..router.ports.len()).filter(|port| carries_packets(router, &router.ports[*port]));
            up.map(move |port| PortId { device, port })
        });
        let named: BTreeMap<PortId, PortId> = all
            .filter(|id| self.port(*id).forwarding.tunnel.is_none())
            .filter_map(|id| {
                let far = self.far_end(id, &names)?;
                Some((id, PortId { device: far.device, port: far.port? }))
            })
            .collect();
        let mutual = named.iter().filter(|(id, far)| *id < far && named.get(far) == Some(id));
        mutual.map(|(id, far)| [*id, *far]).collect()
    }

    /// Returns the ports that have neither a link nor a cable, including sub-interfaces.
    fn free_ports(&self) -> BTreeSet<PortId> {
        let cabled: BTreeSet<PortId> = self
            .cables
            .iter()
            .flat_map(|cable| &cable.ends)
            .filter_map(|end| self.cabled_port(end))
            .collect();
        let mut found = BTreeSet::new();
        for (device, links) in self.link_of.iter().enumerate() {
            let router = self.router(device);
            for (port, own) in router.ports.iter().enumerate() {
                let id = PortId { device, port };
                let is_connected = router.ports.iter().zip(links).any(|(other, link)| {
                    let is_part = other.forwarding.parent.as_ref() == Some(&own.interface);
                    other.forwarding.below.contains(&own.interface) || (is_part && link.is_some())
                });
                if carries_packets(router, own)
                    && own.forwarding.tunnel.is_none()
                    && links[port].is_none()
                    && !is_connected
                    && !cabled.contains(&id)
                {
                    found.insert(id);
                }
            }
        }
        found
    }

    fn cabled_port(&self, end: &str) -> Option<PortId> {
        let (name, interface) = end.split_once(':')?;
        let device = self.place_of(name)?;
        Some(PortId { device, port: self.port_called(device, interface)? })
    }

    fn port_called(&self, device: usize, written: &str) -> Option<usize> {
        let name = &self.devices[device].device.port(written).ok()?.name;
        self.router(device).ports.iter().position(|port| port.name == *name)
    }

    /// Returns the far end that the description of a port names.
    fn far_end(&self, id: PortId, names: &BTreeMap<String, usize>) -> Option<Named> {
        let description = self.port(id).forwarding.description.as_deref()?;
        let is_between = |letter: char| letter.is_whitespace() || SEPARATORS.contains(letter);
        let words: Vec<&str> = description.split(is_between).filter(|word| !word.is_empty()).collect();
        let device = |word: &str| {
            let name = word.trim_matches('.').to_lowercase();
            // A name can include a domain, which is ignored.
            names.get(&name).or_else(|| names.get(name.split('.').next()?)).copied()
        };
        let mut others = words.iter().enumerate().filter_map(|(place, word)| {
            device(word).filter(|device| *device != id.device).map(|device| (place, device))
        });
        let (place, device) = others.next()?;
        if others.any(|(_, other)| other != device) {
            return None;
        }
        let rest = &words[place + 1..];
        let alone = rest.iter().map(|word| (*word).to_owned());
        let joined = rest.windows(2).map(<[&str]>::concat);
        let port = alone.chain(joined).find_map(|word| self.port_called(device, &word));
        // A description can name a port that was removed after the description was written.
        let is_unknown = port.is_none() && rest.iter().any(|word| looks_like_port(word));
        (!is_unknown).then_some(Named { device, port })
    }

    fn link_end(&self, id: PortId) -> LinkEnd {
        let (device, interface) = (self.devices[id.device].name.clone(), self.port(id).name.clone());
        LinkEnd { device, interface, id }
    }

    fn described(&self, id: PortId) -> Described {
        let LinkEnd { device, interface, .. } = self.link_end(id);
        let description = self.port(id).forwarding.description.clone().unwrap_or_default();
        Described { device, interface, description }
    }
}

/// Whether a word has the form of a port name, such as `Gi0/1`. The word `20Mb/s` does not.
fn looks_like_port(word: &str) -> bool {
    word.split_once('/').is_some_and(|(slot, number)| {
        slot.ends_with(|last: char| last.is_ascii_digit())
            && number.starts_with(|first: char| first.is_ascii_digit())
    })
}

impl Named {
    /// Whether the named end can be the port `id`.
    fn leads_to(self, id: PortId) -> bool {
        self.device == id.device && self.port.is_none_or(|port| port == id.port)
    }
}

/// Returns the port at the other end: the port that the description names, otherwise the only port whose
/// description names this port.
fn counterpart(id: PortId, far: Named, named: &BTreeMap<PortId, Named>) -> Option<PortId> {
    if let Some(port) = far.port {
        return Some(PortId { device: far.device, port });
    }
    let mut others = named.iter().filter(|(other, back)| other.device == far.device && back.leads_to(id));
    let (other, _) = others.next()?;
    others.next().is_none().then_some(*other)
}
