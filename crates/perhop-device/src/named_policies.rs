//! Policies without interfaces, and creation of an interface for such a policy.

use std::collections::BTreeSet;

use perhop_qos::policy::PolicyConfig;
use perhop_qos::{ConfigError, Rate};

use crate::front_end::FrontEnd;
use crate::model::DeviceModel;
use crate::policy_uses::{MadeInterface, PolicyUses};

/// Returns the policies that neither interfaces nor other policies use.
pub fn unattached_policies(uses: &[PolicyUses]) -> Vec<&str> {
    let places = uses.iter().filter(|part| part.policy.is_none());
    let mut waiting: Vec<&str> = places.flat_map(|part| &part.uses).map(String::as_str).collect();
    let mut attached: BTreeSet<&str> = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if attached.insert(name) {
            let inner = uses.iter().filter(|part| part.policy.as_deref() == Some(name));
            waiting.extend(inner.flat_map(|part| &part.uses).map(String::as_str));
        }
    }
    names(uses).into_iter().filter(|name| !attached.contains(name)).collect()
}

fn names(uses: &[PolicyUses]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for name in uses.iter().filter_map(|part| part.policy.as_deref()) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns an interface of `rate` with `policy`, or with the only policy that no other policy uses.
///
/// # Errors
/// The configuration does not contain the policy; the policy is ambiguous; an interface has a policy, but the
/// caller names none; or the language cannot state the rate of an interface.
pub fn interface_for(
    front_end: &dyn FrontEnd,
    model: &DeviceModel,
    rate: Rate,
    policy: Option<&str>,
) -> Result<MadeInterface, ConfigError> {
    let ports = model.router.ports.iter().filter(|port| !port.shutdown);
    let attached = ports.into_iter().find(|port| !is_plain(&port.output) || !is_plain(&port.input));
    if let (Some(port), None) = (attached, policy) {
        let message = format!("--rate adds an interface, but interface {} already has a policy", port.name);
        let help = "name the interface with --interface, or the policy with --policy";
        return Err(ConfigError::new("", message).help(help));
    }
    let uses = front_end.policy_uses(&model.lines);
    let policy = chosen(&uses, policy)?;
    front_end.interface_for(policy, rate).ok_or_else(|| {
        let message = format!("{} has no command for the rate of an interface", front_end.name());
        ConfigError::new("", message).help("name an interface of the configuration with --interface")
    })
}

/// Whether the policy neither marks, polices nor classifies packets.
fn is_plain(policy: &PolicyConfig) -> bool {
    let is_fifo =
        |classes: &[perhop_qos::policy::ClassConfig]| matches!(classes, [single] if single.name == "fifo");
    policy.conditioners.is_empty() && policy.queueing.as_ref().is_none_or(|own| is_fifo(&own.classes))
}

fn chosen<'u>(uses: &'u [PolicyUses], policy: Option<&str>) -> Result<&'u str, ConfigError> {
    let names = names(uses);
    let listed = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    if let Some(policy) = policy {
        return names.iter().find(|name| **name == policy).copied().ok_or_else(|| {
            let near = perhop_lint::near(policy, names.iter().copied())
                .map(|name| format!("did you mean `{name}`?"));
            ConfigError::new("", format!("the configuration has no policy `{policy}`"))
                .help(near.unwrap_or_else(|| format!("policies: {}", listed(&names))))
        });
    }
    let inner = uses.iter().filter(|part| part.policy.is_some()).flat_map(|part| &part.uses);
    let inner: BTreeSet<&str> = inner.map(String::as_str).collect();
    let outermost: Vec<&str> = names.iter().filter(|name| !inner.contains(*name)).copied().collect();
    match outermost.as_slice() {
        [only] => Ok(*only),
        _ if names.is_empty() => Err(ConfigError::new("", "the configuration has no policy")
            .help("--rate needs a policy for its interface")),
        several => {
            let message = format!("the configuration has {} outermost policies", several.len());
            let choice = if several.is_empty() { &names } else { &outermost };
            Err(ConfigError::new("", message).help(format!("choose one with --policy: {}", listed(choice))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PolicyUses, chosen, unattached_policies};

    fn uses(parts: &[(Option<&str>, &[&str])]) -> Vec<PolicyUses> {
        let part = |(policy, uses): &(Option<&str>, &[&str])| PolicyUses {
            policy: policy.map(str::to_owned),
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn a_nested_policy_of_an_attached_policy_is_attached() {
        let found = uses(&[
            (Some("INNER"), &[]),
            (Some("OUTER"), &["INNER"]),
            (None, &["OUTER"]),
            (Some("IDLE"), &["IDLE"]),
        ]);
        assert_eq!(unattached_policies(&found), ["IDLE"]);
    }

    #[test]
    fn the_outermost_policy_is_chosen() {
        let found = uses(&[(Some("INNER"), &[]), (Some("OUTER"), &["INNER"])]);
        assert_eq!(chosen(&found, None), Ok("OUTER"));
        assert_eq!(chosen(&found, Some("INNER")), Ok("INNER"));
        let help = |name| chosen(&found, Some(name)).unwrap_err().help;
        assert_eq!(help("WAN").as_deref(), Some("policies: INNER, OUTER"));
        assert_eq!(help("OUTRE").as_deref(), Some("did you mean `OUTER`?"));
        let several = uses(&[(Some("A"), &[]), (Some("B"), &[])]);
        assert_eq!(
            chosen(&several, None).unwrap_err().help.as_deref(),
            Some("choose one with --policy: A, B")
        );
        assert!(chosen(&[], None).is_err());
    }
}
