//! Checks that [`Bbr1`] agrees with the [plain model](Plain) for any acknowledgments.

use std::cell::RefCell;
use std::collections::BTreeSet;

use perhop_qos::random::{Stream, Streams};
use perhop_qos::units::Time;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner, contextualize_config};

use super::super::super::rtt::Clock;
use super::super::State;
use super::super::rate::RateSample;
use super::bbr1::Bbr1;
use super::plain::Plain;
use super::{BbrMode, Facts};

/// An event of a connection after some acknowledgments.
#[derive(Clone, Copy, Debug)]
enum Event {
    Nothing,
    /// A recovery begins.
    Reduction,
    Timeout,
    /// Data are sent after an idle time.
    Restart,
    /// The recovery was spurious.
    Undo,
}

/// A phase of similar acknowledgments, and the event after them.
#[derive(Clone, Debug)]
struct Phase {
    acknowledgments: u32,
    /// The microseconds between two acknowledgments, the segments that each delivers, and the number of
    /// deliveries per loss.
    elapsed: u64,
    delivered: u32,
    lost_each: Option<u32>,
    round_trip: u64,
    in_flight: u32,
    /// The number of segments in flight when a segment is sent. Their acknowledgments are one round.
    round: u32,
    state: State,
    is_app_limited: bool,
    may_be_delayed: bool,
    /// Whether acknowledgments of the phase vary at random.
    varies: bool,
    seed: u64,
    then: Event,
}

fn phases() -> impl Strategy<Value = Vec<Phase>> {
    let states = [State::Open, State::Open, State::Disorder, State::Cwr, State::Recovery, State::Loss];
    let thens =
        [Event::Nothing, Event::Nothing, Event::Reduction, Event::Timeout, Event::Restart, Event::Undo];
    let path = (
        1u32..80,
        prop_oneof![4 => 0u64..3000, 4 => 3000u64..60_000, 1 => 100_000u64..3_000_000],
        1u32..30,
        prop_oneof![3 => Just(None), 1 => (1u32..12).prop_map(Some)],
        100u64..200_000,
        prop_oneof![1 => 0u32..6, 3 => 0u32..300],
        1u32..60,
    );
    let kind = (
        prop::sample::select(states.to_vec()),
        prop::bool::weighted(0.2),
        any::<bool>(),
        any::<bool>(),
        any::<u64>(),
        prop::sample::select(thens.to_vec()),
    );
    let phase = (path, kind).prop_map(|(path, kind)| {
        let (acknowledgments, elapsed, delivered, lost_each, round_trip, in_flight, round) = path;
        let (state, is_app_limited, may_be_delayed, varies, seed, then) = kind;
        Phase {
            acknowledgments,
            elapsed,
            delivered,
            lost_each,
            round_trip,
            in_flight,
            round,
            state,
            is_app_limited,
            may_be_delayed,
            varies,
            seed,
            then,
        }
    });
    prop::collection::vec(phase, 1..20)
}

/// The state of the connection that both models receive.
struct Connection {
    facts: Facts,
    first: Bbr1,
    plain: Plain,
}

impl Connection {
    fn new(tick: Time, payload: u64, seed: u64, round_trip: Option<u64>) -> Connection {
        let clock = Clock::new(tick, Time::ZERO);
        let facts = Facts {
            now: 0,
            ticks: 0,
            clock,
            delivered: 1,
            delivered_at: 0,
            marked: 0,
            lost: 0,
            in_flight: 0,
            is_limited: true,
            is_app_limited: true,
            state: State::Open,
            smoothed: 8 * round_trip.unwrap_or(0),
            least: round_trip.unwrap_or(u64::MAX),
            payload,
            until_departure: 0,
            has_exact_marks: false,
            window: 10,
            threshold: u32::MAX >> 1,
            ignores_flight: false,
        };
        let random = || Streams::new(seed, 0).stream();
        let mut first = Bbr1::new(random());
        first.open(&facts);
        Connection { plain: Plain::new(&facts, random()), facts, first }
    }

    /// Advances the time.
    fn pass(&mut self, elapsed: u64) {
        self.facts.now += elapsed;
        self.facts.ticks = self.facts.clock.ticks_at(Time::from_microseconds(self.facts.now));
        self.facts.ignores_flight = false;
    }
    /// Calls both models, and compares their states.
    fn report(
        &mut self,
        first: impl FnOnce(&mut Bbr1, &mut Facts),
        plain: impl FnOnce(&mut Plain, &mut Facts),
    ) -> TestCaseResult {
        let mut facts = self.facts;
        plain(&mut self.plain, &mut facts);
        first(&mut self.first, &mut self.facts);
        let (model, payload) = (self.first.model(self.facts.payload), u128::from(self.facts.payload));
        let plain = &self.plain;
        prop_assert_eq!(model.mode, plain.state);
        prop_assert_eq!(model.pacing_gain, plain.pacing_gain as f64 / 256.0);
        prop_assert_eq!(model.window_gain, plain.cwnd_gain as f64 / 256.0);
        prop_assert_eq!(u128::from(model.bandwidth), (plain.rate() * payload * 1_000_000) / (1 << 24));
        prop_assert_eq!(model.least_round_trip, plain.rtprop.map(Time::from_microseconds));
        prop_assert_eq!(u128::from(model.pacing_rate), plain.pacing_rate);
        prop_assert_eq!(self.facts.window, facts.window, "window");
        prop_assert_eq!(self.facts.threshold, facts.threshold, "threshold");
        prop_assert_eq!(self.facts.ignores_flight, facts.ignores_flight);
        Ok(())
    }

