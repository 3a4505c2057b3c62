//! Converts router configurations to policies, rates, framings and transmit rings of the scenario.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use perhop_device::{FrontEnd, InterfaceAddress, Port};
use perhop_qos::framing::HeaderStack;
use perhop_qos::policy::PolicyConfig;
use perhop_qos::ring::RingConfig;
use perhop_scenario::{
    Diagnostic, Document, InterfaceConfig, RouterConfiguration, Scenario, Severity, ValuePath, suggest,
};

use crate::devices::{Device, Devices, with_added};
use crate::finding::{Finding, findings};
use crate::neighbors::{Neighbors, by_neighbor};
use crate::options::{options, path_of};
use crate::whole_port::{CarriedPort, whole_port};

/// Returns the scenario `written`, in which policies replace the router configurations, and the diagnostics
/// about the configurations. `devices` reads the configurations. The positions of the diagnostics are paths
/// in `document`.
pub(crate) fn assemble(
    devices: &Devices,
    document: &Document,
    written: &Scenario,
    base: &Path,
) -> (Scenario, Vec<Diagnostic>) {
    let scenario = written.clone();
    let mut assembly = Assembly { document, written, base, devices, found: Vec::new(), scenario };
    let mut routers = BTreeMap::new();
    let named = named_interfaces(written);
    for (name, router) in &written.routers {
        if let Some(configuration) = &router.configuration
            && let Some(read) = assembly.read(name, configuration, named.get(name.as_str()))
        {
            routers.insert(name.as_str(), read);
        }
    }
    assembly.interfaces(&routers);
    (assembly.scenario, assembly.found)
}

/// Returns the interface names in links, by node.
fn named_interfaces(written: &Scenario) -> BTreeMap<&str, Vec<&str>> {
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (node, interface) in written.links.iter().flat_map(|link| &link.interfaces) {
        let names = interface.name.iter().chain(interface.carries.keys()).map(String::as_str);
        named.entry(node).or_default().extend(names);
    }
    named
}

struct Assembly<'a, 'f> {
    document: &'a Document,
    written: &'a Scenario,
    base: &'a Path,
    devices: &'a Devices<'f>,
    found: Vec<Diagnostic>,
    scenario: Scenario,
}

/// Returns the interfaces of `device` with the names `named` in links.
fn linked<'d>(device: &'d Device, named: &[&str]) -> BTreeSet<&'d str> {
    let full = |name: &&str| [device.front_end.interface_name(name), (*name).to_owned()];
    let ends: BTreeSet<String> = named.iter().flat_map(full).collect();
    let is_end = |port: &&Port| ends.contains(&port.name) || ends.contains(&port.interface);
    device.model.router.ports.iter().filter(is_end).map(|port| port.interface.as_str()).collect()
}

/// Whether a policy of the scenario may replace the queues of `port`. This is so if perhop does not model the
/// queues, or if they are the default queues of a switch port.
fn may_be_replaced(port: &Port) -> bool {
    let memory = port.output.queueing.as_ref().and_then(|queueing| queueing.memory.as_ref());
    let is_default = memory.is_some() && port.links.output.classes.is_empty();
    port.unmodeled_queues.is_some() || is_default && port.output.conditioners.is_empty()
}

/// The ports of a router by their names.
struct Ports<'a> {
    all: &'a [Port],
    named: BTreeMap<&'a str, &'a Port>,
    by_interface: BTreeMap<&'a str, Vec<&'a Port>>,
    front_end: &'a dyn FrontEnd,
}

