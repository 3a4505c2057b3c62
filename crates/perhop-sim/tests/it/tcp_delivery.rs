//! For any path, a connection opens, delivers every byte once and in order, and closes.

use crate::pair;
use crate::pair::{CLIENT, Pair, SERVER};
use perhop_qos::random::Streams;
use perhop_qos::units::{ByteSize, Time};
use perhop_scenario::tcp::{
    Acknowledgment, CongestionControl, FastRetransmit, Flags, Profile, Recovery, SegmentationOffload,
    SlowStartExit, TcpConfig, WindowReduction,
};
use perhop_sim::tcp::{Connection, ConnectionEvent, Reading, State};
use proptest::prelude::*;

fn ms(ms: u64) -> Time {
    Time::from_milliseconds(ms)
}

/// The client sends a request and closes. The server answers and closes.
fn request_response(request: u64, response: u64) -> impl FnMut(usize, ConnectionEvent, &mut Connection) {
    move |end, event, connection| match (end, event) {
        (CLIENT, ConnectionEvent::Connected) => {
            connection.send(request);
            connection.close();
        }
        (SERVER, ConnectionEvent::PeerClosed) => {
            connection.send(response);
            connection.close();
        }
        _ => {}
    }
}

fn any_tcp() -> impl Strategy<Value = TcpConfig> {
    let recovery =
        prop::sample::select(vec![Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack]);
    let congestion = prop::sample::select(vec![CongestionControl::Reno, CongestionControl::Cubic]);
    let fast_retransmit = prop::sample::select(vec![FastRetransmit::Always, FastRetransmit::OncePerWindow]);
    let acknowledgment = prop::sample::select(vec![
        Acknowledgment::EveryPacket,
        Acknowledgment::Delayed { timeout: Time::from_milliseconds(200), quick: 0 },
        Acknowledgment::Delayed { timeout: Time::from_milliseconds(40), quick: 16 },
        Acknowledgment::Estimated { first: Time::from_milliseconds(330), quick: 1 },
    ]);
    let profile = prop::sample::select(Profile::ALL[1..5].to_vec());
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), 1u64..40);
    (profile, recovery, congestion, fast_retransmit, acknowledgment, switches).prop_map(
        |(profile, recovery, congestion, fast_retransmit, acknowledgment, switches)| {
            let (timestamps, limited_transmit, ecn, window) = switches;
            TcpConfig {
                recovery: Some(recovery),
                congestion: Some(congestion),
                fast_retransmit: Some(fast_retransmit),
                acknowledgment: Some(acknowledgment),
                timestamps: Some(timestamps),
                limited_transmit: Some(limited_transmit),
                ecn: Some(ecn),
                window: Some(perhop_qos::QueueSize::Packets(window)),
                ..TcpConfig::new(profile)
            }
        },
    )
}

/// Linux 6 with any of its parts switched off.
fn any_linux() -> impl Strategy<Value = TcpConfig> {
    let recovery = prop::sample::select(vec![Recovery::NewReno, Recovery::Sack, Recovery::Rack]);
    let congestion = prop::sample::select(vec![
        CongestionControl::Reno,
        CongestionControl::Cubic,
        CongestionControl::Dctcp,
        CongestionControl::Prague,
        CongestionControl::Bbr,
        CongestionControl::Bbr3,
        CongestionControl::Ledbat,
    ]);
    let slow_start_exit = prop::sample::select(vec![SlowStartExit::Hystart, SlowStartExit::HystartPlusPlus]);
    let window_reduction = prop::sample::select(vec![WindowReduction::AtOnce, WindowReduction::Proportional]);
    let switches = (any::<[bool; 11]>(), 1u64..60);
    (recovery, congestion, slow_start_exit, window_reduction, switches).prop_map(
        |(recovery, congestion, slow_start_exit, window_reduction, (switches, window))| {
            let [offload, deferral, switches @ ..] = switches;
            let [timestamps, ecn, probe, dsack, undo, frto, compression, limited, pacing] =
                switches.map(Some);
            let largest = ByteSize::from_bytes(65_215);
            TcpConfig {
                recovery: Some(recovery),
                congestion: Some(congestion),
                window_reduction: Some(window_reduction),
                slow_start_exit: Some(slow_start_exit),
                timestamps: timestamps.map(|is| is || congestion == CongestionControl::Ledbat),
                ecn: ecn.map(|ecn| ecn || congestion.is_scalable()),
                pacing: pacing.map(|pacing| pacing || congestion.has_model()),
                tail_loss_probe: probe,
                dsack,
                undo,
                frto,
                ack_compression: compression,
                limited_transmit: limited,
                segmentation_offload: offload.then_some(SegmentationOffload { largest, deferral }),
                window: Some(perhop_qos::QueueSize::Packets(window)),
                ..TcpConfig::new(Profile::Linux6)
            }
        },
    )
}

