//! QUIC's sender compared with RFC 9002. A simple implementation of the pseudocode (appendices A and B)
//! receives the same packets, acknowledgments and timers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{Flags, Handshake, Profile, TcpConfig};
use perhop_sim::tcp::{Connection, Numbering, PacketNumbers, Role, SackBlocks, Segment};
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;
const MAX_ACK_DELAY: u64 = 25 * MS;
const GRANULARITY: u64 = MS;

#[derive(Clone, Copy, Debug)]
struct Sent {
    time: u64,
    /// The offset after the data of the packet.
    end: u64,
}

/// The variables of appendices A.3 and B.2. Times are picoseconds, and the window counts datagrams.
#[derive(Debug)]
struct Model {
    sent: BTreeMap<u64, Sent>,
    largest_acked: Option<u64>,
    latest: u64,
    smoothed: u64,
    variation: u64,
    least: u64,
    first_sample: Option<u64>,
    pto_count: u32,
    loss_time: Option<u64>,
    last_sent: u64,
    window: f64,
    threshold: f64,
    recovery_began: Option<u64>,
    /// All packets that were ever acknowledged.
    acked: BTreeSet<u64>,
    persistent: u32,
    /// `ecn_ce_counters`: the number of CE marks that acknowledgments have reported.
    marks: u64,
}

impl Model {
    fn new(window: f64) -> Model {
        Model {
            sent: BTreeMap::new(),
            largest_acked: None,
            latest: 0,
            smoothed: 333 * MS,
            variation: 333 * MS / 2,
            least: 0,
            first_sample: None,
            pto_count: 0,
            loss_time: None,
            last_sent: 0,
            window,
            threshold: f64::INFINITY,
            recovery_began: None,
            acked: BTreeSet::new(),
            persistent: 0,
            marks: 0,
        }
    }
    fn pto(&self) -> u64 {
        // Before data are acknowledged, the timeout of the connection does not include the delay of
        // acknowledgments.
        if self.first_sample.is_none() {
            return 999 * MS;
        }
        self.smoothed + (4 * self.variation).max(GRANULARITY) + MAX_ACK_DELAY
    }
    fn on_sent(&mut self, number: u64, sent: Sent) {
        self.sent.insert(number, sent);
        self.last_sent = sent.time;
    }
    fn timer(&self) -> Option<u64> {
        if self.loss_time.is_some() {
            return self.loss_time;
        }
        (!self.sent.is_empty()).then(|| self.last_sent + self.pto() * (1 << self.pto_count))
    }
    fn update_rtt(&mut self, now: u64, ack_delay: u64) {
        if self.first_sample.is_none() {
            (self.least, self.smoothed, self.variation) = (self.latest, self.latest, self.latest / 2);
            self.first_sample = Some(now);
            return;
        }
        self.least = self.least.min(self.latest);
        let delay = ack_delay.min(MAX_ACK_DELAY);
        let adjusted = if self.latest >= self.least + delay { self.latest - delay } else { self.latest };
        self.variation = (3 * self.variation + self.smoothed.abs_diff(adjusted)) / 4;
        self.smoothed = (7 * self.smoothed + adjusted) / 8;
    }
    fn on_ack(&mut self, now: u64, ranges: &[(u64, u64)], delay: u64, marks: u64, cumulative: u64) {
        let largest = ranges[0].1 - 1;
        self.largest_acked = self.largest_acked.max(Some(largest));
        let names = |number: &u64, sent: &Sent| {
            ranges.iter().any(|(start, end)| (start..end).contains(&number))
                // In perhop, an acknowledgment contains at most four ranges. The acknowledged offset replaces
                // the lower ranges.
                || (ranges.len() == SackBlocks::MOST && *number < ranges[3].0 && sent.end <= cumulative)
        };
        let newly: BTreeMap<u64, Sent> =
            self.sent.iter().filter(|(number, sent)| names(number, sent)).map(|(n, s)| (*n, *s)).collect();
        self.acked.extend(newly.keys());
        for (start, end) in ranges {
            self.acked.extend(*start..*end);
        }
        let Some((newest, sent)) = newly.last_key_value() else { return };
        self.sent.retain(|number, _| !newly.contains_key(number));
        if *newest == largest {
            self.latest = now - sent.time;
            self.update_rtt(now, delay);
        }
        if marks > self.marks {
            self.marks = marks;
            self.on_congestion_event(sent.time, now);
        }
        self.lose(now);
        for packet in newly.values() {
            if self.recovery_began.is_some_and(|began| packet.time <= began) {
                continue;
            }
            self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        }
        self.pto_count = 0;
    }
    fn lose(&mut self, now: u64) {
        self.loss_time = None;
        let Some(largest) = self.largest_acked else { return };
        let delay = (self.latest.max(self.smoothed) * 9 / 8).max(GRANULARITY);
        let mut lost = Vec::new();
        for (number, packet) in &self.sent {
            if *number > largest {
                continue;
            }
            if packet.time + delay <= now || largest >= number + 3 {
                lost.push((*number, packet.time));
            } else {
                let at = packet.time + delay;
                self.loss_time = Some(self.loss_time.map_or(at, |time| time.min(at)));
            }
        }
        self.sent.retain(|number, _| lost.iter().all(|(gone, _)| gone != number));
        let Some(last) = lost.iter().map(|(_, time)| *time).max() else { return };
        self.on_congestion_event(last, now);
        if self.is_persistent(&lost) {
            self.window = 2.0;
            self.recovery_began = None;
            self.persistent += 1;
        }
    }
    /// §7.6: whether two lost packets were sent more than three probe timeouts apart, without a delivery in
    /// between.
    fn is_persistent(&self, lost: &[(u64, u64)]) -> bool {
        let Some(first) = self.first_sample else { return false };
        let counted: Vec<_> = lost.iter().filter(|(_, time)| *time > first).collect();
        counted.iter().any(|(a, from)| {
            counted.iter().any(|(b, to)| {
                let between = |number: &u64| a < number && number < b;
                b > a
                    && to - from > 3 * self.pto()
                    && !self.acked.iter().any(between)
                    && !self.sent.keys().any(between)
            })
        })
    }
    fn on_congestion_event(&mut self, sent: u64, now: u64) {
        if self.recovery_began.is_some_and(|began| sent <= began) {
            return;
        }
        self.recovery_began = Some(now);
        self.threshold = (self.window.floor() / 2.0).floor().max(2.0);
        self.window = self.threshold;
    }
    fn on_timeout(&mut self, now: u64) {
        if self.loss_time.is_some() {
            self.lose(now);
        } else {
            self.pto_count += 1;
        }
    }
}

