//! Reports policies of tunnels if the physical interface below the tunnel is unknown.

use perhop_lint::Diagnostic;

use crate::ast::Interface;
use crate::rules;

/// Returns the finding for a policy of a tunnel whose physical interface is unknown.
pub(in crate::convert) fn without_line(interface: &Interface) -> Diagnostic {
    let name = &interface.name;
    Diagnostic::new(
        &rules::BANDWIDTH_UNKNOWN,
        interface.line,
        format!("the interface below {name} is unknown: `tunnel source` is not in this configuration"),
        "write an interface of this configuration, or its address, as `tunnel source`; otherwise only \
         shapers limit the rate",
    )
}
