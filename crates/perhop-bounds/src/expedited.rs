//! [`errors`]: the error terms E_a and E_p of a node relative to ideal expedited forwarding (RFC 3246 §2.2).

#![allow(clippy::doc_markdown)] // the names of RFC 3246

use perhop_qos::units::{Rate, Time};

/// The arrival and the departure of a packet at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The time at which the last bit arrived.
    pub arrived: Time,
    /// The time at which the last bit departed.
    pub left: Time,
    /// The length, IP bytes.
    pub length: u32,
}

/// The error terms of expedited forwarding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// E_a of the aggregate: the largest delay of the n-th departure after the ideal n-th departure, seconds.
    pub aggregate: f64,
    /// E_p of single packets: the largest delay of a packet after its ideal departure, seconds.
    pub packet: f64,
}

/// Returns E_a and E_p for `stays`: all packets of one EF class at an output with the configured `rate`, in
/// any order. Returns `None` if there are no packets.
///
/// The results are the smallest terms for which the trace satisfies the equations of RFC 3246. Packets that
/// were in the node before the first stay are unknown.
pub fn errors(stays: &[Stay], rate: Rate) -> Option<Errors> {
    let mut by_arrival = stays.to_vec();
    by_arrival.sort_by_key(|stay| stay.arrived);
    let mut by_departure = stays.to_vec();
    by_departure.sort_by_key(|stay| stay.left);
    // RFC 3246 §2.2, eq_1 and eq_2 compare the j-th arrival with the j-th departure. The length is that of
    // the departing packet.
    let in_order = by_arrival.iter().zip(&by_departure);
    let aggregate =
        lateness(in_order.map(|(arrives, departs)| Stay { arrived: arrives.arrived, ..*departs }), rate)?;
    // In eq_3 and eq_4, each packet is compared with its own departure, in order of arrival.
    let packet = lateness(by_arrival.iter().copied(), rate)?;
    Some(Errors { aggregate, packet })
}

/// Returns the greatest d_j − f_j, where f_j = max(a_j, min(d_{j−1}, f_{j−1})) + l_j / R and f_0 = d_0 = 0.
fn lateness(stays: impl Iterator<Item = Stay>, rate: Rate) -> Option<f64> {
    let (mut ideal, mut departed) = (0.0f64, 0.0f64);
    let mut greatest = None::<f64>;
    for stay in stays {
        let time = f64::from(stay.length) * 8.0 / rate.as_bits_per_second() as f64;
        ideal = stay.arrived.as_seconds().max(departed.min(ideal)) + time;
        departed = stay.left.as_seconds();
        let late = departed - ideal;
        greatest = Some(greatest.map_or(late, |known| known.max(late)));
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(arrived: u64, left: u64, length: u32) -> Stay {
        let at = Time::from_milliseconds;
        Stay { arrived: at(arrived), left: at(left), length }
    }

    /// The rate is one byte per millisecond.
    const RATE: Rate = Rate::from_bits_per_second(8000);

    #[test]
    fn four_packets_by_hand() {
        // The first packet is 2 ms late: f_1 = 0 + 10 = 10, d_1 = 12. The second is 6 ms late: f_2 = max(5,
        // min(12, 10)) + 10 = 20, d_2 = 26. The third is 1 ms early: f_3 = max(40, min(26, 20)) + 5 = 45, d_3
        // = 44. The fourth is 1 ms late: f_4 = max(41, min(44, 45)) + 10 = 54, d_4 = 55.
        let stays = [stay(0, 12, 10), stay(5, 26, 10), stay(40, 44, 5), stay(41, 55, 10)];
        let Errors { aggregate, packet } = errors(&stays, RATE).unwrap();
        assert!((aggregate - 6e-3).abs() < 1e-12 && (packet - 6e-3).abs() < 1e-12, "{aggregate} {packet}");
    }

    #[test]
    fn a_packet_that_was_overtaken() {
        // The second packet overtakes the first. In order of departures, no packet is late: f_1 = 0 + 10 =
        // 10, d_1 = 10; f_2 = max(1, 10) + 10 = 20, d_2 = 20. In order of arrivals, the first packet is 10 ms
        // late (F_1 = 10, D_1 = 20), and the second is early: F_2 = max(1, min(20, 10)) + 10 = 20, D_2 = 10.
        let stays = [stay(0, 20, 10), stay(1, 10, 10)];
        let Errors { aggregate, packet } = errors(&stays, RATE).unwrap();
        assert!(aggregate.abs() < 1e-12 && (packet - 10e-3).abs() < 1e-12, "{aggregate} {packet}");
    }

    #[test]
    fn a_server_of_the_rate_is_never_late() {
        let stays = [stay(100, 110, 10), stay(104, 120, 10), stay(119, 130, 10)];
        let Errors { aggregate, .. } = errors(&stays, RATE).unwrap();
        assert!(aggregate.abs() < 1e-12, "{aggregate}");
        assert_eq!(errors(&[], RATE), None);
    }
}