/// The next step.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The packet at this index among those in the network arrives, marked or not. It is acknowledged after
    /// this number of microseconds.
    Arrives(usize, bool, u32),
    Lost(usize),
    /// All packets in the network are lost.
    Outage,
    Passes(u64),
    /// The timer expires.
    Expires,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0usize..2, prop::bool::weighted(0.02), prop::sample::select(vec![0, 0, 900, 40_000]))
            .prop_map(|(place, marked, delay)| Step::Arrives(place, marked, delay)),
        4 => (0usize..12).prop_map(|place| Step::Arrives(place, false, 0)),
        3 => (0usize..4).prop_map(Step::Lost),
        1 => Just(Step::Outage),
        10 => (1u64..20_000).prop_map(Step::Passes),
        2 => Just(Step::Expires),
    ]
}

struct Bench {
    sender: Connection,
    model: Model,
    now: u64,
    /// Packets in the network: number, offset before and after their data.
    underway: Vec<(u64, u64, u64)>,
    arrived: BTreeSet<u64>,
    data: BTreeSet<(u64, u64)>,
    marks: u64,
}

impl Bench {
    fn new() -> Bench {
        let config = TcpConfig {
            handshake: Some(Handshake::None),
            pacing: Some(false),
            ecn: Some(true),
            window: Some(perhop_qos::QueueSize::Packets(100_000)),
            ..TcpConfig::new(Profile::Quic)
        };
        let mut sender = Connection::new(&Arc::new(config.build().unwrap()), Role::Active, Time::ZERO);
        sender.send(u64::MAX);
        let model = Model::new(10.0);
        let mut bench = Bench {
            sender,
            model,
            now: 0,
            underway: vec![],
            arrived: BTreeSet::new(),
            data: BTreeSet::new(),
            marks: 0,
        };
        bench.collect();
        bench
    }
    fn time(&self) -> Time {
        Time::from_picoseconds(self.now)
    }
    fn collect(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.time()) {
            let number = u64::from(segment.packet().unwrap().number);
            let end = segment.sequence + u64::from(segment.length);
            assert_eq!(segment.ecn, Ecn::Capable0, "everything is ECN-capable");
            assert!(self.model.sent.keys().last().is_none_or(|last| *last < number));
            self.model.on_sent(number, Sent { time: self.now, end });
            self.underway.push((number, segment.sequence, end));
        }
    }
    fn acknowledge(&mut self, place: usize, marked: bool, delay: u32) {
        if self.underway.is_empty() {
            return;
        }
        let (number, start, end) = self.underway.remove(place % self.underway.len());
        let is_largest = self.arrived.last().is_none_or(|last| *last < number);
        self.arrived.insert(number);
        self.data.insert((start, end));
        self.marks += u64::from(marked);
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in self.arrived.iter().rev().copied() {
            match ranges.last_mut() {
                Some(last) if last.0 == number + 1 => last.0 = number,
                _ => ranges.push((number, number + 1)),
            }
        }
        ranges.truncate(SackBlocks::MOST);
        let mut cumulative = 0;
        for (start, end) in &self.data {
            if *start <= cumulative {
                cumulative = cumulative.max(*end);
            }
        }
        // Only the delay of the packet with the largest number is reported.
        let delay = if is_largest { delay } else { 0 };
        self.now += u64::from(delay) * 1_000_000;
        let mut segment = Segment {
            acknowledgment: cumulative,
            window: 1 << 30,
            // RFC 9768 §3.2.1: the counter begins at 5.
            flags: Flags::ACK | Flags::of_counter(((5 + self.marks) % 8) as u8),
            numbering: Numbering::Packet(PacketNumbers { number: 0, delay }),
            ..Segment::default()
        };
        for (start, end) in &ranges {
            segment.sack.push(*start, *end);
        }
        self.model.on_ack(self.now, &ranges, u64::from(delay) * 1_000_000, self.marks, cumulative);
        self.sender.on_segment(self.time(), &segment);
    }
    fn expire(&mut self) {
        let Some(at) = self.model.timer() else { return };
        self.now = self.now.max(at);
        self.model.on_timeout(self.now);
        self.sender.on_timer(self.time());
    }
    fn take(&mut self, step: Step) {
        match step {
            Step::Arrives(place, marked, delay) => {
                // Timers that are due before the acknowledgment expire first.
                while self.model.timer().is_some_and(|at| at <= self.now + u64::from(delay) * 1_000_000) {
                    self.expire();
                    self.collect();
                }
                self.acknowledge(place, marked, delay);
            }
            Step::Lost(place) => {
                if !self.underway.is_empty() {
                    self.underway.remove(place % self.underway.len());
                }
            }
            Step::Outage => self.underway.clear(),
            Step::Passes(microseconds) => {
                let until = self.now + microseconds * 1_000_000;
                while self.model.timer().is_some_and(|at| at <= until) {
                    self.expire();
                    self.collect();
                }
                self.now = until;
            }
            Step::Expires => self.expire(),
        }
        self.collect();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_sender_follows_rfc_9002(steps in prop::collection::vec(any_step(), 1..400)) {
        let mut bench = Bench::new();
        for (index, step) in steps.into_iter().enumerate() {
            bench.take(step);
            let (model, sender) = (&bench.model, &bench.sender);
            let timer = sender.poll_timeout().map(Time::as_picoseconds);
            prop_assert_eq!(timer, model.timer(), "step {}: {:?}", index, step);
            // The window of the sender is in whole datagrams, and the window of the pseudocode has fractions.
            let window = sender.congestion_window();
            prop_assert!((window - model.window).abs() <= 1.5, "step {}: {} {:?}", index, window, model);
            // The sender never exceeds the window, except by two probes.
            prop_assert!(model.sent.len() as f64 <= (window.max(2.0) + 20.0) * 2.0);
        }
    }
}

/// An outage follows a round trip of 100 ms. The probe timeouts are 325 ms and twice this time, and each
/// sends two packets. When the last probe is acknowledged, all earlier packets are declared lost. Their send
/// times span more than 3 * 325 ms.
#[test]
fn an_outage_is_persistent_congestion() {
    let mut bench = Bench::new();
    bench.now = 100 * MS;
    bench.acknowledge(0, false, 0);
    bench.collect();
    assert_eq!(bench.sender.retransmission_timeout(), Time::from_milliseconds(325));
    bench.underway.clear();
    for timeout in [325, 650, 1300, 2600] {
        let before = bench.now;
        assert_eq!(bench.model.timer(), Some(before + timeout * MS));
        bench.underway.clear();
        bench.expire();
        bench.collect();
        assert_eq!(bench.underway.len(), 2, "two probes");
    }
    bench.now += 100 * MS;
    bench.acknowledge(1, false, 0);
    bench.collect();
    // The window is two datagrams, and the acknowledged datagram grows it in slow start.
    assert_eq!((bench.model.persistent, bench.sender.congestion_window()), (1, 3.0));
}