/// QUIC with any congestion control and any of its receivers.
fn any_quic() -> impl Strategy<Value = TcpConfig> {
    let congestion = prop::sample::select(vec![CongestionControl::Reno, CongestionControl::Cubic]);
    let switches = (any::<[bool; 4]>(), 1u64..60);
    (congestion, switches).prop_map(|(congestion, ([ecn, pacing, every, hystart], window))| {
        let delayed = Acknowledgment::Delayed { timeout: Time::from_milliseconds(25), quick: 0 };
        TcpConfig {
            congestion: Some(congestion),
            ecn: Some(ecn),
            pacing: Some(pacing),
            acknowledgment: Some(if every { Acknowledgment::EveryPacket } else { delayed }),
            slow_start_exit: hystart.then_some(SlowStartExit::HystartPlusPlus),
            window: Some(perhop_qos::QueueSize::Packets(window)),
            ..TcpConfig::new(Profile::Quic)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Packets are lost, marked and reordered at random in both directions.
    #[test]
    fn every_byte_arrives_and_both_directions_close(
        tcp in prop_oneof![any_tcp(), any_linux(), any_quic()],
        seed in any::<u64>(),
        loss in 0.0f64..0.3,
        marking in prop::sample::select(vec![0.0, 0.02, 0.3, 1.0]),
        jitter in 0u64..50,
        request in 0u64..100_000,
        response in 0u64..100_000,
    ) {
        let parameters = tcp.build().unwrap();
        let streams = Streams::new(seed, 0);
        let (mut stream, mut marks) = (streams.stream(), streams.child("marks").stream());
        let mut pair = Pair::new(&parameters, move |_, _| {
            let delay = ms(10) + Time::from_microseconds((stream.uniform() * jitter as f64 * 1000.0) as u64);
            (stream.uniform() >= loss).then_some(delay)
        });
        pair.marked = Box::new(move |_| marks.uniform() < marking);
        pair.run(Time::from_seconds(100_000), request_response(request, response));
        prop_assert_eq!(pair.received(SERVER), request);
        prop_assert_eq!(pair.received(CLIENT), response);
        prop_assert_eq!(pair.acknowledged(CLIENT), request);
        prop_assert_eq!(pair.acknowledged(SERVER), response);
        for end in [CLIENT, SERVER] {
            prop_assert_eq!(pair.events[end].last(), Some(&ConnectionEvent::Closed), "{:?}", pair.events[end]);
            prop_assert_eq!(pair.ends[end].flight(), 0);
            prop_assert_eq!(pair.ends[end].poll_timeout(), None);
            // A sender must not count marks that were not set.
            let heard = pair.ends[end].statistics().congestion_marks;
            prop_assert!(heard == 0 || pair.marks[end] > 0, "{heard} heard of");
            prop_assert!(parameters.ecn || pair.marks[end] == 0);
        }
        prop_assert_eq!(pair.ends[SERVER].state(pair.now), State::Closed);
    }

    /// Without losses every sender is informed of its marked segments, by ECE, by sequences of ECE, or by a
    /// counter.
    #[test]
    fn senders_learn_of_marks(
        tcp in prop_oneof![any_tcp(), any_linux()],
        request in 1u64..100_000,
        response in 1u64..100_000,
    ) {
        let tcp = TcpConfig { ecn: Some(true), ..tcp };
        let mut pair = Pair::new(&tcp.build().unwrap(), |_, _| Some(ms(10)));
        pair.marked = Box::new(|_| true);
        pair.run(Time::from_seconds(100_000), request_response(request, response));
        for end in [CLIENT, SERVER] {
            prop_assert!(pair.marks[end] > 0);
            prop_assert!(pair.ends[end].statistics().congestion_marks > 0);
        }
    }
}

/// If any one segment of a short connection is lost, the connection still completes.
#[test]
fn any_one_segment_may_be_lost() {
    let parameters = TcpConfig::new(Profile::Rfc5681Reno).build().unwrap();
    let mut segments = 0;
    Pair::new(&parameters, |_, _| {
        segments += 1;
        Some(ms(10))
    })
    .run(Time::from_seconds(100), request_response(3000, 5000));
    assert!(segments > 10, "{segments} segments");
    for lost in 0..segments {
        let mut sent = 0;
        let mut pair = Pair::new(&parameters, |_, _| {
            sent += 1;
            (sent != lost + 1).then_some(ms(10))
        });
        pair.run(Time::from_seconds(100), request_response(3000, 5000));
        assert_eq!((pair.received(SERVER), pair.received(CLIENT)), (3000, 5000), "segment {lost} lost");
        assert_eq!(pair.ends[SERVER].state(pair.now), State::Closed, "segment {lost} lost");
        assert_eq!(pair.ends[CLIENT].state(pair.now), State::Closed, "segment {lost} lost");
    }
}

/// The receiver reads slowly. The window closes, the sender probes it, and it opens again even if a window
/// update is lost.
#[test]
fn a_closed_window_pauses_the_sender() {
    let config =
        TcpConfig { window: Some(perhop_qos::QueueSize::Packets(4)), ..TcpConfig::new(Profile::Rfc5681Reno) };
    let parameters = config.build().unwrap();
    let mut updates_lost = 0;
    let mut pair = Pair::new(&parameters, |end, segment: &perhop_sim::tcp::Segment| {
        let is_update =
            end == SERVER && segment.flags == Flags::ACK && segment.window > 0 && updates_lost < 1;
        if is_update && segment.acknowledgment == 4 * 1460 {
            updates_lost += 1;
            return None;
        }
        Some(ms(10))
    });
    pair.ends[SERVER].set_reading(Reading::OnDemand);
    pair.ends[CLIENT].send(40_000);
    pair.run(Time::from_seconds(2), pair::silent);
    assert_eq!(pair.received(SERVER), 4 * 1460, "the buffer and no more");
    assert!(pair.ends[CLIENT].statistics().probes >= 1);
    assert_eq!(pair.ends[CLIENT].statistics().timeouts, 0, "a closed window is not a loss");
    // The application reads all data. The window update is lost, and a probe finds the open window.
    pair.ends[SERVER].set_reading(Reading::AtOnce);
    pair.run(Time::from_seconds(60), pair::silent);
    assert_eq!(pair.received(SERVER), 40_000);
}

/// The one-way agents of ns-2 send data from the first instant. They have only data and acknowledgments.
#[test]
fn one_way_connections_have_neither_syn_nor_fin() {
    let parameters = TcpConfig::new(Profile::Ns2Reno1999).build().unwrap();
    let mut flags = Vec::new();
    let mut pair = Pair::new(&parameters, |_, segment: &perhop_sim::tcp::Segment| {
        flags.push(segment.flags);
        Some(ms(10))
    });
    pair.ends[CLIENT].send(10_000);
    pair.ends[CLIENT].close();
    pair.run(Time::from_seconds(10), pair::silent);
    assert_eq!(pair.received(SERVER), 10_000);
    assert!(flags.iter().all(|flags| *flags == Flags::ACK));
    assert_eq!(flags.len(), 20, "ten packets, each acknowledged");
}
