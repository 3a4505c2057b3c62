//! [`FrontEnds`]: the supported languages, and the choice between them.

use perhop_lint::{Rule, rules};
use perhop_qos::ConfigError;

use crate::front_end::{Certainty, FrontEnd, ParseOptions};
use crate::model::DeviceModel;
use crate::platform_rule::PlatformRule;
use crate::show::{PolicyReading, ShowCommand};
use crate::switch_memory::{MemoryOptions, SwitchMemory};
use crate::tables::DeviceTables;
use crate::writing::{PoliciesToWrite, Written};

/// The policies in an output, and the names of the commands that print such an output.
pub type PoliciesOfOutput = (Vec<PolicyReading>, Vec<&'static str>);

/// The supported languages.
#[derive(Clone, Copy)]
pub struct FrontEnds<'a> {
    fallback: &'a dyn FrontEnd,
    others: &'a [&'a dyn FrontEnd],
}

impl<'a> FrontEnds<'a> {
    /// Creates the list of `others` and `fallback`. The fallback reads texts that no language recognizes.
    pub const fn new(fallback: &'a dyn FrontEnd, others: &'a [&'a dyn FrontEnd]) -> FrontEnds<'a> {
        FrontEnds { fallback, others }
    }

    /// Iterates over the languages, the fallback first.
    pub fn all(self) -> impl Iterator<Item = &'a dyn FrontEnd> {
        std::iter::once(self.fallback).chain(self.others.iter().copied())
    }

    /// Returns the names of all platforms.
    pub fn platforms(self) -> Vec<&'static str> {
        self.all().flat_map(|front_end| front_end.platforms().iter().copied()).collect()
    }

