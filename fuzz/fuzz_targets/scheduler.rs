//! Schedulers, nested and shaped, under any sequence of packets: a wire never rests beside a packet, sends
//! every packet once and every queue in order; a scheduler alone keeps what is proved of it.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::{Corpus, fuzz_target};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ServiceCurveConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::{ByteSize, Rate, Time};

use bounds::{QUANTUM, RATE};
use wire::{Arrival, send};

#[path = "../../crates/perhop-qos/tests/it/bounds/mod.rs"]
#[allow(dead_code)] // the tests of the crate use more of it
mod bounds;
#[path = "../../crates/perhop-qos/tests/it/fluid/mod.rs"]
#[allow(dead_code)]
mod fluid;
#[path = "../../crates/perhop-qos/tests/it/wire/mod.rs"]
mod wire;

const LONGEST: u32 = 1500;
const ALL: [SchedulerConfig; 11] = [
    SchedulerConfig::Fifo,
    SchedulerConfig::Priority,
    SchedulerConfig::Wrr,
    SchedulerConfig::Drr,
    SchedulerConfig::Scfq,
    SchedulerConfig::Wfq,
    SchedulerConfig::Wf2qPlus,
    SchedulerConfig::ThreeParameter,
    SchedulerConfig::Cbq,
    SchedulerConfig::Hfsc,
    SchedulerConfig::Htb,
];

#[derive(Debug, Arbitrary)]
struct Input {
    outer: u8,
    weights: [u8; 4],
    inner: Option<(u8, [u8; 3])>,
    shape: Option<(u8, u16, u16)>,
    packets: Vec<(u32, u8, u16)>,
}

fn share(scheduler: SchedulerConfig, weight: f64) -> ShareConfig {
    match scheduler {
        SchedulerConfig::Fifo | SchedulerConfig::Priority => ShareConfig::default(),
        SchedulerConfig::Drr => ShareConfig {
            quantum: Some(ByteSize::from_bytes((QUANTUM * weight) as u64)),
            ..Default::default()
        },
        SchedulerConfig::ThreeParameter => {
            let minimum = Some(Rate::from_bits_per_second((400_000.0 * weight) as u64));
            ShareConfig { minimum, weight: Some(weight), ..Default::default() }
        }
        // The wire does not rest where every class may borrow.
        SchedulerConfig::Cbq => ShareConfig { fraction: Some(weight / 20.0), ..Default::default() },
        SchedulerConfig::Hfsc => {
            let m2 = Rate::from_bits_per_second((400_000.0 * weight) as u64);
            let link_share = Some(ServiceCurveConfig { m1: None, d: None, m2 });
            ShareConfig { link_share, ..Default::default() }
        }
        SchedulerConfig::Htb => {
            let rate = |bits: f64| Some(Rate::from_bits_per_second((bits * weight) as u64));
            ShareConfig { rate: rate(400_000.0), ceil: rate(600_000.0), ..Default::default() }
        }
        _ => ShareConfig { weight: Some(weight), ..Default::default() },
    }
}

fn queueing(scheduler: u8, weights: &[u8]) -> (SchedulerConfig, Vec<f64>, QueueingConfig) {
    let scheduler = ALL[usize::from(scheduler) % ALL.len()];
    let weights: Vec<f64> = weights.iter().map(|weight| f64::from(weight % 10 + 1)).collect();
    let class = |weight: &f64| ClassConfig { share: share(scheduler, *weight), ..Default::default() };
    let classes = weights.iter().map(class).collect();
    (scheduler, weights, QueueingConfig { scheduler, classes, ..Default::default() })
}

fuzz_target!(|input: Input| -> Corpus {
    let (scheduler, weights, mut config) = queueing(input.outer, &input.weights);
    let mut queues = weights.len();
    if let Some((inner, weights)) = &input.inner {
        let inner = queueing(*inner, weights).2;
        // WFQ's fluid model holds nobody back.
        if (scheduler, inner.scheduler) == (SchedulerConfig::Wfq, SchedulerConfig::Htb) {
            return Corpus::Reject;
        }
        config.classes[1].queueing = Some(inner);
        queues += weights.len() - 1;
    }
    // WFQ's clock is that of a wire that sends without a pause: no shaper within it.
    let shape = input.shape.filter(|_| scheduler != SchedulerConfig::Wfq);
    // CBQ inside CBQ, HFSC inside HFSC and HTB inside HTB are one: there is nothing around a class to hold
    // back.
    let is_one = config.classes.iter().any(|class| class.link_shared(scheduler).is_some());
    let shape = shape.filter(|(class, ..)| !is_one || class % 4 != 1);
    if let Some((class, kilobits, burst)) = shape {
        config.classes[usize::from(class) % 4].shape = Some(ShapeConfig {
            rate: Rate::from_bits_per_second(1000 * (u64::from(kilobits) + 1)),
            burst: ByteSize::from_bytes(u64::from(burst) + 1),
            excess: ByteSize::default(),
            form: ShapeForm::Average,
        });
    }
    let mut at = Time::ZERO;
    let packets = input.packets.iter().take(80).map(|(gap, queue, length)| {
        at += Time::from_nanoseconds(u64::from(*gap % 6_000_000));
        let length = u32::from(*length) % (LONGEST - 39) + 40;
        Arrival { at, queue: usize::from(*queue) % queues, length }
    });
    let arrivals: Vec<Arrival> = packets.collect();
    let departures = send(&config, RATE, &arrivals);
    if input.inner.is_none() && shape.is_none() {
        bounds::check(scheduler, &weights, &arrivals, &departures);
    }
    Corpus::Keep
});
