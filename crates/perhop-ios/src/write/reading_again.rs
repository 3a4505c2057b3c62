//! [`IosWriter`]: writes each policy in every form of IOS, and reads each result again. It selects the form
//! with the fewest differences and lists these differences.

use perhop_device::intent::Direction;
use perhop_device::{
    DeviceModel, Difference, FrontEnd, NotExpressed, Notes, ParseOptions, PoliciesToWrite, PolicyToWrite,
    Writer, Written, differences, with_renumbered_labels,
};
use perhop_lint::Severity;
use perhop_qos::ConfigError;
use perhop_qos::policy::PolicyConfig;

use super::class::{Choice, Way};
use super::configuration::{Source, configuration};
use super::foreign::in_forms_of_ios;
use super::words::name;
use crate::grammar::Grammar;
use crate::platform::{Platform, Profile};

/// The maximum of `account user-defined`, bytes. The minimum is -63.
const MOST_ACCOUNTED: i32 = 63;

/// Writes policies as an IOS configuration, and reads this configuration again.
pub(crate) struct IosWriter(pub(crate) &'static dyn FrontEnd);

impl Writer for IosWriter {
    fn write(&self, policies: &PoliciesToWrite) -> Result<Written, ConfigError> {
        // perhop reads IOS XR and NX-OS but does not write them, so their policies count as foreign.
        let is_ios = |name: &str| Platform::named(name).filter(|platform| platform.grammar() == Grammar::Ios);
        let own = policies.configuration.as_ref().filter(|source| is_ios(&source.platform).is_some());
        let device = own
            .map(|source| {
                self.read(&source.text, Platform::named(&source.platform).map(|platform| platform.profile))
            })
            .transpose()?;
        // The user may have chosen a platform of NX-OS only because the source text requires this platform.
        // The output is then written for another platform.
        let only_reads = |platform: &Platform| {
            let source = policies.configuration.as_ref();
            let read = source.and_then(|device| Platform::named(&device.platform));
            platform.grammar() == Grammar::NxOs && read.is_some_and(|read| read.name() == platform.name())
        };
        let named = policies.platform.as_deref().and_then(Platform::named);
        let chosen = named.filter(|platform| !only_reads(platform));
        if let Some(platform) = chosen.as_ref().filter(|platform| platform.grammar() != Grammar::Ios) {
            let message =
                format!("perhop reads the language of `{}`, but does not write it", platform.name());
            return Err(ConfigError::new("platform", message).help("to write IOS, omit --platform"));
        }
        let of_router = own.and_then(|source| Platform::named(&source.platform));
        let profile = chosen.or(of_router).map_or(Profile::OF_FOREIGN_POLICIES, |platform| platform.profile);
        let is_foreign = policies.configuration.is_some() && own.is_none();
        let all = policies.policies.iter().cloned();
        let interfaces =
            policies.policies.iter().map(|policy| policy.interface.clone().filter(|_| is_foreign)).collect();
        let mut notes = Notes::default();
        let renamed = all
            .map(|entry| if is_foreign { in_forms_of_ios(without_device(entry), &mut notes) } else { entry });
        let policies = renamed.collect();
        let source = Source { policies, interfaces, device: device.as_ref(), notes: notes.into_list() };
        self.write_all(&source, profile)
    }
}

/// Returns the policy of a foreign device without its interface, because IOS has other interface names.
fn without_device(policy: PolicyToWrite) -> PolicyToWrite {
    PolicyToWrite { name: policy.interface.unwrap_or(policy.name), interface: None, ..policy }
}

impl IosWriter {
    fn read(&self, text: &str, profile: Option<Profile>) -> Result<DeviceModel, ConfigError> {
        let platform = profile.map(|profile| profile.name().to_owned());
        self.0.parse(text, &ParseOptions { platform, ..ParseOptions::default() })
    }

    fn write_all(&self, source: &Source, profile: Profile) -> Result<Written, ConfigError> {
        let mut chosen = Vec::new();
        for place in 0..source.policies.len() {
            chosen.push((place, self.best(source, place, profile)?));
        }
        let (text, written) = configuration(source, &chosen, profile);
        let mut notes = [source.notes.clone(), written].concat();
        let device = self.read(&text, Some(profile))?;
        for place in 0..source.policies.len() {
            let at = source.policies[place].place();
            for Difference { path, first, second } in read_again(&device, source, place) {
                if !is_explained(&path, &at, &notes) {
                    notes.push(NotExpressed {
                        construct: format!("{path}: {first}"),
                        place: at.clone(),
                        reason: format!("the router would have {second}"),
                        instead: None,
                    });
                }
            }
        }
        let errors = device.diagnostics.iter().map(|diagnostic| &diagnostic.diagnostic);
        notes.extend(errors.filter(|error| error.severity == Severity::Error).map(|error| NotExpressed {
            construct: error.message.clone(),
            place: format!("line {} of the output", error.line),
            reason: error.router.clone(),
            instead: None,
        }));
        let mut not_expressed: Vec<NotExpressed> = Vec::new();
        for note in notes {
            if !not_expressed.contains(&note) {
                not_expressed.push(note);
            }
        }
        let interfaces = (0..source.policies.len()).map(|place| Some(source.interface(place))).collect();
        Ok(Written { text, not_expressed, interfaces })
    }

    /// Returns the form with the fewest differences after reading the policy again: Intent, or the lowered
    /// policy with one of the choices.
    fn best(&self, source: &Source, place: usize, profile: Profile) -> Result<Way, ConfigError> {
        if source.demands(&source.policies[place]).is_some() {
            let (text, notes) = configuration(source, &[(place, Way::Demands)], profile);
            let is_whole =
                notes.is_empty() && read_again(&self.read(&text, Some(profile))?, source, place).is_empty();
            if is_whole {
                return Ok(Way::Demands);
            }
        }
        let mut waiting = std::collections::VecDeque::from(Choice::ALL);
        let mut least: Option<(usize, Choice)> = None;
        while let Some(choice) = waiting.pop_front() {
            let (text, _) = configuration(source, &[(place, Way::Running(choice))], profile);
            let found = read_again(&self.read(&text, Some(profile))?, source, place);
            if found.is_empty() {
                return Ok(Way::Running(choice));
            }
            let number = |text: &str| text.parse::<i32>().unwrap_or(0);
            let overhead = found.iter().find(|difference| difference.path == "overhead");
            let account =
                overhead.map_or(0, |difference| number(&difference.first) - number(&difference.second));
            if account != 0 && choice.account == 0 && account.abs() <= MOST_ACCOUNTED {
                waiting.push_back(Choice { account, ..choice });
            }
            if least.is_none_or(|(count, _)| found.len() < count) {
                least = Some((found.len(), choice));
            }
        }
        Ok(Way::Running(least.map_or(Choice::ALL[0], |(_, choice)| choice)))
    }
}

/// Whether a note about the class of a difference already explains this difference.
fn is_explained(path: &str, place: &str, notes: &[NotExpressed]) -> bool {
    if path.starts_with("queueing.limit") && notes.iter().any(|note| note.place == place) {
        return true;
    }
    let classes = path.split('[').skip(1).filter_map(|part| part.split_once(']')).map(|(name, _)| name);
    classes.into_iter().any(|name| {
        let class = format!("{place}, class {name}");
        notes.iter().any(|note| note.place.starts_with(&class))
    })
}

/// Returns the differences between the source policy and the written one.
fn read_again(device: &DeviceModel, source: &Source, place: usize) -> Vec<Difference> {
    let entry = &source.policies[place];
    let interface = source.interface(place);
    let ports = &device.router.ports;
    let port = ports.iter().find(|port| port.name == interface).or_else(|| {
        // A single circuit has the name of its interface.
        let only = interface.split(' ').next().unwrap_or_default();
        ports.iter().find(|port| port.name == only)
    });
    let Some(port) = port else {
        let (path, second) = ("interface".to_owned(), "nothing".to_owned());
        return vec![Difference { path, first: interface, second }];
    };
    let is_input = entry.direction == Some(Direction::Input);
    let mut again = if is_input { port.input.clone() } else { port.output.clone() };
    if source.port(entry).is_none() && entry.policy.queueing.is_none() {
        again.queueing = None;
    }
    // If an input policy sets groups, the labels of an output policy begin above the groups. The written
    // policy alone does not show this, so labels are renumbered before the comparison.
    let counted =
        |policy: &PolicyConfig| if is_input { policy.clone() } else { with_renumbered_labels(policy) };
    let mut found = differences(&counted(&entry.policy), &counted(&again));
    // Names count as equal if they differ only by spaces that the writer replaced, because names on the
    // router contain no spaces.
    let is_name = |path: &str| path.rsplit('.').next() == Some("name");
    found.retain(|difference| !is_name(&difference.path) || name(&difference.first) != difference.second);
    found
}