    /// Passes the next acknowledgment of `phase` to both models.
    fn acknowledge(&mut self, phase: &Phase, number: u32, random: &mut Stream) -> TestCaseResult {
        let mut vary = |value: u64, least: u64| {
            let factor = if phase.varies { 0.5 + random.uniform() } else { 1.0 };
            ((value as f64 * factor) as u64).max(least)
        };
        let elapsed = vary(phase.elapsed, 0);
        let delivered = vary(u64::from(phase.delivered), 0) as u32;
        let round_trip = vary(phase.round_trip, 1);
        let (in_flight, round) = (vary(u64::from(phase.in_flight), 0) as u32, u64::from(phase.round));
        let round = vary(round, 1) as u32;
        let until_departure = vary(phase.elapsed, 0) / 2;
        let lost = u32::from(phase.lost_each.is_some_and(|each| number.is_multiple_of(each)))
            * phase.delivered.div_ceil(2);
        let is_valid = !phase.varies || random.uniform() < 0.9;
        self.pass(elapsed);
        let facts = &mut self.facts;
        facts.delivered += delivered;
        facts.lost += lost;
        if delivered > 0 {
            facts.delivered_at = facts.now;
        }
        (facts.in_flight, facts.state, facts.until_departure) = (in_flight, phase.state, until_departure);
        facts.smoothed = if facts.smoothed == 0 { 8 * round_trip } else { facts.smoothed };
        facts.least = facts.least.min(round_trip);
        let sample = RateSample {
            delivered: is_valid.then_some(round.min(facts.delivered)),
            delivered_before: facts.delivered.saturating_sub(round),
            interval: (is_valid && number % 16 != 15).then_some(round_trip),
            is_app_limited: phase.is_app_limited,
            newly_delivered: delivered,
            newly_lost: lost,
            prior_in_flight: in_flight + delivered,
            round_trip: (number % 7 != 6).then_some(round_trip),
            may_be_delayed: phase.may_be_delayed,
            ..RateSample::default()
        };
        self.report(
            |first, facts| first.on_acknowledgment(facts, &sample),
            |plain, facts| plain.on_acknowledgment(facts, &sample),
        )
    }

    fn happen(&mut self, event: Event) -> TestCaseResult {
        let window = self.facts.window;
        match event {
            Event::Nothing => Ok(()),
            Event::Reduction => {
                self.report(|first, _| first.save_window(window), |plain, _| plain.save_cwnd(window))
            }
            Event::Timeout => {
                // As in `tcp_enter_loss`: saves the window, then reduces it.
                self.report(|first, _| first.save_window(window), |plain, _| plain.save_cwnd(window))?;
                self.facts.window = self.facts.in_flight + 1;
                self.facts.state = State::Loss;
                self.report(|first, facts| first.on_timeout(facts), |plain, facts| plain.on_timeout(facts))
            }
            Event::Restart => {
                self.pass(500_000);
                self.facts.in_flight = 0;
                self.report(Bbr1::on_restart, Plain::on_restart)
            }
            Event::Undo => self.report(|first, facts| first.undo(facts), |plain, facts| plain.undo(facts)),
        }
    }

    /// Names the state of the model.
    fn seen(&self) -> Vec<&'static str> {
        let mut seen = vec![match self.plain.state {
            BbrMode::Startup => "startup",
            BbrMode::Drain => "drain",
            BbrMode::ProbeBandwidth => "probe-bandwidth",
            BbrMode::ProbeRoundTrip => "probe-round-trip",
        }];
        let is_probing = self.plain.state == BbrMode::ProbeBandwidth;
        seen.extend(self.plain.packet_conservation.then_some("packet conservation"));
        seen.extend(self.plain.is_policed().then_some("policed"));
        seen.extend((self.plain.is_restarting() && is_probing).then_some("restart"));
        seen.extend((is_probing && self.plain.pacing_gain == 320).then_some("up"));
        seen.extend((is_probing && self.plain.pacing_gain == 192).then_some("down"));
        seen
    }
}

/// The default number of sequences (`PROPTEST_CASES` sets another number), which is sufficient to reach every
/// phase.
const CASES: u32 = 2000;

#[test]
fn version_1_agrees_with_the_plain_model() {
    let seen = RefCell::new(BTreeSet::new());
    let connection = (prop::sample::select(vec![1u64, 4, 10]), 500u64..2000, any::<u64>(), any::<bool>());
    let config = contextualize_config(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let is_whole = config.cases >= CASES;
    let mut runner = TestRunner::new(config);
    let ran = runner.run(&(connection, phases()), |((tick, payload, seed, has_sample), phases)| {
        let sample = has_sample.then_some(phases[0].round_trip);
        let mut connection = Connection::new(Time::from_milliseconds(tick), payload, seed, sample);
        for phase in &phases {
            let mut random = Streams::new(phase.seed, 0).stream();
            for number in 0..phase.acknowledgments {
                connection.acknowledge(phase, number, &mut random)?;
                seen.borrow_mut().extend(connection.seen());
            }
            connection.happen(phase.then)?;
            seen.borrow_mut().extend(connection.seen());
        }
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    let all = [
        "startup",
        "drain",
        "probe-bandwidth",
        "probe-round-trip",
        "packet conservation",
        "policed",
        "restart",
        "up",
        "down",
    ];
    let missing: Vec<_> = all.iter().filter(|what| !seen.borrow().contains(**what)).collect();
    assert!(!is_whole || missing.is_empty(), "never seen: {missing:?}");
}
