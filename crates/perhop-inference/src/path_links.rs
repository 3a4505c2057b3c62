//! [`PathLinks`]: the two links of a path through the router, with the policies of the router's interfaces on
//! them.

use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::packet::{Ingress, InterfaceId};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::{ConfigError, Port};
use perhop_scenario::{InterfaceConfig, LinkConfig, Scenario};

/// The links by which packets reach a router and leave it.
pub(crate) struct PathLinks<'s> {
    scenario: &'s Scenario,
    router: &'s str,
    /// The neighbors of the router, in the order of its interfaces.
    neighbors: Vec<String>,
    /// The number of the interface of arrival.
    number: usize,
    pub(crate) arriving: &'s LinkConfig,
    pub(crate) departing: &'s LinkConfig,
}

impl<'s> PathLinks<'s> {
    /// Finds the links of the path through the router `router` from its neighbor `from` to `to`.
    ///
    /// # Errors
    /// A link is missing.
    pub(crate) fn new(
        scenario: &'s Scenario,
        router: &'s str,
        [from, to]: [&str; 2],
    ) -> Result<PathLinks<'s>, ConfigError> {
        let missing = || ConfigError::new("links", "the path has no link");
        let link = |neighbor: &str| -> Result<&LinkConfig, ConfigError> {
            let is = |link: &&LinkConfig| link.between.iter().all(|end| end == router || end == neighbor);
            scenario.links.iter().find(is).ok_or_else(missing)
        };
        let neighbors: Vec<String> = neighbors(scenario, router).map(str::to_owned).collect();
        let number = neighbors.iter().position(|name| name == from).ok_or_else(missing)?;
        Ok(PathLinks { scenario, router, neighbors, number, arriving: link(from)?, departing: link(to)? })
    }

    /// Returns the router's end of the link through which packets leave.
    pub(crate) fn leaving(&self) -> Option<&'s InterfaceConfig> {
        self.departing.interfaces.get(self.router)
    }

    /// Returns the properties of packets that arrive.
    pub(crate) fn ingress(&self) -> Ingress {
        Ingress::new(InterfaceId(self.number as u16), self.arriving.headers.encapsulation())
    }

    /// Returns the neighbors of the router, in the order of its interfaces.
    pub(crate) fn neighbors(&self) -> &[String] {
        &self.neighbors
    }

    /// Returns the output policy.
    pub(crate) fn output_policy(&self) -> Option<&'s PolicyConfig> {
        self.policy(self.leaving().and_then(|end| end.output.as_ref()))
    }

    /// Builds the conditioners for arriving and for departing packets.
    ///
    /// # Errors
    /// A stage cannot be built; the error is about the first such stage.
    pub(crate) fn conditioners(&self, streams: &Streams) -> Result<[TrafficConditioner; 2], ConfigError> {
        let near = self.arriving.interfaces.get(self.router).and_then(|end| end.input.as_ref());
        let build = |policy: Option<&PolicyConfig>| match policy {
            Some(policy) => policy.build_conditioner(&self.neighbors, streams),
            None => Ok(TrafficConditioner::default()),
        };
        Ok([build(self.policy(near))?, build(self.output_policy())?])
    }

    /// Builds the port by which packets leave.
    ///
    /// # Errors
    /// A part of the port cannot be built; the error is about the first such part.
    pub(crate) fn port(&self, streams: &Streams) -> Result<Port, ConfigError> {
        let wire: WireConfig = match self.leaving() {
            Some(end) => self.departing.wire(end),
            None => self.departing.wire(&InterfaceConfig::default()),
        };
        match self.output_policy() {
            Some(policy) => policy.build_port(&wire, &self.neighbors, streams),
            None => Port::build(None, &wire, &self.neighbors, streams),
        }
    }

    fn policy(&self, name: Option<&String>) -> Option<&'s PolicyConfig> {
        name.and_then(|name| self.scenario.policies.get(name))
    }
}

/// Returns the neighbors of a node in the order of its links.
fn neighbors<'s>(scenario: &'s Scenario, node: &'s str) -> impl Iterator<Item = &'s str> {
    scenario.links.iter().filter_map(move |link| {
        let [first, second] = &link.between;
        if first == node { Some(second.as_str()) } else { (second == node).then_some(first.as_str()) }
    })
}
