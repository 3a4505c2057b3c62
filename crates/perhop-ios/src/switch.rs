//! The packet memory of switches, by their hardware.

use std::collections::BTreeSet;

use perhop_device::{MemoryOptions, SwitchMemory};
use perhop_lint::LineState;
use perhop_qos::ConfigError;

use crate::ast::Configuration;
use crate::platform::{Dialect, Platform, Profile, Recognition, SwitchHardware};
use crate::{mls, nexus, silicon_one, uadp};

/// Returns the memory of the ports of a switch; `None` for a router.
///
/// # Errors
/// The product is not known, or perhop does not model its memory.
pub(crate) fn memory(
    configuration: &Configuration,
    platform: &Platform,
) -> Result<Option<SwitchMemory>, ConfigError> {
    match platform.switch() {
        None => Ok(None),
        Some(SwitchHardware::Mls) => Ok(Some(mls::memory(configuration, &platform.memory))),
        Some(SwitchHardware::Nexus) => nexus::memory(configuration, &platform.memory).map(Some),
        Some(SwitchHardware::Uadp) => uadp::memory(configuration, &platform.memory).map(Some),
    }
}

/// Returns the memory of the switch that `options` name or that is recognized in `configuration`; `None` for
/// other devices.
///
/// # Errors
/// The product is not known, or perhop does not model its memory.
pub(crate) fn recognized_memory(
    configuration: &Configuration,
    options: &MemoryOptions,
) -> Result<Option<SwitchMemory>, ConfigError> {
    let dialect = Recognition::from_configuration(configuration).dialect;
    let is_named = options.model.as_deref().is_some_and(mls::is_product);
    if is_named || options.model.is_none() && dialect == Dialect::CatalystMls {
        return Ok(Some(mls::memory(configuration, options)));
    }
    let is_silicon_one = match options.model.as_deref() {
        Some(model) => silicon_one::has_silicon_one(model) || model == Profile::CatalystSiliconOne.name(),
        None => dialect == Dialect::CatalystSiliconOne,
    };
    if is_silicon_one {
        return silicon_one::memory(configuration, options).map(Some);
    }
    if dialect == Dialect::NxOs {
        return nexus::memory(configuration, &Platform::memory_options(options)).map(Some);
    }
    // The configuration may not name the product of such a switch. The error then names the command-line
    // option for the product.
    let is_possible = matches!(dialect, Dialect::CatalystUadp | Dialect::Catalyst);
    if !is_possible && options.model.is_none() {
        return Ok(None);
    }
    uadp::memory(configuration, options).map(Some)
}

/// Returns the reason why the memory of a switch is not known: no line names the product, or perhop does not
/// model the memory of the product.
pub(crate) fn product_unknown(configuration: &Configuration, platform: &Platform) -> Option<ConfigError> {
    let chosen = platform.memory.model.as_deref();
    let found = match platform.switch()? {
        SwitchHardware::Mls => Ok(()),
        SwitchHardware::Nexus => nexus::Model::find(configuration, chosen).map(drop),
        SwitchHardware::Uadp => uadp::model_of(configuration, chosen),
    };
    let error = found.err()?;
    let help = error.help.as_deref().unwrap_or_default().replace("--model", "--platform");
    Some(ConfigError::new("", error.message).help(help))
}

/// Changes lines that set the memory of a switch to the state "modeled", and lines that the division of the
/// memory ignores to "not modeled".
pub(crate) fn mark_lines(configuration: &mut Configuration, platform: &Platform, memory: &SwitchMemory) {
    match platform.switch() {
        Some(SwitchHardware::Mls) => mls::mark_lines(configuration),
        Some(SwitchHardware::Nexus) => nexus::mark_lines(configuration),
        Some(SwitchHardware::Uadp) => uadp::mark_lines(configuration),
        None => {}
    }
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    let ratios = classes.filter_map(|class| class.buffers_percent.as_ref());
    let set: BTreeSet<usize> =
        ratios.chain(&configuration.softmax_multiplier).map(|written| written.line).collect();
    let left_out: BTreeSet<usize> = memory.not_modeled.iter().map(|line| line.line).collect();
    for line in &mut configuration.lines {
        if set.contains(&line.number) && line.state == LineState::NotModelled {
            (line.state, line.note) = (LineState::Modelled, None);
        } else if left_out.contains(&line.number) && line.state == LineState::Modelled {
            line.state = LineState::NotModelled;
        }
    }
}
