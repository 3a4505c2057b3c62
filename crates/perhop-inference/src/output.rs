//! Outputs of a device as traffic: the offered rate of each class.

use perhop_analysis::rates::class_path;
use perhop_device::intent::Direction;
use perhop_device::show::{OfferedClass, OfferedRate, PolicyReading, Shows, offered_rates};
use perhop_device::{FrontEnd, Port};
use perhop_qos::ConfigError;

use crate::failure::Failure;
use crate::given::{ClassLoad, Outputs, by_class, hit_for_class};
use crate::network::Network;
use crate::role::Kind;
use crate::targets::{Hit, targets};
use crate::traffic::Traffic;

/// The policies in the outputs of a device.
pub(crate) struct ReadOutputs<'a> {
    shows: &'a dyn Shows,
    earlier: Option<Vec<PolicyReading>>,
    policies: Vec<PolicyReading>,
    seconds: Option<f64>,
}

impl<'a> ReadOutputs<'a> {
    /// Reads the outputs.
    ///
    /// # Errors
    /// A text is not an output of the device, or has lost its indentation.
    pub(crate) fn new(front_end: &'a dyn FrontEnd, outputs: &Outputs) -> Result<Self, Failure> {
        let shows = front_end.shows().ok_or_else(|| {
            Failure::invalid(
                "perhop does not read counters of this device",
                "give rates by class: --traffic rates.csv",
            )
        })?;
        let read = |text: &str| {
            let policies = shows.read_show(text).map_err(Failure::Option)?;
            if policies.is_empty() {
                let message = "the output has no counters of the kind of device that the configuration \
                               describes";
                return Err(Failure::invalid(message, "give an output of the configured device"));
            }
            Ok(policies)
        };
        Ok(ReadOutputs {
            shows,
            earlier: outputs.earlier.as_deref().map(read).transpose()?,
            policies: read(&outputs.text)?,
            seconds: outputs.seconds,
        })
    }

    /// Returns the name of the first port with an output policy in the output, otherwise of the first with an
    /// input policy. Ports with a configured policy precede ports that have only default queues.
    pub(crate) fn interface<'p>(&self, ports: &'p [Port]) -> Option<&'p str> {
        let port_of = |policy: &PolicyReading| {
            let is_named = |name: &str| name.eq_ignore_ascii_case(&policy.interface);
            let named = ports.iter().find(|port| is_named(&port.name));
            named.or_else(|| ports.iter().find(|port| is_named(&port.interface)))
        };
        let leaving = self.policies.iter().filter(|policy| policy.side == Direction::Output);
        let known: Vec<&Port> = leaving.clone().filter_map(port_of).collect();
        let configured = known.iter().find(|port| port.forwarding.output_line.is_some()).copied();
        let any = || known.first().copied().or_else(|| self.policies.iter().find_map(port_of));
        configured.or_else(any).map(|port| port.name.as_str())
    }

    /// Returns the offered rates of the classes on the path.
    ///
    /// # Errors
    /// The outputs have no policy on the path, or do not show rates.
    fn rates(&self, network: &Network) -> Result<Vec<OfferedRate>, Failure> {
        let sides = [(Direction::Output, &network.leaving), (Direction::Input, &network.entering)];
        let mut on_path = sides.into_iter().filter_map(|(side, interface)| {
            let port = interface.port?;
            let found = policy_at(&self.policies, side, port)?;
            Some((port, found))
        });
        let Some((port, policy)) = on_path.next() else {
            let names: Vec<&str> = self.policies.iter().map(|policy| policy.interface.as_str()).collect();
            let message = format!("the output has no policy of {}", network.leaving.name);
            return Err(Failure::invalid(message, format!("it has {}", names.join(", "))));
        };
        let later = self.shows.offered(policy, port);
        let earlier: Option<Vec<OfferedClass>> = match &self.earlier {
            None => None,
            Some(policies) => {
                let same = policy_at(policies, policy.side, port);
                let same = same.ok_or_else(|| {
                    let message = format!("the earlier output has no policy of {}", policy.interface);
                    Failure::invalid(message, "give two outputs of the same interface")
                })?;
                Some(self.shows.offered(same, port))
            }
        };
        let wrong = |error: ConfigError| Failure::invalid(&error.message, error.help.unwrap_or_default());
        offered_rates(earlier.as_deref(), &later, self.seconds).map_err(wrong)
    }
}

/// Returns the policy of a port, otherwise of its interface, otherwise the only unnamed policy in that
/// direction.
fn policy_at<'p>(policies: &'p [PolicyReading], side: Direction, port: &Port) -> Option<&'p PolicyReading> {
    let of_side = || policies.iter().filter(|policy| policy.side == side);
    let named = |name: &str| of_side().find(|policy| policy.interface.eq_ignore_ascii_case(name));
    let found = named(&port.name).or_else(|| named(&port.interface));
    found.or_else(|| of_side().find(|policy| policy.interface.is_empty()))
}

/// Returns traffic with the offered rates of the classes in the outputs. Also returns the dropped fraction of
/// each flow's packets, if the outputs show it.
///
/// # Errors
/// The outputs have no policy on the path, or do not show rates.
pub(crate) fn from_outputs(
    network: &Network,
    outputs: &ReadOutputs,
    hits: &[Hit],
) -> Result<(Traffic, Vec<Option<f64>>), Failure> {
    let (mut loads, mut drops, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    for OfferedRate { path, bps, packet_bytes, dropped } in outputs.rates(network)? {
        if bps <= 0.0 {
            continue;
        }
        match class_name(network, &path) {
            Some(name) if hit_for_class(network, hits, &name).is_some() => {
                let kind = Some(Kind::Constant);
                loads.push(ClassLoad { name, rate: Some(bps), packet_bytes, kind, connections: None });
                drops.push(dropped);
            }
            Some(name) => {
                remarks.push(format!("class `{name}` of the output: no packet that perhop tried reaches it"));
            }
            None => {
                remarks.push(format!("class `{}` of the output is not in the configuration", path.join("/")));
            }
        }
    }
    if loads.is_empty() {
        return Err(Failure::invalid(
            "the output shows no packets for any class of the configuration",
            "take the output while traffic flows, or give rates by class",
        ));
    }
    let mut traffic = by_class(network, &loads, hits, &[])?;
    traffic.remarks.splice(0..0, remarks);
    Ok((traffic, drops))
}

/// Returns the class for a path of names in an output. Longer suffixes of the path are tried first. A device
/// without classes has one queue.
fn class_name(network: &Network, path: &[String]) -> Option<String> {
    if path.is_empty() {
        return match network.names.as_slice() {
            [name] => Some(name.clone()),
            _ => None,
        };
    }
    let known = targets(network);
    (0..path.len()).map(|place| path[place..].join("/")).find_map(|name| {
        let leaf = network.leaves.iter().position(|leaf| leaf.path == name || class_path(&leaf.path) == name);
        let own = leaf.map(|place| network.names[place].clone());
        own.or_else(|| known.iter().any(|target| target.name == name).then_some(name))
    })
}