impl<'a> Ports<'a> {
    fn new(router: &'a Device) -> Ports<'a> {
        let all = router.model.router.ports.as_slice();
        let (mut named, mut by_interface) = (BTreeMap::new(), BTreeMap::new());
        for port in all {
            named.entry(port.name.as_str()).or_insert(port);
            by_interface.entry(port.interface.as_str()).or_insert_with(Vec::new).push(port);
        }
        Ports { all, named, by_interface, front_end: router.front_end }
    }

    /// Returns the port whose name is `written`. Abbreviations of the configuration language are expanded.
    fn find(&self, written: &str) -> Result<&'a Port, String> {
        let full = self.front_end.interface_name(written);
        let of_interface = self.by_interface.get(full.as_str()).map_or(&[][..], Vec::as_slice);
        // The full name that an abbreviation means depends on the language, so an exact name has precedence.
        let named = |name: &str| self.named.get(name).copied();
        match (named(written).or_else(|| named(&full)), of_interface) {
            (Some(port), _) => Ok(port),
            (None, [port]) => Ok(port),
            _ => Err(full),
        }
    }
}

/// One end of a link: the interface of `node` towards `neighbor`.
#[derive(Clone, Copy)]
struct LinkEnd<'a> {
    link: usize,
    node: &'a str,
    neighbor: &'a str,
}

impl LinkEnd<'_> {
    fn path(&self) -> ValuePath {
        ValuePath::from("links").join(self.link).join("interfaces").join(self.node)
    }
}

impl<'s, 'f> Assembly<'s, 'f> {
    fn error(&mut self, path: &ValuePath, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(self.document.diagnostic(Severity::Error, path, message).help(help));
    }

