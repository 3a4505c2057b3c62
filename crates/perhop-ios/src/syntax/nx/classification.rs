//! Commands of a class in a policy-map of type qos.

use super::police::police;
use crate::ast::PolicyClass;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled};
use crate::syntax::marking::set;

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("set", set),
    modelled("police", police),
    irrelevant("description"),
    irrelevant("statistics"),
    not_modelled("police aggregate", "several classes share one policer"),
    not_modelled("mark", "packets are marked by a table of the system"),
    not_modelled("redirect", "packets take another path"),
    not_modelled("dbl", "the switch drops packets of large flows first"),
];
