//! Rules for non-queue-building traffic (RFC 9956), whose codepoint 45 has the IP precedence of EF. They
//! report priority classes that match NQB packets unintentionally, and marks that overwrite the codepoint.

use std::collections::BTreeMap;

use perhop_analysis::{Field, PacketSpace, Set, TooComplex};
use perhop_qos::Dscp;
use perhop_qos::action::{Action, CopyConfig, CopyField, Outcome};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::packet::{Color, IpPrecedence};
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use crate::finding::{Finding, Place};
use crate::rules;

/// The NQB codepoint (RFC 9956 §5.1).
const NQB: Dscp = Dscp::new(45).unwrap();
/// Unassigned codepoints (RFC 9956 appendix A) with the precedence of 45. A class that matches these
/// codepoints and 45 classifies by precedence.
const OF_PRECEDENCE: [u128; 2] = [41, 47];
/// Codepoints with the low bits of 45. A class that matches these codepoints and 45 classifies by the three
/// low bits, as for the old type of service.
const OF_LOW_BITS: [u128; 2] = [5, 61];

/// Reports the treatment of packets marked NQB by `policy` on a node with `interfaces`. `nqb` describes the
/// NQB packets known to arrive: flows, or the whole codepoint. If `nqb` is empty, the findings are
/// hypothetical.
pub fn check_nqb(policy: &PolicyConfig, interfaces: &[String], nqb: &[MatchConfig]) -> Vec<Finding> {
    let mut found = Vec::new();
    if may_matter(policy, nqb) {
        // Nothing is reported if sets are too complex, because the rules for classes report them.
        let _ = Check::new(interfaces, nqb).and_then(|mut check| check.policy(policy, &mut found));
    }
    found
}

/// Whether `policy` changes the codepoint of any of the packets `nqb`.
pub fn rewrites_nqb(policy: &PolicyConfig, interfaces: &[String], nqb: &[MatchConfig]) -> bool {
    let rewritten = || {
        let mut check = Check::new(interfaces, nqb)?;
        let mut left = Set::ALL;
        for stage in &policy.conditioners {
            let (known, _) = check.coming(stage, &mut left)?;
            if known != Set::NONE && !rewritten_as(stage).is_empty() {
                return Ok::<_, TooComplex>(true);
            }
        }
        Ok(false)
    };
    // If the sets are too complex, the packets count as rewritten.
    may_matter(policy, nqb) && rewritten().unwrap_or(true)
}

/// Whether `policy` names the NQB codepoint in a condition or a mark.
pub fn names_nqb(policy: &PolicyConfig) -> bool {
    let conditions = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
    conditions.into_iter().any(names) || policy.conditioners.iter().any(marks_nqb) || {
        policy
            .queueing
            .as_ref()
            .is_some_and(|queueing| any_class(queueing, &|class| class.matches.as_ref().is_some_and(names)))
    }
}

/// Returns the condition for all packets marked NQB.
pub fn all_nqb() -> MatchConfig {
    MatchConfig { dscp: Some(OneOrMany(vec![NQB])), ..MatchConfig::default() }
}

fn any_class(queueing: &QueueingConfig, is_one: &dyn Fn(&ClassConfig) -> bool) -> bool {
    let inner = |class: &ClassConfig| class.queueing.as_ref().is_some_and(|inner| any_class(inner, is_one));
    queueing.classes.iter().any(|class| is_one(class) || inner(class))
}

fn marks_nqb(stage: &ConditionerConfig) -> bool {
    let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
    all.into_iter().flatten().any(|action| *action == Action::Mark(NQB))
}

/// Whether a condition names the NQB codepoint, instead of matching it by some of its bits.
fn names(condition: &MatchConfig) -> bool {
    let has = |codepoints: &[Dscp], value: u128| {
        codepoints.iter().any(|codepoint| u128::from(codepoint.value()) == value)
    };
    let own = condition.dscp.as_ref().is_some_and(|OneOrMany(codepoints)| {
        let by_bits = [OF_PRECEDENCE, OF_LOW_BITS].iter().flatten().any(|value| has(codepoints, *value));
        codepoints.contains(&NQB) && !by_bits
    });
    own || inner(condition).any(names)
}

