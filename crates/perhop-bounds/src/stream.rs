//! [`Stream`]: the packets of one flow, or of several equal flows, at one place of a network.

use std::collections::BTreeMap;

use perhop_qos::packet::Packet;

use crate::arrival::Arrival;
use crate::lengths::{Lengths, Measure};

/// Packets that have the same headers and direction and belong to flows of one entry of traffic.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The index of the entry in the scenario's traffic.
    pub traffic: usize,
    /// Whether the packets are replies that the receivers send.
    pub answers: bool,
    /// The number of flows of the entry in this stream.
    pub flows: u32,
    /// The headers of the packets at this place. The length of `packet` is the length of any one of them.
    pub packet: Packet,
    /// The lengths of the packets.
    pub lengths: Lengths,
    /// The arrival curve of all packets of the stream, IP bytes. `None` means unbounded.
    pub own: Option<Arrival>,
    /// The limits that the stream shares with other streams, in order of creation.
    pub limits: Vec<Limit>,
}

/// A common arrival curve of several streams.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The number of the limit. All streams with this number are limited together.
    pub id: usize,
    /// The unit of the curve.
    pub measure: Measure,
    /// The curve.
    pub curve: Arrival,
}

impl Stream {
    /// Returns the part of the stream whose packets have `lengths`.
    pub fn with_lengths(&self, lengths: Lengths) -> Stream {
        Stream { lengths, ..self.clone() }
    }
    /// Limits the stream to `curve` in `measure`.
    pub fn restrict(&mut self, measure: Measure, curve: &Arrival) {
        let more = curve.scaled(Measure::Ip.per(measure, &self.lengths));
        self.own = Some(self.own.take().map_or(more.clone(), |own| own.within(&more)));
    }
    /// Returns the stream after a path that delays packets by `least` to `most` seconds. If `most` is `None`,
    /// the delay is unbounded.
    pub fn delayed(&self, least: f64, most: Option<f64>) -> Stream {
        let Some(most) = most else {
            return Stream { own: None, limits: Vec::new(), ..self.clone() };
        };
        let jitter = (most - least).max(0.0);
        let limit = |limit: &Limit| Limit { curve: limit.curve.after(jitter), ..limit.clone() };
        Stream {
            own: self.own.as_ref().map(|own| own.after(jitter)),
            limits: self.limits.iter().map(limit).collect(),
            ..self.clone()
        }
    }
}

/// Returns the lengths of the packets of `streams`; `None` if there are no streams.
pub fn lengths<'a>(streams: impl IntoIterator<Item = &'a Stream>) -> Option<Lengths> {
    streams.into_iter().map(|stream| stream.lengths.clone()).reduce(|lengths, more| lengths.union(&more))
}

/// Returns the common arrival curve of `streams` in `measure`; `None` if it is unbounded.
pub fn arrival<'a>(streams: impl IntoIterator<Item = &'a Stream>, measure: Measure) -> Option<Arrival> {
    let all = streams.into_iter().map(|stream| (stream, stream.limits.len())).collect();
    together(all, measure)
}

/// Returns the common arrival curve of streams. Each stream has the number of its limits that are not yet
/// applied. Streams with the same newest limit form a group. The curve of a group is the minimum of this
/// limit and the sum of its members.
fn together(streams: Vec<(&Stream, usize)>, measure: Measure) -> Option<Arrival> {
    let mut sum = Some(Arrival::nothing());
    let mut groups: BTreeMap<usize, Vec<(&Stream, usize)>> = BTreeMap::new();
    for (stream, count) in streams {
        if let Some(newest) = count.checked_sub(1) {
            groups.entry(stream.limits[newest].id).or_default().push((stream, newest));
        } else {
            sum = added(
                sum,
                stream.own.as_ref().map(|own| own.scaled(measure.per(Measure::Ip, &stream.lengths))),
            );
        }
    }
    for members in groups.into_values() {
        let limit = newest_limit(&members, measure);
        let sum_of_members = together(members, measure);
        let group = match (limit, sum_of_members) {
            (Some(limit), Some(curve)) => Some(limit.within(&curve)),
            (limit, curve) => limit.or(curve),
        };
        sum = added(sum, group);
    }
    sum
}

/// Returns the newest common limit of `members` in `measure`. Each member has the index of this limit in its
/// own list of limits. If the members arrived by different paths, the limit with the largest burst applies to
/// all.
fn newest_limit(members: &[(&Stream, usize)], measure: Measure) -> Option<Arrival> {
    let limits = members.iter().map(|(stream, place)| &stream.limits[*place]);
    let widest = limits.max_by(|first, second| first.curve.burst().total_cmp(&second.curve.burst()))?;
    let lengths = lengths(members.iter().map(|(stream, _)| *stream))?;
    Some(widest.curve.scaled(measure.per(widest.measure, &lengths)))
}

fn added(sum: Option<Arrival>, more: Option<Arrival>) -> Option<Arrival> {
    Some(sum?.plus(&more?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(own: Option<(f64, f64)>, limits: &[(usize, f64, f64)]) -> Stream {
        let limit = |(id, burst, rate): &(usize, f64, f64)| Limit {
            id: *id,
            measure: Measure::Ip,
            curve: Arrival::token_bucket(*burst, *rate),
        };
        Stream {
            traffic: 0,
            answers: false,
            flows: 1,
            packet: Packet::default(),
            lengths: Lengths::exactly(100),
            own: own.map(|(burst, rate)| Arrival::token_bucket(burst, rate)),
            limits: limits.iter().map(limit).collect(),
        }
    }

    #[test]
    fn limits_hold_for_groups() {
        let link = (1, 100.0, 1000.0);
        let policer = (2, 300.0, 50.0);
        let (first, second) = (stream(Some((100.0, 40.0)), &[link]), stream(None, &[link, policer]));
        // The second stream alone is within the curves of the policer and the link. With both streams, the
        // policer limits only the second.
        let alone = arrival([&second], Measure::Ip).unwrap();
        assert_eq!([alone.at(0.0), alone.at(10.0)], [100.0, 800.0]);
        let both = arrival([&first, &second], Measure::Ip).unwrap();
        assert_eq!(both.at(10.0), 500.0 + 800.0);
        // With packets of 100 bytes, 800 bytes are 8 packets.
        assert_eq!(arrival([&second], Measure::Packets).unwrap().at(10.0), 8.0);
        assert_eq!(arrival([&stream(None, &[])], Measure::Ip), None);
        assert_eq!(arrival([], Measure::Ip), Some(Arrival::nothing()));
    }

    #[test]
    fn a_path_increases_the_burst() {
        let before = stream(Some((100.0, 40.0)), &[(1, 100.0, 1000.0)]);
        let behind = before.delayed(1.0, Some(1.5));
        assert_eq!(behind.own.unwrap().burst(), 120.0);
        assert_eq!(behind.limits[0].curve.burst(), 600.0);
        let lost = before.delayed(1.0, None);
        assert!(lost.own.is_none() && lost.limits.is_empty());
    }
}