    /// Returns all rules: the vendor-neutral rules and the rules of each front end.
    pub fn rules(self) -> Vec<&'static Rule> {
        let own = self.all().flat_map(|front_end| front_end.rules().iter().copied());
        rules::ALL.iter().copied().chain(own).collect()
    }

    /// Whether `text` looks like a configuration in one of the languages.
    pub fn recognize(self, text: &str) -> bool {
        // The fallback comes last because it is the slowest: it compares lines with all commands of its
        // devices.
        self.others.iter().any(|other| other.recognize(text).is_some())
            || self.fallback.recognize(text).is_some()
    }

    /// Returns the front end of `platform`, or without a platform the front end that recognizes `text` with
    /// the highest certainty.
    ///
    /// # Errors
    /// The platform does not exist. The path is `platform`.
    pub fn choose(self, text: &str, platform: Option<&str>) -> Result<&'a dyn FrontEnd, ConfigError> {
        let Some(name) = platform else { return Ok(self.front_end_of_text(text)) };
        self.all().find(|front_end| front_end.has_platform(name)).ok_or_else(|| {
            ConfigError::new("platform", format!("there is no platform `{name}`"))
                .help(format!("platforms: {}", self.platforms().join(", ")))
        })
    }

    /// Returns the rules by which the platform `name` queues.
    ///
    /// # Errors
    /// The platform does not exist, or its rules are not data.
    pub fn platform_rules(self, name: &str) -> Result<Vec<PlatformRule>, ConfigError> {
        let rules_of = |platform: &str| {
            self.all().map(|front_end| front_end.platform_rules(platform)).find(|rules| !rules.is_empty())
        };
        rules_of(name).ok_or_else(|| {
            let known: Vec<&str> =
                self.platforms().into_iter().filter(|name| rules_of(name).is_some()).collect();
            ConfigError::new("platform", format!("there is no profile `{name}`"))
                .help(format!("profiles: {}", known.join(", ")))
        })
    }

    /// Returns the names of the languages that have a writer.
    pub fn written_languages(self) -> Vec<&'static str> {
        self.all().filter_map(FrontEnd::writer).map(|(name, _)| name).collect()
    }

    /// Returns `policies` in the language `name`.
    ///
    /// # Errors
    /// The language or the platform does not exist, or the writer refuses the policies.
    pub fn write(self, name: &str, policies: &PoliciesToWrite) -> Result<Written, ConfigError> {
        let found = self.all().filter_map(FrontEnd::writer).find(|(known, _)| *known == name);
        if let Some(platform) = &policies.platform {
            self.choose("", Some(platform))?;
        }
        let (_, writer) = found.ok_or_else(|| {
            ConfigError::new("to", format!("perhop does not write configurations in `{name}`"))
                .help(format!("languages: {}", self.written_languages().join(", ")))
        })?;
        writer.write(policies)
    }

    /// Returns the commands of devices whose output can be printed.
    pub fn show_commands(self) -> Vec<&'static ShowCommand> {
        let mut found = Vec::new();
        for shows in self.all().filter_map(FrontEnd::shows) {
            found.extend(shows.commands());
        }
        found
    }

    /// Returns the policies in the output of a device, and the commands that have such output.
    ///
    /// # Errors
    /// The text is not an output that a front end reads, or it is incomplete.
    pub fn read_show(self, output: &str) -> Result<PoliciesOfOutput, ConfigError> {
        if let Some(found) = self.find_show(output)? {
            return Ok(found);
        }
        let read = self.show_commands().into_iter().filter(|command| command.is_read);
        let commands: Vec<String> = read.map(|command| format!("`{}`", command.whole)).collect();
        let message = format!("the file contains no output of {}", commands.join(" or of "));
        Err(ConfigError::new("", message).help("give the whole text, as the device prints it"))
    }

    /// Returns the result of [`read_show`](FrontEnds::read_show), or `None` if no front end finds a policy.
    ///
    /// # Errors
    /// The text is an incomplete output.
    pub fn find_show(self, output: &str) -> Result<Option<PoliciesOfOutput>, ConfigError> {
        for shows in self.all().filter_map(FrontEnd::shows) {
            let policies = shows.read_show(output)?;
            if !policies.is_empty() {
                return Ok(Some((policies, shows.commands_in(output))));
            }
        }
        Ok(None)
    }

    /// Returns the routes and neighbors in the output of a device; `None` if no front end finds any.
    pub fn read_tables(self, output: &str) -> Option<DeviceTables> {
        self.all().map(|front_end| front_end.read_tables(output)).find(|tables| !tables.is_empty())
    }

    /// Returns the packet memory of a switch from its configuration or its output, and the front end that
    /// read it.
    ///
    /// # Errors
    /// No front end models the memory of such a device, or the product is unknown.
    pub fn switch_memory(
        self,
        text: &str,
        options: &MemoryOptions,
    ) -> Result<(&'a dyn FrontEnd, SwitchMemory), ConfigError> {
        for front_end in self.all() {
            if let Some(memory) = front_end.switch_memory(text, options)? {
                return Ok((front_end, memory));
            }
        }
        let message = "the file describes no device whose packet memory perhop models";
        Err(ConfigError::new("", message).help(
            "give the configuration of a Catalyst 3650, 3850 or 9000, or its output of \
             `show platform hardware fed switch active qos queue config interface …`",
        ))
    }

    fn front_end_of_text(self, text: &str) -> &'a dyn FrontEnd {
        let recognized =
            |front_end: &&'a dyn FrontEnd| Some((front_end.recognize(text)?.certainty, *front_end));
        // Among equally certain front ends, the first in the list is chosen.
        let best = self
            .others
            .iter()
            .filter_map(recognized)
            .reduce(|best, candidate| if candidate.0 > best.0 { candidate } else { best });
        match best {
            Some((Certainty::Certain, front_end)) => front_end,
            Some((certainty, front_end)) => {
                let own = self.fallback.recognize(text).map(|own| own.certainty);
                if own < Some(certainty) { front_end } else { self.fallback }
            }
            None => self.fallback,
        }
    }

    /// Returns the device that `text` configures, read by the front end that [`choose`](FrontEnds::choose)
    /// returns.
    ///
    /// # Errors
    /// An option is invalid: its path begins at a field of [`ParseOptions`].
    pub fn parse(self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        self.choose(text, options.platform.as_deref())?.parse(text, options)
    }
}
