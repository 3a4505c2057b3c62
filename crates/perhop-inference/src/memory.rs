//! [`memory_remarks`]: the assumptions about the packet memory of a switch.

use crate::document::has_unmodeled_queues;
use crate::network::Network;

/// Returns the assumptions about the memory that the queues of the path use, one line each.
pub(crate) fn memory_remarks(network: &Network) -> Vec<String> {
    let mut found = Vec::new();
    let Some(memory) = &network.site.model.memory else { return found };
    let Some(leaving) = network.leaving.port else { return found };
    if let Some(port) = memory.port(&leaving.interface) {
        let units = port.units.map_or_else(String::new, |units| format!("{units} units, "));
        found.push(format!(
            "memory of {}: {units}as `perhop buffers` divides them; units of {} bytes, product {} ({})",
            leaving.name, memory.unit_bytes, memory.model, memory.chip
        ));
        found.extend(port.assumed.iter().map(|text| format!("memory of {}: {text}", leaving.name)));
    }
    if let Some(units) = memory.shared_units {
        let names: Vec<&str> = network.copies.iter().map(|copy| copy.name.as_str()).collect();
        let but = if names.is_empty() { String::new() } else { format!(", except {},", names.join(", ")) };
        found.push(format!(
            "the other ports of the chip{but} use none of its {units} shared units of memory; if they did, \
             the queues would drop more packets"
        ));
    }
    if has_unmodeled_queues(network, &network.entering) {
        found.push(format!(
            "replies via {} wait in a queue without a limit, because the memory of this interface is not \
             known",
            network.entering.name
        ));
    }
    found
}
