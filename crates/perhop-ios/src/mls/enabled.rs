//! [`enabled_by`]: whether `mls qos` is on.

use crate::ast::Configuration;

/// Returns the line that enables `mls qos`. A configuration that names neither the release nor the switch may
/// be incomplete and lack this line. For such a configuration, returns the first line of `mls qos`.
pub(crate) fn enabled_by(configuration: &Configuration) -> Option<usize> {
    let mls = &configuration.mls;
    if let Some(enabled) = mls.enabled {
        return enabled.value.then_some(enabled.line);
    }
    let is_fragment = configuration.version.is_none() && configuration.hostname.is_none();
    let ports = configuration.interfaces.iter().flat_map(|interface| &interface.mls.lines);
    mls.lines.iter().chain(ports).min().copied().filter(|_| is_fragment)
}