fn inner(condition: &MatchConfig) -> impl Iterator<Item = &MatchConfig> {
    let lists = condition.all.iter().flatten().chain(condition.any.iter().flatten());
    lists.chain(condition.not.as_deref())
}

/// Whether a condition treats NQB differently from default traffic. If no condition does, no class matches
/// NQB packets because of their codepoint, and no sets are needed.
fn distinguishes(condition: &MatchConfig) -> bool {
    let by_codepoint = |OneOrMany(codepoints): &OneOrMany<Dscp>| {
        codepoints.contains(&NQB) != codepoints.contains(&Dscp::DEFAULT)
    };
    let by_precedence = |OneOrMany(known): &OneOrMany<IpPrecedence>| {
        known.contains(&NQB.precedence()) != known.contains(&Dscp::DEFAULT.precedence())
    };
    condition.dscp.as_ref().is_some_and(by_codepoint)
        || condition.precedence.as_ref().is_some_and(by_precedence)
        || inner(condition).any(distinguishes)
}

fn may_matter(policy: &PolicyConfig, nqb: &[MatchConfig]) -> bool {
    let is_rewritten = !nqb.is_empty()
        && policy.conditioners.iter().any(|conditioner| !rewritten_as(conditioner).is_empty());
    let distinguishes = |class: &ClassConfig| class.matches.as_ref().is_some_and(distinguishes);
    is_rewritten
        || policy.queueing.as_ref().is_some_and(|queueing| {
            let has_ranks =
                |queueing: &QueueingConfig| (0..queueing.classes.len()).any(|at| first(queueing, at));
            let inside = |class: &ClassConfig| class.queueing.as_ref().is_some_and(has_ranks);
            (has_ranks(queueing) || any_class(queueing, &inside)) && any_class(queueing, &distinguishes)
        })
}

/// Whether the class with this index has priority over another class.
fn first(queueing: &QueueingConfig, index: usize) -> bool {
    let level = |at: usize| queueing.classes[at].share.level;
    let by_place = |at: usize| level(at).unwrap_or(at as u16);
    let by_level = |at: usize| level(at).unwrap_or(0);
    let lowest = |rank: &dyn Fn(usize) -> u16| (0..queueing.classes.len()).map(rank).max();
    match queueing.scheduler {
        SchedulerConfig::Priority => Some(by_place(index)) < lowest(&by_place),
        SchedulerConfig::Htb | SchedulerConfig::Cbq | SchedulerConfig::GuaranteeExcess => {
            Some(by_level(index)) < lowest(&by_level)
        }
        _ => false,
    }
}

/// Returns the other codepoints that a stage writes into packets marked NQB.
fn rewritten_as(stage: &ConditionerConfig) -> Vec<Dscp> {
    // RFC 9956 §6.4.1: a meter may mark excess NQB traffic as default traffic if later hops may treat 45 as
    // voice.
    let is_metered = stage.meter.is_some();
    let mut codepoints = Vec::new();
    for index in 0..Color::COUNT {
        let color = Color::new(index);
        let dscp = stage.actions_of(color).iter().fold(NQB, after);
        let is_excess = is_metered && color != Color::GREEN && dscp == Dscp::DEFAULT;
        if dscp != NQB && !is_excess && !codepoints.contains(&dscp) {
            codepoints.push(dscp);
        }
    }
    codepoints
}

/// Returns the codepoint after an action.
fn after(dscp: Dscp, action: &Action) -> Dscp {
    match action {
        Action::Mark(dscp) => *dscp,
        Action::MarkPrecedence(precedence) => precedence.class_selector(),
        Action::Copy(copy) => copied(dscp, copy).unwrap_or(dscp),
        _ => dscp,
    }
}

