//! The actions of terms.

use perhop_device::NotesAt;
use perhop_qos::Dscp;

use super::outcomes::Treatment;
use super::policers::Policer;
use super::terms::{From, Version};
use crate::cos::LossPriority;

/// A term: conditions, and actions.
pub(super) type Term = (From, Vec<String>);

/// Returns the actions for packets of a queue.
pub(super) fn classified(
    treatment: &Treatment,
    class: &str,
    policer: Option<String>,
    goes_on: bool,
) -> Vec<String> {
    if treatment.is_dropped {
        return vec!["discard".to_owned()];
    }
    let mut then = vec![format!("forwarding-class {class}")];
    then.extend(treatment.loss.map(|loss| format!("loss-priority {}", loss_of(loss).name())));
    then.extend(policer);
    then.push(if goes_on { "next term" } else { "accept" }.to_owned());
    then
}

/// Returns the terms for packets of a policy without queues, which the filter itself marks. If packets that
/// exceed a policer have other marks, separate terms select them by their loss priority.
pub(super) fn marked(
    version: Version,
    from: &From,
    treatment: &Treatment,
    class: &str,
    policer: Option<&Policer>,
    notes: &mut NotesAt,
) -> Vec<Term> {
    let own = marks(version, treatment, class, notes);
    let (Some(policer), Some(metered)) = (policer, &treatment.metered) else {
        return vec![(from.clone(), own)];
    };
    let yellow = metered.yellow.as_ref().zip(policer.yellow);
    let red = policer.red.map(|loss| (&metered.red, loss));
    let others: Vec<(&Treatment, LossPriority)> = yellow.into_iter().chain(red).collect();
    let differs = |(other, _): &(&Treatment, LossPriority)| other.dscp != treatment.dscp;
    if !others.iter().any(differs) {
        return vec![(from.clone(), [vec![policer.action.clone()], own].concat())];
    }
    let mut terms = vec![(from.clone(), vec![policer.action.clone(), "next term".to_owned()])];
    for (other, loss) in others {
        let condition = format!("loss-priority {}", loss.name());
        let from = from.iter().cloned().chain([condition]).collect();
        // The policer has already set the loss priority.
        let other = Treatment { color: None, ..other.clone() };
        terms.push((from, marks(version, &other, class, notes)));
    }
    terms.push((from.clone(), own));
    terms
}

fn marks(version: Version, treatment: &Treatment, class: &str, notes: &mut NotesAt) -> Vec<String> {
    if treatment.is_dropped {
        return vec!["discard".to_owned()];
    }
    let mut then = Vec::new();
    if let Some(dscp) = treatment.dscp {
        let key = if version == Version::V4 { "dscp" } else { "traffic-class" };
        then.push(format!("{key} {dscp}"));
    }
    for (mark, name) in [(treatment.cos, "class of service"), (treatment.exp, "EXP")] {
        if mark.is_some() {
            let reason = "only rewrite rules of departing packets set it";
            notes.report(format!("the {name} of packets that a filter marks"), reason);
        }
    }
    // An AF codepoint sets the color, too.
    let implied = treatment.dscp.and_then(Dscp::new).map(|dscp| dscp.color().index() as u8);
    if let Some(color) =
        treatment.color.filter(|color| implied != Some(*color) && treatment.metered.is_none())
    {
        then.push(format!("loss-priority {}", loss_of(color).name()));
    }
    if !class.is_empty() {
        then.push(format!("forwarding-class {class}"));
    }
    then.push("accept".to_owned());
    then
}

/// Returns the loss priority of a color.
pub(super) fn loss_of(color: u8) -> LossPriority {
    LossPriority::ALL[usize::from(color).min(LossPriority::ALL.len() - 1)]
}
