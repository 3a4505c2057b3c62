//! The packets of a [`Span`] as columns of numbers, for drawing.

use perhop_qos::units::Time;

use super::{Span, Way};

impl Span {
    /// One column of numbers for each property of a packet, with the name of the property. NaN means no
    /// value. Times are seconds; classes, queues and causes are indices.
    pub fn columns(&self) -> Vec<(&'static str, Vec<f64>)> {
        let ways = &self.ways;
        let column = |name: &'static str, value: fn(&Way) -> f64| (name, ways.iter().map(value).collect());
        vec![
            column("number", |way| f64::from(way.number)),
            column("flow", |way| f64::from(way.flow)),
            column("class", |way| maybe(way.class)),
            column("length", |way| f64::from(way.length)),
            column("dscp", |way| f64::from(way.dscp.value())),
            column("arrived", |way| way.arrived.as_seconds()),
            column("queue", |way| maybe(way.queue)),
            column("precedence", |way| f64::from(way.precedence)),
            column("marked", |way| f64::from(u8::from(way.marked))),
            column("dequeued", |way| seconds(way.left.map(|(at, _)| at))),
            column("starts", |way| seconds(way.left.map(|(_, sent)| sent.starts))),
            column("ends", |way| seconds(way.left.map(|(_, sent)| sent.ends))),
            column("dropped", |way| seconds(way.dropped.map(|(at, _)| at))),
            column("cause", |way| way.dropped.map_or(f64::NAN, |(_, cause)| cause.index() as f64)),
        ]
    }
}

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_seconds)
}

fn maybe(number: Option<u32>) -> f64 {
    number.map_or(f64::NAN, f64::from)
}
