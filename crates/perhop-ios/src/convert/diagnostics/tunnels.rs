//! Reports policies of tunnels whose output line is unknown.

use perhop_lint::Diagnostic;

use crate::ast::Interface;
use crate::rules;

/// Returns the finding for a policy of a tunnel whose output line is unknown.
pub(in crate::convert) fn without_line(interface: &Interface) -> Diagnostic {
    let name = &interface.name;
    Diagnostic::new(
        &rules::BANDWIDTH_UNKNOWN,
        interface.line,
        format!("the line below {name} is unknown: `tunnel source` names no wire of this configuration"),
        "name an interface of this configuration, or its address, by `tunnel source`; until then only shapers \
         limit the rate",
    )
}