/// Returns the codepoint that a copy action computes from the codepoint; `None` if the action reads another
/// field.
fn copied(dscp: Dscp, copy: &CopyConfig) -> Option<Dscp> {
    let values = copy.values().ok()?;
    let read = match copy.from {
        CopyField::Dscp => dscp.value(),
        CopyField::Precedence => dscp.precedence().value(),
        _ => return None,
    };
    let value = *values.get(usize::from(read))?;
    match copy.to {
        CopyField::Dscp => Dscp::new(value?),
        CopyField::Precedence => IpPrecedence::new(value?).map(IpPrecedence::class_selector),
        _ => None,
    }
}

/// The property by which a class matches packets marked NQB.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Precedence,
    LowBits,
    Name,
}

struct Check {
    space: PacketSpace,
    /// The packets known to arrive.
    known: Set,
}

impl Check {
    fn new(interfaces: &[String], nqb: &[MatchConfig]) -> Result<Check, TooComplex> {
        let mut space = PacketSpace::new(interfaces);
        let known = nqb.iter().map(|condition| space.taken_by(condition)).collect::<Result<_, _>>()?;
        let known = space.any(known)?;
        Ok(Check { space, known })
    }

    fn policy(&mut self, policy: &PolicyConfig, found: &mut Vec<Finding>) -> Result<(), TooComplex> {
        let mut left = Set::ALL;
        for (index, stage) in policy.conditioners.iter().enumerate() {
            let (known, takes) = self.coming(stage, &mut left)?;
            let rewritten = rewritten_as(stage);
            if known == Set::NONE || rewritten.is_empty() || self.comes_by(takes)? == Some(By::Name) {
                continue;
            }
            let name = stage.name.clone().unwrap_or_else(|| index.to_string());
            let written: Vec<String> = rewritten.iter().map(Dscp::to_string).collect();
            found.push(Finding::new(
                &rules::NQB_REMARKED,
                Place::Conditioner(index),
                format!("{name} changes the codepoint of nqb packets (45) to {}", written.join(" or ")),
                "later hops cannot recognize nqb packets: leave 45 unchanged, or match 45 by its value",
            ));
        }
        match &policy.queueing {
            Some(queueing) => self.level(queueing, Set::ALL, None, &mut Vec::new(), found),
            None => Ok(()),
        }
    }

    /// Returns two sets of packets that match a stage: the packets known to arrive, and all packets. Removes
    /// from `left` the packets that do not continue.
    fn coming(&mut self, stage: &ConditionerConfig, left: &mut Set) -> Result<(Set, Set), TooComplex> {
        let matched = match &stage.matches {
            Some(condition) => self.space.taken_by(condition)?,
            None => Set::ALL,
        };
        let takes = self.space.and(*left, matched)?;
        let goes_on = (0..Color::COUNT).any(|color| {
            let actions = stage.actions_of(Color::new(color));
            actions.iter().find_map(Action::ends_with) == Some(Outcome::Continue)
        });
        if !goes_on {
            *left = self.space.minus(*left, matched)?;
        }
        Ok((self.space.and(takes, self.known)?, takes))
    }

    /// Checks a level of classes. `around` is the enclosing priority class.
    fn level(
        &mut self,
        queueing: &QueueingConfig,
        arriving: Set,
        around: Option<&ClassConfig>,
        path: &mut Vec<usize>,
        found: &mut Vec<Finding>,
    ) -> Result<(), TooComplex> {
        let mut left = arriving;
        for (index, class) in queueing.classes.iter().enumerate() {
            let matches = match &class.matches {
                Some(condition) => self.space.taken_by(condition)?,
                None => Set::ALL,
            };
            let takes = self.space.and(left, matches)?;
            left = self.space.minus(left, matches)?;
            path.push(index);
            let before = around.or_else(|| first(queueing, index).then_some(class));
            match &class.queueing {
                Some(inner) => self.level(inner, takes, before, path, found)?,
                None => found.extend(self.class(before.map(|_| class), takes, path)?),
            }
            path.pop();
        }
        Ok(())
    }

