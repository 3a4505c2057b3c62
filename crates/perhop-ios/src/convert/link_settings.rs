//! The settings of an interface that must be equal at both ends of its link.

use perhop_device::LinkSettingKind::{
    BundleLinks, FragmentDelay, Interleaving, IsisLevels, IsisMetrics, IsisNetwork, Labels, OspfDead,
    OspfHello, OspfNetwork,
};
use perhop_device::{LinkSetting, LinkSettingKind, PortRouting, RoutingProtocol};

use super::wire::{bundle_links, is_bundle};
use crate::ast::{At, Configuration, Hardware, Interface, ListSettings};
use crate::grammar::Grammar;

/// The default hello interval of OSPF, seconds (Cisco, "ip ospf hello-interval").
const HELLO: u64 = 10;
/// The default hello interval on `non-broadcast` and `point-to-multipoint` networks, seconds.
const HELLO_WITHOUT_BROADCAST: u64 = 30;
/// The number of hello intervals without a hello after which a neighbor counts as lost (Cisco, "ip ospf
/// dead-interval").
const HELLOS_UNTIL_DEAD: u64 = 4;
/// The beginnings of the names of virtual interfaces that OSPF treats like an Ethernet.
const BROADCAST: [&str; 3] = ["BDI", "BVI", "Vlan"];

/// Returns the settings of an interface. `routing` has the routing protocols of the interface.
pub(super) fn link_settings(
    interface: &Interface,
    routing: &[PortRouting],
    configuration: &Configuration,
) -> Vec<LinkSetting> {
    let mut found =
        Settings { interface, grammar: configuration.grammar, inherited: Vec::new(), found: Vec::new() };
    for part in routing.iter().filter(|part| part.passive.is_none()) {
        let process = &configuration.processes[part.process];
        let listed = process.list.ports.get(&interface.name);
        found.inherited = listed.into_iter().flat_map(|port| process.list.inherited(port)).collect();
        match process.protocol {
            RoutingProtocol::Ospf => found.ospf(),
            RoutingProtocol::Isis => {
                let usual = |kind| {
                    let at = process.settings.get(&kind);
                    at.map_or((None, process.line), |at| (Some(at.value.as_str()), at.line))
                };
                found.isis(usual);
            }
            RoutingProtocol::Eigrp | RoutingProtocol::Other => {}
        }
    }
    if let Some(at) = interface.routing.settings.get(&Labels) {
        found.add(Labels, "on".to_owned(), at.line, true);
    }
    if is_bundle(interface) {
        found.bundle(configuration);
    }
    found.found
}

struct Settings<'a> {
    interface: &'a Interface,
    grammar: Grammar,
    /// The settings of the port in the list of the process, and of the blocks around it (IOS XR).
    inherited: Vec<&'a ListSettings>,
    found: Vec<LinkSetting>,
}

impl<'a> Settings<'a> {
    /// Returns the configured setting.
    fn written(&self, kind: LinkSettingKind) -> Option<&'a At<String>> {
        let own = self.interface.routing.settings.get(&kind);
        own.or_else(|| self.inherited.iter().find_map(|settings| settings.settings.get(&kind)))
    }

    fn add(&mut self, kind: LinkSettingKind, value: String, line: usize, is_set: bool) {
        self.found.push(LinkSetting { kind, value, line, is_set });
    }

    /// Adds the configured setting, otherwise the default `usual` with the first line of the interface.
    /// Returns the value.
    fn add_written(&mut self, kind: LinkSettingKind, usual: &str) -> String {
        let at = self.written(kind);
        let value = at.map_or(usual, |at| at.value.as_str()).to_owned();
        self.add(kind, value.clone(), at.map_or(self.interface.line, |at| at.line), at.is_some());
        value
    }

    fn ospf(&mut self) {
        let is_broadcast = self.interface.hardware == Hardware::Ethernet
            || BROADCAST.iter().any(|kind| self.interface.name.starts_with(kind));
        // Cisco, "ip ospf network": the hardware determines the type of network.
        let usual = if is_broadcast { "broadcast" } else { "point-to-point" };
        let network = match self.grammar {
            // Another rule compares the types of listed ports.
            Grammar::IosXr => self.written(OspfNetwork).map_or(usual, |at| at.value.as_str()).to_owned(),
            Grammar::Ios | Grammar::NxOs => self.add_written(OspfNetwork, usual),
        };
        let is_slow = network.starts_with("non-broadcast") || network.starts_with("point-to-multipoint");
        let usual = if is_slow { HELLO_WITHOUT_BROADCAST } else { HELLO };
        let hello = self.add_written(OspfHello, &usual.to_string());
        let dead = hello.parse::<u64>().unwrap_or(usual) * HELLOS_UNTIL_DEAD;
        self.add_written(OspfDead, &dead.to_string());
    }

    fn isis<'p>(&mut self, usual: impl Fn(LinkSettingKind) -> (Option<&'p str>, usize)) {
        if self.grammar != Grammar::IosXr {
            self.add_written(IsisNetwork, "broadcast");
        }
        let own = self.written(IsisLevels);
        let (of_process, line) = usual(IsisLevels);
        let words = own.map(|at| at.value.as_str()).or(of_process);
        // Cisco, "is-type": both levels by default.
        let levels = words.map_or("1-2".to_owned(), |words| {
            words.chars().filter(|letter| letter.is_ascii_digit() || *letter == '-').collect::<String>()
        });
        let levels = levels.trim_matches('-').to_owned();
        self.add(IsisLevels, levels, own.map_or(line, |at| at.line), words.is_some());
        let (style, line) = usual(IsisMetrics);
        // The default of NX-OS is not narrow in all releases.
        if style.is_some() || self.grammar != Grammar::NxOs {
            self.add(IsisMetrics, style.unwrap_or("narrow").to_owned(), line, style.is_some());
        }
    }

    fn bundle(&mut self, configuration: &Configuration) {
        let first = self.interface.line;
        let written = self.interface.multilink.unwrap_or_default();
        let (delay, interleave) = (written.fragment_microseconds, written.interleave);
        let value = delay.map_or("none".to_owned(), |delay| format!("{} ms", delay.value / 1000));
        self.add(FragmentDelay, value, delay.map_or(first, |at| at.line), delay.is_some());
        let value = if interleave.is_some() { "on" } else { "off" };
        let line = interleave.map_or(first, |at| at.line);
        self.add(Interleaving, value.to_owned(), line, interleave.is_some());
        let links = bundle_links(self.interface, configuration);
        self.add(BundleLinks, links.usable.to_string(), links.line, true);
    }
}
