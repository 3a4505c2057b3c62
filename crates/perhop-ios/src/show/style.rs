//! [`Style`]: the layouts of releases.

use perhop_qos::ConfigError;

use crate::grammar::Grammar;
use crate::platform::Platform;

/// The layout of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// IOS 15: has counters for each match line of a match-any class, and counters of marked packets.
    Ios15,
    /// IOS-XE.
    IosXe,
    /// IOS XR.
    IosXr,
    /// NX-OS.
    NxOs,
}

const STYLES: [(&str, Style); 4] =
    [("ios15", Style::Ios15), ("ios-xe", Style::IosXe), ("ios-xr", Style::IosXr), ("nx-os", Style::NxOs)];

impl Style {
    /// Returns the style `name`, or the style of the platform's releases.
    ///
    /// # Errors
    /// There is no style with this name.
    pub(super) fn chosen(name: Option<&str>, platform: &str) -> Result<Style, ConfigError> {
        let Some(name) = name else {
            let grammar = Platform::named(platform).map(|platform| platform.grammar());
            return Ok(match platform {
                _ if grammar == Some(Grammar::IosXr) => Style::IosXr,
                _ if grammar == Some(Grammar::NxOs) => Style::NxOs,
                "ios-xe" | "asr-920" => Style::IosXe,
                _ => Style::Ios15,
            });
        };
        let found = STYLES.iter().find(|(known, _)| *known == name).map(|(_, style)| *style);
        found.ok_or_else(|| {
            ConfigError::new("style", format!("--style: there is no style `{name}`"))
                .help(format!("styles: {}", STYLES.map(|(name, _)| name).join(", ")))
        })
    }
}
