//! [`options`]: converts the options of a configuration in a scenario to the options of front ends.

use std::collections::BTreeMap;

use perhop_device::{HardwareOptions, HiddenParts, ParseOptions};
use perhop_qos::ConfigError;
use perhop_scenario::{PlatformConfig, RouterConfiguration};

/// Returns the options with which a front end reads `configuration`.
///
/// # Errors
/// A setting has two values: one in its own key and one in `settings`. The path begins at a field of
/// [`ParseOptions`].
pub fn options(configuration: &RouterConfiguration) -> Result<ParseOptions, ConfigError> {
    let platform = &configuration.platform;
    let mut settings: BTreeMap<String, String> =
        platform.settings.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    for (name, value) in aliases(platform) {
        let Some(value) = value else { continue };
        if settings.insert(name.to_owned(), value).is_some() {
            let message = format!("`{name}` is set twice: here and in `settings`");
            return Err(ConfigError::new(name, message).help(format!("remove `{name}`")).within("settings"));
        }
    }
    Ok(ParseOptions {
        platform: platform.profile.clone(),
        assume: configuration.assume.clone(),
        hardware: HardwareOptions {
            ring_admission: platform.ring_admission,
            ring_release: platform.ring_release,
            queue_limit: platform.queue_limit,
            reservable_percent: platform.reservable_percent,
            drop_spacing: platform.drop_spacing,
        },
        settings,
        hidden_parts: HiddenParts::Report,
    })
}

/// Returns the settings that have their own key in a scenario. The names are those of
/// [`ParseOptions::settings`].
fn aliases(platform: &PlatformConfig) -> [(&'static str, Option<String>); 3] {
    [
        ("particle", platform.particle.map(|size| size.to_string())),
        ("circuit-ring", platform.circuit_ring.map(|count| count.to_string())),
        ("slots-of", platform.slots_of.map(|rate| rate.to_string())),
    ]
}

/// Converts the path of an error, which begins at a field of [`ParseOptions`], to a path in `configuration`.
pub(crate) fn path_of(error: &ConfigError, configuration: &RouterConfiguration) -> Vec<String> {
    let platform = "platform".to_owned();
    match error.path.as_slice() {
        [field] if *field == platform => vec![platform, "profile".to_owned()],
        [field, name] if field == "settings" => {
            let is_alias = aliases(&configuration.platform)
                .iter()
                .any(|(alias, value)| alias == name && value.is_some());
            if is_alias { vec![platform, name.clone()] } else { vec![platform, field.clone(), name.clone()] }
        }
        path => path.to_vec(),
    }
}
