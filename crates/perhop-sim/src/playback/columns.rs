//! The packets of a [`Span`] as columns of numbers, for drawing.

use perhop_qos::units::Time;

use super::{PacketRecord, Span};

impl Span {
    /// Returns a column of numbers for each property of packets, with the name of the property. NaN means no
    /// value. Times are in seconds; classes, queues and causes are indices.
    pub fn columns(&self) -> Vec<(&'static str, Vec<f64>)> {
        let packets = &self.packets;
        let column =
            |name: &'static str, value: fn(&PacketRecord) -> f64| (name, packets.iter().map(value).collect());
        vec![
            column("number", |packet| f64::from(packet.number)),
            column("flow", |packet| f64::from(packet.flow)),
            column("class", |packet| maybe(packet.class)),
            column("length", |packet| f64::from(packet.length)),
            column("dscp", |packet| f64::from(packet.dscp.value())),
            column("arrived", |packet| packet.arrived.as_seconds()),
            column("queue", |packet| maybe(packet.queue)),
            column("precedence", |packet| f64::from(packet.precedence)),
            column("marked", |packet| f64::from(u8::from(packet.marked))),
            column("dequeued", |packet| seconds(packet.left.map(|(at, _)| at))),
            column("starts", |packet| seconds(packet.left.map(|(_, sent)| sent.starts))),
            column("ends", |packet| seconds(packet.left.map(|(_, sent)| sent.ends))),
            column("dropped", |packet| seconds(packet.dropped.map(|(at, _)| at))),
            column("cause", |packet| packet.dropped.map_or(f64::NAN, |(_, cause)| cause.index() as f64)),
        ]
    }
}

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_seconds)
}

fn maybe(number: Option<u32>) -> f64 {
    number.map_or(f64::NAN, f64::from)
}
