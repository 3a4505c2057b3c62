//! Conversion of configurations to routers. Every interface and virtual circuit gets policies of
//! `perhop-qos`, a wire and addresses.
//!
//! ```text
//! Configuration → intent → lower → Router { ports: [Port { name, addresses, input, output, wire, links }] }
//!               → wire                                   → diagnostics
//! ```
//!
//! `Port::input` has the conditioners of arriving packets. `Port::output` has the conditioners of departing
//! packets and the queues in front of the tx-ring. Properties that the configuration does not determine, for
//! example the rate of the wire, are `None`; the scenario sets them.
//!
//! `intent` converts policies and class-maps to [`Intent`](perhop_device::intent), `wire` the lines and their
//! headers, `ports` combines them to ports, and `diagnostics` reports faults.

mod attachment;
mod context;
mod control_plane;
mod diagnostics;
mod forwarding;
mod intent;
mod link_settings;
mod matched_lines;
mod ports;
mod routing;
mod wire;

use std::collections::BTreeSet;

use perhop_device::{HiddenParts, Port, Router, shapers_above_port};
use perhop_lint::Diagnostic;

use crate::ast::Configuration;
use crate::check;
use crate::platform::Platform;
use context::Context;

pub(crate) use matched_lines::IosClassLines;
use ports::ConvertedPort;

/// Returns the router that `configuration` describes on `platform`. Adds its findings (a policy that cannot
/// be attached, contradictory thresholds) to the configuration's diagnostics.
pub fn convert(configuration: &mut Configuration, platform: &Platform) -> Router {
    convert_with(configuration, platform, HiddenParts::Report)
}

/// Converts like [`convert`]. `hidden_parts` selects whether the findings include hidden classes and entries.
pub(crate) fn convert_with(
    configuration: &mut Configuration,
    platform: &Platform,
    hidden_parts: HiddenParts,
) -> Router {
    configuration.relate();
    let mut context = Context::new(configuration, platform);
    let mut ports: Vec<ConvertedPort> =
        configuration.interfaces.iter().flat_map(|interface| context.ports(interface)).collect();
    ports.extend(context.control_plane());
    if hidden_parts == HiddenParts::Report {
        context.shadowed_classes();
    }
    context.without_effect();
    context.copied_to_members();
    context.promises_inside();
    context.policy_rules(&ports);
    context.switch_memory_rules(&ports);
    context.memory_commands();
    context.switch_queue_rules();
    context.nested_percentages(&ports);
    context.mark_uses(&ports);
    context.routing_needs(&ports);
    let forwarding = context.forwarding();
    let set_comparisons = context.set_comparisons;
    let mut found: BTreeSet<Diagnostic> = context.found.into_iter().collect();
    let ports: Vec<Port> = ports.into_iter().map(Into::into).collect();
    found.extend(shapers_above_port(&ports));
    for known in &configuration.diagnostics {
        found.remove(known);
    }
    let router = Router { hostname: configuration.hostname.clone(), ports, forwarding };
    configuration.set_comparisons = set_comparisons;
    check::add(configuration, found.into_iter().collect());
    router
}
