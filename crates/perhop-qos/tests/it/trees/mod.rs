//! Random trees of schedulers with shares and shapers, and checks of the properties that they must have.
//! Property tests and fuzzing use them.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ServiceCurveConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::units::{ByteSize, Rate};

use super::bounds::{self, QUANTUM, RATE};
use super::wire::{Arrival, send};

/// The length of the longest packet, IP bytes.
pub(crate) const LONGEST: u32 = 1500;

pub(crate) const ALL: [SchedulerConfig; 12] = [
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
    SchedulerConfig::GuaranteeExcess,
];

/// Classes of `scheduler` with these weights. A weight of 1 corresponds to a DRR quantum of [`QUANTUM`]
/// bytes, and to a minimum of a twentieth of the wire, so that the minima can exceed the rate of the wire.
pub(crate) fn queueing(scheduler: SchedulerConfig, weights: &[f64]) -> QueueingConfig {
    let class = |weight: &f64| ClassConfig { share: share(scheduler, *weight), ..Default::default() };
    QueueingConfig { scheduler, classes: weights.iter().map(class).collect(), ..Default::default() }
}

fn share(scheduler: SchedulerConfig, weight: f64) -> ShareConfig {
    let rate = |bits: f64| Some(Rate::from_bits_per_second((bits * weight) as u64));
    match scheduler {
        SchedulerConfig::Fifo | SchedulerConfig::Priority => ShareConfig::default(),
        SchedulerConfig::Drr => ShareConfig {
            quantum: Some(ByteSize::from_bytes((QUANTUM * weight) as u64)),
            ..Default::default()
        },
        SchedulerConfig::ThreeParameter => {
            ShareConfig { minimum: rate(400_000.0), weight: Some(weight), ..Default::default() }
        }
        // With classes that may all borrow, the wire is work-conserving.
        SchedulerConfig::Cbq => ShareConfig { fraction: Some(weight / 20.0), ..Default::default() },
        SchedulerConfig::Hfsc => {
            let link_share = rate(400_000.0).map(|m2| ServiceCurveConfig { m1: None, d: None, m2 });
            ShareConfig { link_share, ..Default::default() }
        }
        SchedulerConfig::Htb => {
            ShareConfig { rate: rate(400_000.0), ceil: rate(600_000.0), ..Default::default() }
        }
        SchedulerConfig::GuaranteeExcess => {
            ShareConfig { rate: rate(400_000.0), weight: Some(weight), ..Default::default() }
        }
        _ => ShareConfig { weight: Some(weight), ..Default::default() },
    }
}

/// A shaper with a rate of `rate` b/s and a burst of `burst` bytes.
pub(crate) fn shape(rate: u64, burst: u64) -> ShapeConfig {
    let (rate, burst) = (Rate::from_bits_per_second(rate), ByteSize::from_bytes(burst));
    ShapeConfig { rate, burst, excess: ByteSize::default(), form: ShapeForm::Average }
}

/// A class of a [`Tree`], by its number in the outer or the inner scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Outer(usize),
    Inner(usize),
}

/// A scheduler, a second scheduler inside its second class, and shapers.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) outer: SchedulerConfig,
    pub(crate) weights: Vec<f64>,
    pub(crate) inner: Option<(SchedulerConfig, Vec<f64>)>,
    pub(crate) shapes: Vec<(Place, ShapeConfig)>,
}

impl Tree {
    /// Creates a tree of one scheduler without shapers.
    pub(crate) fn flat(scheduler: SchedulerConfig, weights: &[f64]) -> Tree {
        Tree { outer: scheduler, weights: weights.to_vec(), inner: None, shapes: Vec::new() }
    }

    /// Whether the policy language permits the tree. HTB and guarantee-excess hold classes back, which the
    /// fluid model of WFQ does not support.
    pub(crate) fn is_allowed(&self) -> bool {
        let inner = self.inner.as_ref().map(|(scheduler, _)| *scheduler);
        let holds_back = [Some(SchedulerConfig::Htb), Some(SchedulerConfig::GuaranteeExcess)];
        self.outer != SchedulerConfig::Wfq || !holds_back.contains(&inner)
    }

    /// The configuration, without the shapers that the policy language rejects in their class.
    fn config(&self) -> QueueingConfig {
        let mut config = queueing(self.outer, &self.weights);
        if let Some((scheduler, weights)) = &self.inner {
            config.classes[1].queueing = Some(queueing(*scheduler, weights));
        }
        // Nested CBQ, HFSC and HTB are a single hierarchy, so a class between them cannot have a shaper.
        let is_one = config.classes[1].link_shared(self.outer).is_some();
        // The clock of WFQ requires a wire that sends without pauses, so shapers are not permitted inside it.
        for (place, shape) in self.shapes.iter().filter(|_| self.outer != SchedulerConfig::Wfq) {
            match *place {
                Place::Outer(class) if class != 1 || !is_one => config.classes[class].shape = Some(*shape),
                Place::Outer(_) => {}
                Place::Inner(class) => {
                    let inner = config.classes[1].queueing.as_mut();
                    if let Some(inner) = inner.filter(|inner| inner.scheduler != SchedulerConfig::Wfq) {
                        inner.classes[class].shape = Some(*shape);
                    }
                }
            }
        }
        config
    }

    /// Sends `arrivals` through the tree with the checks of [`send`]. If the tree has only one scheduler,
    /// also checks its proved properties.
    ///
    /// # Panics
    /// A check fails.
    pub(crate) fn check(&self, arrivals: &[Arrival]) {
        let departures = send(&self.config(), RATE, arrivals);
        if self.inner.is_none() && self.shapes.is_empty() {
            bounds::check(self.outer, &self.weights, arrivals, &departures);
        }
    }
}