    /// Reads the configuration of the router `name`, whose interfaces `named` occur in links; `None` if it
    /// cannot be read.
    fn read(
        &mut self,
        name: &str,
        configuration: &RouterConfiguration,
        named: Option<&Vec<&str>>,
    ) -> Option<Device<'f>> {
        let path = ValuePath::from("routers").join(name).join("configuration");
        let text = match configuration.read(self.base) {
            Ok(text) => text,
            Err((key, message)) => {
                let path = if key.is_empty() { path } else { path.join(key) };
                self.error(&path, message, "write `file: router.cfg`, relative to the scenario file");
                return None;
            }
        };
        let whole = with_added(&text, &configuration.add);
        let read = match options(configuration).and_then(|options| self.devices.read(&whole, &options)) {
            Ok(read) => read,
            Err(error) => {
                let path = path.extend(path_of(&error, configuration));
                self.error(&path, error.message, error.help.unwrap_or_default());
                return None;
            }
        };
        if let Some(refusal) = read.model.refusal() {
            self.error(&path, refusal.message.clone(), refusal.router.clone());
            return None;
        }
        let file = configuration.file.as_ref().map(|file| self.base.join(file).display().to_string());
        let linked = linked(&read, named.map_or(&[], Vec::as_slice));
        let lines: Vec<&str> = text.trim_end_matches('\n').lines().collect();
        // Many findings share one list of interfaces, so the result for each list is cached by the memory
        // address of the list.
        let mut known: BTreeMap<*const String, bool> = BTreeMap::new();
        for finding in &findings(&read.model) {
            let is_elsewhere = finding.interfaces.as_ref().is_some_and(|interfaces| {
                !*known
                    .entry(interfaces.as_ptr())
                    .or_insert_with(|| interfaces.iter().any(|name| linked.contains(name.as_str())))
            });
            let severity = if is_elsewhere { Severity::Warning } else { finding.rule.severity };
            self.report(&path, file.as_deref(), &lines, severity, finding);
        }
        Some(read)
    }

    /// Reports a finding about a line. `lines` contains the lines of the configuration file. Lines after them
    /// belong to `add`.
    fn report(
        &mut self,
        path: &ValuePath,
        file: Option<&str>,
        lines: &[&str],
        severity: Severity,
        finding: &Finding,
    ) {
        let Finding { rule, line, message, help, .. } = finding;
        let diagnostic = match file {
            _ if *line > lines.len() => {
                self.document.diagnostic(severity, &path.join("add").join(line - lines.len() - 1), message)
            }
            Some(file) => Diagnostic::new(severity, path, message).in_file(file).at_line(lines, *line),
            None => {
                let message = format!("line {line}: {message}");
                self.document.diagnostic(severity, &path.join("text"), message)
            }
        };
        self.found.push(diagnostic.by(rule).help(help));
    }

    fn interfaces(&mut self, routers: &BTreeMap<&str, Device>) {
        let routers: BTreeMap<&str, Ports> =
            routers.iter().map(|(name, router)| (*name, Ports::new(router))).collect();
        let mut taken: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut placed: Vec<(LinkEnd, Cow<Port>)> = Vec::new();
        for (index, link) in self.written.links.iter().enumerate() {
            let [a, b] = &link.between;
            for (node, neighbor) in [(a, b), (b, a)] {
                let end = LinkEnd { link: index, node, neighbor };
                let written = link.interfaces.get(node).and_then(|interface| interface.name.as_deref());
                let Some(router) = routers.get(node.as_str()) else { continue };
                let Some(port) = self.port(end, router, written) else { continue };
                let carried = self.carried(end, router);
                let used = std::iter::once(port).chain(carried.iter().map(|member| member.port));
                for used in used.filter(|used| !taken.insert((node, &used.name))) {
                    let message = format!("two links use interface `{}` of `{node}`", used.name);
                    self.error(&end.path().join("name"), message, "an interface has only one link");
                }
                let whole = || Cow::Owned(whole_port(port, &carried));
                placed.push((end, if carried.is_empty() { Cow::Borrowed(port) } else { whole() }));
            }
        }
        let mut neighbors: BTreeMap<&str, Neighbors> = BTreeMap::new();
        for (end, port) in &placed {
            let names = neighbors.entry(end.node).or_default();
            let carried = self.written.links[end.link].interfaces.get(end.node);
            let carried = carried.into_iter().flat_map(|interface| interface.carries.keys());
            for name in [&port.name, &port.interface].into_iter().chain(carried) {
                names.entry(name).or_insert(end.neighbor);
            }
        }
        for (end, port) in &placed {
            self.place(*end, port, &neighbors[end.node]);
        }
        self.addresses(&placed);
    }

    /// Returns the configured port at an end of a link.
    fn port<'r>(&mut self, end: LinkEnd, router: &Ports<'r>, written: Option<&str>) -> Option<&'r Port> {
        let names = || router.all.iter().map(|port| port.name.as_str());
        let Some(written) = written else {
            let message = format!("the interface of `{}` to `{}` has no `name`", end.node, end.neighbor);
            let link = ValuePath::from("links").join(end.link);
            let help = format!(
                "write `interfaces: {{ {}: {{ name: … }} }}`; {}",
                end.node,
                suggest("interfaces", "", names())
            );
            self.error(&link, message, help);
            return None;
        };
        let port = self.found(end, router, written, "name")?;
        if port.shutdown {
            let message = format!("`{}` is shut down in line {} of the configuration", port.name, port.line);
            self.error(&end.path().join("name"), message, "add `no shutdown` to the configuration");
        }
        Some(port)
    }

    /// Returns the port `written`, which is the value of `key` of an interface.
    fn found<'r>(&mut self, end: LinkEnd, router: &Ports<'r>, written: &str, key: &str) -> Option<&'r Port> {
        let found = router.find(written);
        let wrong = |full: String| {
            let message = format!("the configuration of `{}` has no interface `{written}`", end.node);
            let names = router.all.iter().map(|port| port.name.as_str());
            self.error(&end.path().join(key), message, suggest("interfaces", &full, names));
        };
        found.map_err(wrong).ok()
    }

    /// Returns the tunnels and sub-interfaces that send through the interface at `end`.
    fn carried<'r>(&mut self, end: LinkEnd, router: &Ports<'r>) -> Vec<CarriedPort<'r>>
    where
        's: 'r,
    {
        let written = self.written;
        let interface = written.links[end.link].interfaces.get(end.node);
        let mut carried = Vec::new();
        for (name, destinations) in interface.into_iter().flat_map(|interface| &interface.carries) {
            let Some(port) = self.found(end, router, name, "carries") else { continue };
            if destinations.is_empty() {
                let message = format!("no packet leaves via `{}`: it has no destinations", port.name);
                self.error(&end.path().join("carries").join(name), message, "write prefixes: [10.1.0.0/16]");
            }
            carried.push(CarriedPort { port, destinations });
        }
        carried
    }

    /// Applies the configuration of `port` to the interface at `end`.
    fn place(&mut self, end: LinkEnd, port: &Port, neighbors: &Neighbors) {
        self.refuse_contradictions(end, port);
        self.refuse_unmodeled(end, port);
        let link = &mut self.scenario.links[end.link];
        if let Some(framing) = port.wire.framing {
            link.framing.get_or_insert(framing);
        }
        // The sender determines the fragment size from its own bandwidth. With the headers of an end without
        // a bandwidth, fragments would be longer.
        let most = |headers: &HeaderStack| headers.fragmentation().map_or(u32::MAX, |cut| cut.most());
        if link.headers.is_empty() || most(&port.wire.headers) < most(&link.headers) {
            link.headers = port.wire.headers.into();
        }
        let interface = link.interfaces.entry(end.node.to_owned()).or_default();
        interface.rate = interface.rate.or(port.wire.rate);
        interface.ring = port.wire.ring.unwrap_or(interface.ring);
        interface.mtu = interface.mtu.or(port.wire.mtu);
        interface.adjust_mss = interface.adjust_mss.or(port.wire.adjust_mss);
        let sides =
            [("input", &port.input, &mut interface.input), ("output", &port.output, &mut interface.output)];
        for (side, policy, named) in sides {
            if named.is_some() || (policy.conditioners.is_empty() && policy.queueing.is_none()) {
                continue;
            }
            let name = format!("{} {} {side}", end.node, port.name);
            let mut policy = policy.clone();
            by_neighbor(&mut policy, neighbors);
            *named = Some(name.clone());
            self.scenario.policies.insert(name, policy);
        }
    }

    /// Reports queues that are not modeled, unless the scenario replaces them.
    fn refuse_unmodeled(&mut self, end: LinkEnd, port: &Port) {
        let Some(reason) = &port.unmodeled_queues else { return };
        let interface = self.scenario.links[end.link].interfaces.get(end.node);
        if interface.is_some_and(|interface| interface.output.is_some()) {
            return;
        }
        let message = format!("the queues of `{}` of `{}` are not simulated: {reason}", port.name, end.node);
        let help = "give the port an `output` policy of the scenario, or set `port-units` in \
                    `configuration.platform.settings`";
        self.error(&end.path().join("name"), message, help);
    }

    /// Reports properties that are set in both the scenario and the configuration.
    fn refuse_contradictions(&mut self, end: LinkEnd, port: &Port) {
        let link = &self.scenario.links[end.link];
        let InterfaceConfig { input, output, ring, rate, mtu, adjust_mss, .. } =
            link.interfaces.get(end.node).cloned().unwrap_or_default();
        let in_configuration = format!("line {} of the configuration of `{}`", port.line, end.node);
        let says = |policy: &PolicyConfig| !policy.conditioners.is_empty() || policy.queueing.is_some();
        let twice = [
            ("input", input.is_some() && says(&port.input)),
            ("output", output.is_some() && says(&port.output) && !may_be_replaced(port)),
            ("ring", ring != RingConfig::default() && port.wire.ring.is_some()),
            ("rate", rate.is_some() && port.wire.rate.is_some()),
            ("mtu", mtu.is_some() && port.wire.mtu.is_some()),
            ("adjust-mss", adjust_mss.is_some() && port.wire.adjust_mss.is_some()),
        ];
        let written = *link.headers;
        if !written.is_empty()
            && !port.wire.headers.is_empty()
            && written.without_fragmentation() != port.wire.headers.without_fragmentation()
        {
            let message =
                format!("the headers are {written:?} here and {:?} in {in_configuration}", port.wire.headers);
            let path = ValuePath::from("links").join(end.link).join("headers");
            self.error(&path, message, "both ends of a link have the same headers: remove them here");
        }
        let link = &self.scenario.links[end.link];
        let framing = link.framing.zip(port.wire.framing).filter(|(written, read)| written != read);
        for (key, _) in twice.into_iter().filter(|(_, twice)| *twice) {
            let message = format!("`{key}` of `{}` is set twice: here and in {in_configuration}", port.name);
            let help = format!("remove `{key}`, or change the configuration with `add`");
            self.error(&end.path().join(key), message, help);
        }
        if let Some((written, read)) = framing {
            let message = format!("the framing is {written} here and {read} in {in_configuration}");
            let path = ValuePath::from("links").join(end.link).join("framing");
            self.error(&path, message, "remove `framing` here: both ends of a link have the same framing");
        }
        let link = &self.scenario.links[end.link];
        if let Some(rate) = port.wire.rate.filter(|rate| *rate > link.rate) {
            let message = format!("{rate} in {in_configuration} exceeds the rate of the link, {}", link.rate);
            let path = ValuePath::from("links").join(end.link).join("rate");
            self.error(&path, message, "set the rate of the line that carries the circuit");
        }
    }

    /// Assigns an address to each host without one, from the subnet of the router's interface on the link.
    fn addresses(&mut self, placed: &[(LinkEnd, Cow<Port>)]) {
        let hosts = &self.written.hosts;
        let mut used: BTreeSet<IpAddr> = hosts.values().filter_map(|host| host.address).collect();
        let of_routers = placed.iter().flat_map(|(_, port)| &port.addresses);
        used.extend(of_routers.map(|own| own.address));
        let mut free_from = BTreeMap::new();
        for (end, port) in placed {
            let Some(host) = hosts.get(end.neighbor) else { continue };
            let subnets = &port.addresses;
            let outside = |address| !subnets.iter().any(|own| own.is_neighbor(address));
            match host.address {
                Some(address @ IpAddr::V4(_)) if !subnets.is_empty() && outside(address) => {
                    let path = ValuePath::from("hosts").join(end.neighbor).join("address");
                    let message =
                        format!("{address} is outside the subnets of `{}` of `{}`", port.name, end.node);
                    let warning = self.document.diagnostic(Severity::Warning, &path, message);
                    self.found.push(warning.help("access lists may not match its packets"));
                }
                None => {
                    let free = subnets.iter().find_map(|subnet| first_free(*subnet, &used, &mut free_from));
                    if let (Some(free), Some(host)) = (free, self.scenario.hosts.get_mut(end.neighbor)) {
                        used.insert(free);
                        host.address = Some(free);
                    }
                }
                _ => {}
            }
        }
    }
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0)
}

/// Returns the lowest free host address of a subnet, except the network address and the broadcast address.
/// `free_from` caches the lowest address of each subnet that may be free, so that each address is tried only
/// once.
fn first_free(
    own: InterfaceAddress,
    used: &BTreeSet<IpAddr>,
    free_from: &mut BTreeMap<(u32, u8), u32>,
) -> Option<IpAddr> {
    let InterfaceAddress { address: IpAddr::V4(address), prefix_length: length, .. } = own else {
        return None;
    };
    let (first, last) = (address.to_bits() & mask(length), address.to_bits() | !mask(length));
    let from = free_from.entry((first, length)).or_insert(first.saturating_add(1));
    let free = (*from..last).find(|bits| !used.contains(&IpAddr::V4(Ipv4Addr::from_bits(*bits))));
    *from = free.unwrap_or(last);
    free.map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)))
}
