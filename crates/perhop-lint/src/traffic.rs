//! Rule for classes that no traffic of the scenario reaches.

use perhop_analysis::{PacketSpace, Set, TooComplex};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use crate::finding::{Finding, Place};
use crate::rules;

/// Limit on the distinguished flows; more flows would make the check too slow.
const MOST_FLOWS: usize = 4096;

/// Reports the classes of `policy`, on a node with `interfaces`, that match no packet of `sent`. `sent` must
/// contain only fields that no router changes, because the function ignores changes on the path.
pub fn check_traffic(policy: &PolicyConfig, interfaces: &[String], sent: &[MatchConfig]) -> Vec<Finding> {
    let Some(queueing) = &policy.queueing else { return Vec::new() };
    let mut found = Vec::new();
    if sent.len() > MOST_FLOWS || idle(queueing, interfaces, sent, &mut found).is_err() {
        return vec![Finding::new(
            &rules::CONDITIONS_TOO_COMPLEX,
            Place::Policy,
            TooComplex.to_string(),
            "perhop runs the policy, but does not check whether traffic reaches each class",
        )];
    }
    found
}

fn idle(
    queueing: &QueueingConfig,
    interfaces: &[String],
    sent: &[MatchConfig],
    found: &mut Vec<Finding>,
) -> Result<(), TooComplex> {
    let mut space = PacketSpace::new(interfaces);
    let flows = sent.iter().map(|flow| space.taken_by(flow)).collect::<Result<_, _>>()?;
    let traffic = space.any(flows)?;
    Walk { space, found }.level(queueing, Set::ALL, traffic, &mut Vec::new())
}

struct Walk<'a> {
    space: PacketSpace,
    found: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    /// Checks the classes of one level. `arriving` are the packets that reach it, and `traffic` are the sent
    /// packets among them.
    fn level(
        &mut self,
        queueing: &QueueingConfig,
        arriving: Set,
        traffic: Set,
        path: &mut Vec<usize>,
    ) -> Result<(), TooComplex> {
        let (mut left, mut traffic) = (arriving, traffic);
        for (index, class) in queueing.classes.iter().enumerate() {
            let matches = match &class.matches {
                Some(condition) => self.space.taken_by(condition)?,
                None => Set::ALL,
            };
            let takes = self.space.and(left, matches)?;
            let gets = self.space.and(traffic, matches)?;
            path.push(index);
            // Another rule reports a class to which no packet at all belongs.
            if gets == Set::NONE && takes != Set::NONE && class.matches.is_some() {
                let example = self
                    .space
                    .witness(takes)?
                    .map_or_else(String::new, |packet| format!(", which matches {packet}"));
                self.found.push(Finding::new(
                    &rules::CLASS_WITHOUT_TRAFFIC,
                    Place::Class(path.clone()),
                    format!("no traffic of the scenario reaches class {}{example}", class.name),
                    "add such traffic, or correct the match of the class or the codepoint of the traffic",
                ));
            } else if let Some(inner) = &class.queueing {
                self.level(inner, takes, gets, path)?;
            }
            path.pop();
            left = self.space.minus(left, matches)?;
            traffic = self.space.minus(traffic, matches)?;
        }
        Ok(())
    }
}
