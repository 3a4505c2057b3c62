//! [`Direction`]: one direction of a link, from the output side of one interface to the input side of the next;
//! and [`Input`], the input side alone.

use std::collections::VecDeque;

use perhop_measure::counters::PortTally;
use perhop_net::agenda::{Agenda, Slot};
use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::error::ConfigError;
use perhop_qos::packet::{InterfaceId, Packet};
use perhop_qos::policy::WireConfig;
use perhop_qos::policy::queue_names;
use perhop_qos::port::Port;
use perhop_qos::random::{Stream, Streams};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::Event;
use crate::config::{DirectionConfig, InputConfig};
use crate::wire::DeviceId;

/// A packet that has left its queue and has not arrived yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) arrives: Time,
    pub(crate) packet: Packet,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) name: String,
    pub(crate) queue_names: Vec<String>,
    /// Conditioners of the output policy.
    pub(crate) output: TrafficConditioner,
    pub(crate) port: Port,
    pub(crate) loss: Option<Loss>,
    pub(crate) delay: Time,
    /// In order of arrival.
    pub(crate) in_flight: VecDeque<Flight>,
    /// Conditioners of the far end's input policy; `None` where they stand in another process.
    pub(crate) input: Option<TrafficConditioner>,
    pub(crate) far_interface: InterfaceId,
    /// Where packets are sent on arrival; `None`: they are routed here.
    pub(crate) sends_on: Option<DeviceId>,
    /// When the head of `in_flight` arrives.
    pub(crate) arrival: Slot,
    /// When the port's shaper is to be polled again.
    pub(crate) shaper_ready: Slot,
    pub(crate) shaper_ready_at: Option<Time>,
    pub(crate) tally: PortTally,
}

/// A wire that loses packets, each with the same probability.
#[derive(Debug)]
pub(crate) struct Loss {
    probability: f64,
    stream: Stream,
}

impl Loss {
    /// Whether the next packet is lost.
    pub(crate) fn strikes(&mut self) -> bool {
        self.stream.uniform() < self.probability
    }
}

/// The input side of an interface whose far end is in another process.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) conditioner: TrafficConditioner,
    pub(crate) interface: InterfaceId,
    /// Dropped by its conditioners, by cause.
    pub(crate) dropped: [Count; DropCause::COUNT],
}

/// Random streams of the direction called `name`: those that the simulator draws from.
fn streams_of(run: &Streams, name: &str) -> Streams {
    run.child("port").child(name)
}

impl Direction {
    pub(super) fn build(
        index: u32,
        config: &DirectionConfig,
        run: &Streams,
        agenda: &mut Agenda<Event>,
        sends_on: Option<DeviceId>,
    ) -> Result<Direction, ConfigError> {
        let streams = streams_of(run, &config.name);
        let wire = WireConfig { rate: config.rate, framing: config.framing, ring: config.ring };
        let interfaces = &config.output_interfaces;
        let output = conditioner(&config.output, interfaces, &streams.child("output"))
            .map_err(|error| error.within("output"))?;
        let port = Port::build(config.queueing.as_ref(), &wire, interfaces, &streams)?;
        let input = config.input.as_ref().map(|stages| {
            conditioner(stages, &config.input_interfaces, &streams.child("input"))
                .map_err(|error| error.within("input"))
        });
        if !(0.0..=1.0).contains(&config.loss) {
            return Err(ConfigError::new("loss", format!("{} is not a probability", config.loss))
                .help("a number from 0 to 1"));
        }
        let loss = (config.loss > 0.0)
            .then(|| Loss { probability: config.loss, stream: streams.child("loss").stream() });
        Ok(Direction {
            name: config.name.clone(),
            queue_names: queue_names(config.queueing.as_ref()),
            tally: PortTally::new(port.queues().len()),
            output,
            port,
            loss,
            delay: config.delay,
            in_flight: VecDeque::new(),
            input: input.transpose()?,
            far_interface: InterfaceId(config.far_interface),
            sends_on,
            arrival: agenda.register(Event::Arrival(index)),
            shaper_ready: agenda.register(Event::ShaperReady(index)),
            shaper_ready_at: None,
        })
    }
    /// Packets that are queued here or in flight.
    pub(super) fn held(&self) -> u64 {
        self.port.backlog() + self.in_flight.len() as u64
    }
}

impl Input {
    pub(super) fn build(config: &InputConfig, run: &Streams) -> Result<Input, ConfigError> {
        let streams = streams_of(run, &config.name).child("input");
        let conditioner = conditioner(&config.input, &config.input_interfaces, &streams)
            .map_err(|error| error.within("input"))?;
        Ok(Input {
            name: config.name.clone(),
            conditioner,
            interface: InterfaceId(config.far_interface),
            dropped: Default::default(),
        })
    }
}

/// As [`perhop_qos::policy::PolicyConfig::build_conditioner`] does it.
fn conditioner(
    stages: &[perhop_qos::conditioner::ConditionerConfig],
    interfaces: &[String],
    side: &Streams,
) -> Result<TrafficConditioner, ConfigError> {
    TrafficConditioner::build(stages, interfaces, &side.child("conditioners"))
}
