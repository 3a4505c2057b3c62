//! [`print_configured`]: outputs of a device that show its configuration. They need no run.

use perhop_device::show::{ConfiguredCommand, ShownObject, Shows};
use perhop_device::{FrontEnds, ParseOptions};
use perhop_qos::ConfigError;
use perhop_scenario::suggest;
use serde::Serialize;

/// The output of a command for a device.
#[derive(Clone, Debug, Serialize)]
pub struct ConfiguredOutput {
    /// The host name of the device, if it is configured.
    pub hostname: Option<String>,
    /// The platform of the device.
    pub profile: String,
    /// The objects of the configuration, or the object with the requested name.
    pub objects: Vec<ShownObject>,
}

/// Returns the output of `command` on the device that `text` configures, for the object `name` or for all
/// objects.
///
/// # Errors
/// An option is invalid, perhop does not read the device, the device has no such command, or the
/// configuration has no such object.
pub fn print_configured(
    front_ends: FrontEnds,
    text: &str,
    options: &ParseOptions,
    (command, name): (&str, Option<&str>),
) -> Result<ConfiguredOutput, ConfigError> {
    let front_end = front_ends.choose(text, options.platform.as_deref())?;
    let model = front_end.parse(text, options)?;
    if let Some(refusal) = model.refusal() {
        return Err(ConfigError::new("", refusal.message.clone()).help(refusal.router.clone()));
    }
    let commands = front_end.shows().map_or(&[][..], Shows::configured_commands);
    let found = commands.iter().find(|own| own.name == command);
    let Some((shows, command)) = front_end.shows().zip(found) else {
        return Err(without(&model.platform.system, command, commands));
    };
    let objects = shows.print_configured(command, &model, name);
    if objects.is_empty() {
        let all = shows.print_configured(command, &model, None);
        let known = all.iter().map(|object| object.name.as_str());
        let (object, name) = (command.object, name.unwrap_or_default());
        let message = format!("the configuration has no {object} `{name}`");
        return Err(ConfigError::new("", message).help(suggest("objects", name, known)));
    }
    let hostname = model.router.hostname.clone();
    Ok(ConfiguredOutput { hostname, profile: model.platform.name, objects })
}

fn without(system: &str, command: &str, own: &[ConfiguredCommand]) -> ConfigError {
    let own: Vec<String> = own.iter().map(|command| format!("`perhop show {}`", command.name)).collect();
    let help = match own.as_slice() {
        [] => "`perhop check` shows the meaning of their configurations".to_owned(),
        _ => format!("their outputs: {}", own.join(", ")),
    };
    ConfigError::new("", format!("devices of {system} have no output `{command}`")).help(help)
}
