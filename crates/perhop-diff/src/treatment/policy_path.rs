//! [`PolicyPath`]: the policies on the path of packets of one side, step by step.

use std::sync::Arc;

use perhop_analysis::{Effect, PacketSpace, Set, TooComplex, departures};
use perhop_qos::Rate;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::PolicyConfig;
use serde_json::json;

use super::queues::{self, Level, Queue};
use super::tree::Meter;

/// A conditioner with the packets that match it.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    pub(super) config: &'a ConditionerConfig,
    pub(super) takes: Set,
    pub(super) meter: Option<usize>,
}

/// A step of the path through a port.
pub(super) enum Step<'a> {
    /// An access list that permits these packets.
    Filter(Set),
    Conditioners(Vec<Stage<'a>>),
    /// The marks that the link carries.
    Departure([Vec<Effect>; 2]),
    Queues(Arc<Level>),
}

/// The steps of packets through the policies of one side, with the meters and queues on the way.
#[derive(Default)]
pub(crate) struct PolicyPath<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) meters: Vec<Meter>,
    pub(super) queues: Vec<Queue>,
}

impl<'a> PolicyPath<'a> {
    /// Adds an access list that permits `packets`.
    pub(crate) fn filter(&mut self, packets: Set) {
        self.steps.push(Step::Filter(packets));
    }

    /// Adds the conditioners of a policy.
    pub(crate) fn conditioners(
        &mut self,
        space: &mut PacketSpace,
        policy: &'a PolicyConfig,
    ) -> Result<(), TooComplex> {
        let mut stages = Vec::new();
        for (index, config) in policy.conditioners.iter().enumerate() {
            let takes = match &config.matches {
                Some(condition) => space.taken_by(condition)?,
                None => Set::ALL,
            };
            let meter = config.meter.as_ref().map(|meter| {
                let name = config.name.clone().unwrap_or_else(|| index.to_string());
                let per = json!(config.per);
                let is_per_flow = per != json!(perhop_qos::meter::MeterScope::default());
                let shared = &config.shared;
                let mut config = json!({ "meter": meter, "per": per, "overhead": policy.overhead });
                if let Some(shared) = shared {
                    config["shared"] = json!(shared);
                }
                self.meters.push(Meter { name, config, is_per_flow });
                self.meters.len() - 1
            });
            stages.push(Stage { config, takes, meter });
        }
        self.steps.push(Step::Conditioners(stages));
        Ok(())
    }

    /// Adds the marks that a link with this `encapsulation` carries.
    pub(crate) fn departure(
        &mut self,
        space: &mut PacketSpace,
        encapsulation: Encapsulation,
    ) -> Result<(), TooComplex> {
        self.steps.push(Step::Departure(departures(space, encapsulation)?));
        Ok(())
    }

    /// Adds the queues of a policy on a line of this rate. A policy without queues uses one queue of its
    /// port.
    pub(crate) fn queues(
        &mut self,
        space: &mut PacketSpace,
        policy: &PolicyConfig,
        line: Option<Rate>,
    ) -> Result<(), TooComplex> {
        let level = queues::level_of(space, policy, line, &mut self.queues)?;
        self.steps.push(Step::Queues(Arc::new(level)));
        Ok(())
    }
}
