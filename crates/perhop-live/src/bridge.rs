//! [`BridgeConfig`]: configuration of a bridge with policies between two existing interfaces.

use std::path::PathBuf;

use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::error::ConfigError;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use serde::{Deserialize, Serialize};

use crate::config::{DirectionConfig, ForwarderConfig, InputConfig, OtherFrames, Scheduling, SocketKind};

/// The rate of a direction without a configured rate. It is higher than the rate of every interface, so that
/// only the interface limits the direction.
const UNPACED: Rate = Rate::from_bits_per_second(400_000_000_000);

/// A bridge between two existing interfaces, with policies for each direction.
///
/// Frames keep their addresses. Frames without an IP packet, such as ARP, pass immediately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BridgeConfig {
    /// Name in results.
    #[serde(default = "default_node")]
    pub node: String,
    /// Seed for all random streams.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Names of the two interfaces.
    pub devices: [String; 2],
    /// The direction from the first interface to the second.
    #[serde(default)]
    pub forth: BridgeDirectionConfig,
    /// The direction from the second interface to the first.
    #[serde(default)]
    pub back: BridgeDirectionConfig,
    /// Unix socket for reading counters while the bridge runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<PathBuf>,
    /// File for the final counters as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<PathBuf>,
    /// Kind of socket for receiving and sending frames.
    #[serde(default)]
    pub socket: SocketKind,
    /// Scheduling of the process.
    #[serde(default)]
    pub scheduling: Scheduling,
}

/// One direction of a bridge. Without any keys, all packets pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct BridgeDirectionConfig {
    /// Rate in bits per second, of wire bytes according to `framing`. The default is the rate of the
    /// interface.
    pub rate: Option<Rate>,
    /// Overhead of the emulated wire per IP packet.
    pub framing: Framing,
    /// Headers between the IP packet and the framing of the emulated wire.
    #[serde(default)]
    pub headers: HeaderStack,
    /// Transmit ring, the FIFO between scheduler and wire.
    pub ring: RingConfig,
    /// Conditioners of the input policy at the interface on which packets arrive.
    pub input: Vec<ConditionerConfig>,
    /// Conditioners of the output policy at the interface on which packets leave.
    pub output: Vec<ConditionerConfig>,
    /// Bytes that the output policy counts for each packet in addition to its IP bytes.
    #[serde(default)]
    pub overhead: i32,
    /// Bytes that the input policy counts for each packet in addition to its IP bytes.
    #[serde(default)]
    pub input_overhead: i32,
    /// Queues and scheduler. The default is one FIFO with tail drop.
    pub queueing: Option<QueueingConfig>,
    /// One-way propagation delay.
    pub delay: Time,
    /// Probability that the wire loses a packet.
    pub loss: f64,
}

fn default_node() -> String {
    "bridge".to_owned()
}

fn default_seed() -> u64 {
    1
}

impl BridgeConfig {
    /// Returns the configuration of the forwarder for this bridge.
    ///
    /// # Errors
    /// Both interfaces are the same interface.
    pub fn forwarder(&self) -> Result<ForwarderConfig, ConfigError> {
        let [first, second] = &self.devices;
        if first == second {
            let message = format!("both interfaces are `{first}`");
            return Err(ConfigError::new("devices", message).help("name two different interfaces"));
        }
        let mut forwarder = ForwarderConfig::new(self.node.clone(), self.seed, 0);
        forwarder.directions = vec![self.forth.between(first, second), self.back.between(second, first)];
        forwarder.inputs =
            self.forth.input(first, second).into_iter().chain(self.back.input(second, first)).collect();
        forwarder.control.clone_from(&self.control);
        forwarder.result.clone_from(&self.result);
        forwarder.socket = self.socket;
        forwarder.scheduling = self.scheduling;
        Ok(forwarder)
    }
}

impl BridgeDirectionConfig {
    /// Returns the input policy as a separate input, if there is an input policy. If a conditioner ends the
    /// input policy, the output policy therefore still applies.
    fn input(&self, from: &str, to: &str) -> Option<InputConfig> {
        (!self.input.is_empty()).then(|| InputConfig {
            name: format!("{from}->{to}"),
            device: from.to_owned(),
            input: self.input.clone(),
            input_overhead: self.input_overhead,
            input_interfaces: vec![from.to_owned()],
            far_interface: 0,
            leads_to: Some(format!("{from}->{to}")),
        })
    }
    fn between(&self, from: &str, to: &str) -> DirectionConfig {
        DirectionConfig {
            framing: self.framing,
            headers: self.headers,
            ring: self.ring,
            queueing: self.queueing.clone(),
            output: self.output.clone(),
            overhead: self.overhead,
            output_interfaces: vec![from.to_owned()],
            delay: self.delay,
            loss: self.loss,
            receives_on: self.input.is_empty().then(|| from.to_owned()),
            sends_on: Some(to.to_owned()),
            other_frames: OtherFrames::Pass,
            ..DirectionConfig::new(from, to, self.rate.unwrap_or(UNPACED))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bridge(forth: &str) -> ForwarderConfig {
        let text = format!(r#"{{"devices": ["a", "b"], "forth": {forth}}}"#);
        serde_json::from_str::<BridgeConfig>(&text).expect("well-formed").forwarder().expect("right")
    }

    #[test]
    fn a_bridge_without_policies_does_not_delay_frames() {
        let forwarder = bridge("{}");
        assert_eq!(forwarder.devices(), ["a", "b"]);
        let ways = forwarder.directions.iter().map(|direction| (&direction.receives_on, &direction.sends_on));
        let [a, b] = ["a", "b"].map(|name| Some(name.to_owned()));
        assert_eq!(ways.collect::<Vec<_>>(), [(&a, &b), (&b, &a)]);
        assert!(forwarder.inputs.is_empty());
    }
    #[test]
    fn an_input_policy_precedes_the_output_policy_independently() {
        let forwarder = bridge(
            r#"{"input": [{"actions": [{"mark": "ef"}]}], "input-overhead": 14, "output": [{"actions": ["drop"]}], "overhead": 18}"#,
        );
        assert_eq!(forwarder.devices(), ["b", "a"]);
        let [input] = forwarder.inputs.as_slice() else { panic!("{:?}", forwarder.inputs) };
        assert_eq!((input.device.as_str(), input.leads_to.as_deref()), ("a", Some("a->b")));
        assert_eq!((input.input.len(), forwarder.directions[0].output.len()), (1, 1));
        assert_eq!(forwarder.directions[0].receives_on, None);
        assert_eq!((input.input_overhead, forwarder.directions[0].overhead), (14, 18));
    }
    #[test]
    fn a_bridge_needs_two_interfaces() {
        let same: BridgeConfig = serde_json::from_str(r#"{"devices": ["a", "a"]}"#).expect("well-formed");
        assert_eq!(same.forwarder().expect_err("refused").path, ["devices"]);
    }
}
