//! [`FlowMeters`]: one meter for each flow. All meters have the same profile.
//!
//! RFC 2475 §2: a microflow is a single instance of an application-to-application flow of packets that is
//! identified by its addresses, ports and protocol. §2.3.3.1: a traffic profile may apply to a microflow or
//! to an aggregate.

use std::collections::BTreeMap;

use super::any_meter::{AnyMeter, MeterConfig};
use super::contract::Meter;
use crate::random::Streams;
use crate::{Color, ConfigError, FlowKey, Packet, Time};

/// The meters of many flows.
///
/// A meter is created when its flow is announced, or when the first packet of the flow arrives. Its initial
/// state is the same in both cases. Its random stream depends only on the flow, so flows do not affect each
/// other.
#[derive(Clone, Debug)]
pub struct FlowMeters {
    config: MeterConfig,
    streams: Streams,
    /// The initial state of a flow's meter, except for its random stream.
    pristine: AnyMeter,
    /// The index of each flow's meter. A tree is used so that an insertion among a million flows is fast.
    places: BTreeMap<FlowKey, u32>,
    /// The meters in the order of their creation.
    meters: Vec<AnyMeter>,
}

impl FlowMeters {
    /// Creates the set of meters, without a flow yet. The meter of each flow will be built from `config`.
    ///
    /// # Errors
    /// `config` cannot be built.
    pub fn new(config: &MeterConfig, streams: &Streams) -> Result<FlowMeters, ConfigError> {
        let pristine = config.build(streams)?;
        let (config, streams) = (config.clone(), streams.clone());
        Ok(FlowMeters { config, streams, pristine, places: BTreeMap::new(), meters: Vec::new() })
    }
    /// Creates the meter of `flow` before the first packet of the flow arrives.
    pub fn announce(&mut self, flow: &FlowKey) {
        self.place(flow);
    }
    /// The number of flows with a meter.
    pub fn len(&self) -> usize {
        self.meters.len()
    }
    /// Whether no flow has a meter.
    pub fn is_empty(&self) -> bool {
        self.meters.is_empty()
    }

    /// Returns the index of the meter of `flow`. Creates the meter if it does not exist.
    fn place(&mut self, flow: &FlowKey) -> usize {
        let place = self.places.entry(*flow).or_insert_with(|| {
            // A copy shares the profile. A meter that draws random numbers is built again with its own
            // stream. This cannot fail, because the first build has succeeded.
            let anew = |flow: &FlowKey| self.config.build(&self.streams.child(flow.to_string())).ok();
            let meter = if self.pristine.is_random() { anew(flow) } else { None };
            self.meters.push(meter.unwrap_or_else(|| self.pristine.clone()));
            (self.meters.len() - 1) as u32
        });
        *place as usize
    }
}

impl Meter for FlowMeters {
    #[inline(never)] // a search in a tree: longer than a call
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let place = self.place(&packet.flow_key());
        self.meters[place].measure(now, packet)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meters() -> FlowMeters {
        let config = json!({"tsw2cm": {"ctr": "1Mb/s", "avg-interval": "100ms"}});
        FlowMeters::new(&serde_json::from_value(config).unwrap(), &Streams::new(1, 0)).unwrap()
    }
    fn flow(source_port: u16) -> FlowKey {
        FlowKey { source_port, ..FlowKey::default() }
    }
    /// The colors of the packets from port `measured`. A packet from each of `ports` arrives every 2 ms,
    /// which is 4 Mb/s for each port.
    fn colors(meters: &mut FlowMeters, ports: &[u16], measured: u16) -> Vec<Color> {
        let mut colors = Vec::new();
        for round in 0..200 {
            for port in ports {
                let packet = Packet::new(flow(*port), 1000);
                let color = meters.measure(Time::from_milliseconds(2 * round), &packet);
                if *port == measured {
                    colors.push(color);
                }
            }
        }
        colors
    }

    #[test]
    fn a_flow_is_metered_as_if_it_were_alone() {
        let alone = colors(&mut meters(), &[7], 7);
        assert!(alone.contains(&Color::GREEN) && alone.iter().any(|color| *color != Color::GREEN));
        assert_eq!(colors(&mut meters(), &[3, 7, 9], 7), alone);
        assert_ne!(colors(&mut meters(), &[3, 7, 9], 9), alone, "streams of their own");
    }

    #[test]
    fn an_announced_flow_has_its_meter_before_its_first_packet() {
        let mut announced = meters();
        assert!(announced.is_empty());
        for port in [9, 3, 7, 3] {
            announced.announce(&flow(port));
        }
        assert_eq!(announced.len(), 3);
        let capacity = announced.meters.capacity();
        assert_eq!(colors(&mut announced, &[3, 7, 9], 7), colors(&mut meters(), &[7], 7));
        assert_eq!((announced.len(), announced.meters.capacity()), (3, capacity));
    }
}