    /// Reports a priority class that matches packets marked NQB.
    fn class(
        &mut self,
        class: Option<&ClassConfig>,
        takes: Set,
        path: &[usize],
    ) -> Result<Option<Finding>, TooComplex> {
        let Some(class) = class else { return Ok(None) };
        let Some(by) = self.comes_by(takes)? else { return Ok(None) };
        let is_known = by != By::Name && self.space.and(takes, self.known)? != Set::NONE;
        let how = match by {
            By::Precedence => "by IP precedence 5, which nqb shares with ef",
            By::LowBits => "by the low bits of its codepoint",
            By::Name => "by its value",
        };
        let (rule, takes) = if is_known {
            (&rules::NQB_GETS_PRIORITY, "matches nqb (45)")
        } else {
            (&rules::NQB_MAY_GET_PRIORITY, "would match nqb (45)")
        };
        Ok(Some(Finding::new(
            rule,
            Place::Class(path.to_vec()),
            format!("class {} has priority and {takes} {how}", class.name),
            "RFC 9956 §5.1: nqb has its own short queue, without priority over default traffic",
        )))
    }

    /// Returns the property of the codepoint NQB that the conditions of `takes` match. `None` if packets with
    /// this codepoint are not in `takes`, or if they would also be in `takes` with codepoint 0.
    fn comes_by(&mut self, takes: Set) -> Result<Option<By>, TooComplex> {
        let mut given = BTreeMap::new();
        let codepoints = [u128::from(NQB.value()), 0].into_iter().chain(OF_PRECEDENCE).chain(OF_LOW_BITS);
        for value in codepoints {
            given.insert(value, self.space.given(takes, &[(Field::Dscp, value)])?);
        }
        let own = self.space.minus(given[&u128::from(NQB.value())], given[&0])?;
        if own == Set::NONE {
            return Ok(None);
        }
        for (others, by) in [(OF_PRECEDENCE, By::Precedence), (OF_LOW_BITS, By::LowBits)] {
            let sets = others.iter().map(|value| given[value]).chain([own]).collect();
            if self.space.all(sets)? != Set::NONE {
                return Ok(Some(by));
            }
        }
        Ok(Some(By::Name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn policy(first: &Value, second: &Value) -> PolicyConfig {
        let class = |name: &str, condition: &Value| json!({"name": name, "match": condition});
        let classes = json!([class("first", first), class("second", second), {"name": "rest"}]);
        let written = json!({"queueing": {"scheduler": "priority", "classes": classes}});
        serde_json::from_value(written).expect("a policy")
    }

    /// The check without sets returns the same findings as the check with sets.
    #[test]
    fn policies_that_treat_nqb_as_default_have_no_finding() {
        let conditions = [
            json!({}),
            json!({"dscp": "nqb"}),
            json!({"dscp": "default"}),
            json!({"dscp": ["nqb", "default"]}),
            json!({"dscp": [41, 45, 47]}),
            json!({"dscp": "ef"}),
            json!({"precedence": 5}),
            json!({"precedence": [0, 5]}),
            json!({"not": {"dscp": "default"}}),
            json!({"any": [{"dscp": "ef"}, {"protocol": "udp"}]}),
            json!({"all": [{"not": {"precedence": 0}}, {"protocol": "udp"}]}),
        ];
        let mut without_sets = 0;
        for (first, second) in
            conditions.iter().flat_map(|condition| conditions.iter().map(move |other| (condition, other)))
        {
            let policy = policy(first, second);
            let mut found = Vec::new();
            Check::new(&[], &[]).and_then(|mut check| check.policy(&policy, &mut found)).expect("small sets");
            assert_eq!(check_nqb(&policy, &[], &[]), found, "{first} {second}");
            without_sets += usize::from(!may_matter(&policy, &[]));
        }
        assert_eq!(without_sets, 25, "pairs of the five conditions that treat both codepoints equally");
    }
}
