//! [`Junos`]: the implementation of the front-end interface for Junos.

use perhop_device::show::Shows;
use perhop_device::{
    AddedInterface, Certainty, Concern, DeviceModel, Evidence, FrontEnd, OpenLine, ParseOptions,
    PlatformRule, Recognition, RecognizedPlatform, Router, Writer,
};
use perhop_lint::{Diagnostic, Line, LineState, Rule, Severity, rules as common_rules};
use perhop_qos::{ConfigError, Rate};

use crate::accounting::{IdleGroups, Unapplied};
use crate::added::ADDED;
use crate::check::{Checked, check};
use crate::context::Context;
use crate::families::Family;
use crate::groups::{Inherited, inherit, with_unapplied};
use crate::lower::{Device, Findings, ports};
use crate::read::{Read, read};
use crate::recognition::{RecognizedFamily, evidence, family};
use crate::show::JunosShows;
use crate::tree::{NodeId, Tree, rank};
use crate::write::JunosWriter;
use crate::{accounting, cos, firewall, hierarchies, interfaces, labels, routing, rules};

/// Junos configurations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Junos;

/// The character with which a comment begins.
const COMMENT: char = '#';
/// The operating system in reports.
const DIALECT: &str = "junos";

impl FrontEnd for Junos {
    fn name(&self) -> &'static str {
        "Junos"
    }

    fn platforms(&self) -> &'static [&'static str] {
        &Family::NAMES
    }

    fn platform_rules(&self, platform: &str) -> Vec<PlatformRule> {
        Family::named(platform).map(Family::rows).unwrap_or_default()
    }

    fn recognize(&self, text: &str) -> Option<Recognition> {
        let because = evidence(text);
        (!because.is_empty()).then_some(Recognition { certainty: Certainty::Certain, because })
    }

    fn shows(&self) -> Option<&dyn Shows> {
        Some(&JunosShows)
    }

    fn writer(&self) -> Option<(&'static str, &dyn Writer)> {
        Some(("junos", &JunosWriter))
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::ALL
    }

    fn added_interface(&self, rate: Rate) -> AddedInterface {
        let gigabits = |number: u64| Rate::from_bits_per_second(number * 1_000_000_000);
        let fits = ADDED.into_iter().find(|(_, number)| gigabits(*number) >= rate);
        let (name, number) = fits.unwrap_or(ADDED[ADDED.len() - 1]);
        let command = format!("set interfaces {name} speed {number}g");
        AddedInterface { name: name.to_owned(), command, rate: gigabits(number) }
    }

    fn has_line(&self, name: &str) -> bool {
        !["lo0", "dsc", "fxp", "me0", "vme"].iter().any(|prefix| name.starts_with(prefix))
    }

    fn parse(&self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        if let Some(name) = options.settings.keys().next() {
            let message = format!("there is no setting `{name}`");
            return Err(ConfigError::new(name, message).within("settings"));
        }
        let mut read = read(text);
        let mut tree = std::mem::replace(&mut read.tree, Tree::new());
        let inherited = inherit(&mut tree);
        let recognized = family(&tree);
        let chosen = match &options.platform {
            Some(name) => Some(Family::named(name).ok_or_else(|| {
                ConfigError::new("platform", format!("there is no platform `{name}`"))
                    .help(format!("platforms: {}", Family::NAMES.join(", ")))
            })?),
            None => None,
        };
        let family = chosen.or(recognized.certain);
        let source = Source { text, read: &read, recognized, is_chosen: chosen.is_some() };
        Ok(source.model(tree, &inherited, family))
    }
}

/// A text and the recognition of its device.
struct Source<'s> {
    text: &'s str,
    read: &'s Read,
    recognized: RecognizedFamily,
    is_chosen: bool,
}

/// A device that was read by the rules of a family.
struct ReadDevice {
    lines: Vec<Line>,
    diagnostics: Vec<Diagnostic>,
    router: Router,
}

impl Source<'_> {
    fn model(&self, tree: Tree, inherited: &Inherited, family: Option<Family>) -> DeviceModel {
        let platform = self.platform(family);
        let is_refused = self.read.template.is_some() || !platform.supported;
        // A text of an unknown family is read by the rules of each likely family. The ports come from the
        // first family.
        let others = if family.is_none() { self.recognized.likely.get(1..).unwrap_or_default() } else { &[] };
        let by_others: Vec<_> =
            others.iter().map(|other| self.read_as(tree.clone(), inherited, *other).diagnostics).collect();
        let likely = self.recognized.likely.first().copied().unwrap_or(Family::Mx);
        let mut read = self.read_as(tree, inherited, family.unwrap_or(likely));
        if is_refused {
            read.diagnostics.retain(|found| by_others.iter().all(|other| other.binary_search(found).is_ok()));
            return self.refused(platform, read, family);
        }
        mark_suspicious(&mut read.lines, &read.diagnostics);
        DeviceModel {
            open_lines: OpenLine::all(&read.lines, |_| None),
            platform,
            lines: read.lines,
            comment: COMMENT,
            diagnostics: read.diagnostics.into_iter().map(concern).collect(),
            router: read.router,
            unsimulated: None,
            memory: None,
        }
    }

    /// Reads the statements by the rules of a family.
    fn read_as(&self, tree: Tree, inherited: &Inherited, family: Family) -> ReadDevice {
        let unapplied = with_unapplied(&tree, inherited).map(|tree| read_definitions(tree, family));
        let mut context = Context::new(tree);
        let cos = cos::read(&mut context, family);
        let firewall = firewall::read(&mut context, &cos);
        let interfaces = interfaces::read(&mut context, &firewall);
        let (hostname, forwarding) = hierarchies::read(&mut context);
        let undefined: Vec<String> = inherited.undefined.iter().map(|(_, name)| name.clone()).collect();
        self.report(&mut context, inherited);
        let device = Device { rules: family.rules(), cos: &cos, firewall: &firewall };
        let mut findings = Findings::default();
        let mut ports = ports(device, &interfaces, &mut findings);
        labels::set_ports(&context, &interfaces, &mut ports);
        routing::set_ports(&context, &forwarding.processes, &interfaces, &mut ports);
        let checked =
            Checked { tree: &context.tree, cos: &cos, firewall: &firewall, interfaces: &interfaces };
        let doubtful = check(checked);
        context.tree.mark_merged();
        let groups = IdleGroups { undefined: &undefined, unapplied: unapplied.as_ref() };
        let mut lines = accounting::lines(self.text, self.read, &context.tree, groups);
        for (number, note) in findings.not_modeled {
            let Some(line) = number.checked_sub(1).and_then(|index| lines.get_mut(index)) else { continue };
            if rank(line.state) < rank(LineState::NotModelled) {
                (line.state, line.note) = (LineState::NotModelled, Some(note));
            }
        }
        let mut diagnostics: Vec<Diagnostic> = context.diagnostics;
        diagnostics.extend(findings.diagnostics);
        diagnostics.extend(doubtful);
        diagnostics.sort();
        let router = Router { hostname, ports, forwarding };
        ReadDevice { lines, diagnostics, router }
    }

    /// Reports findings about the text as a whole.
    fn report(&self, context: &mut Context, inherited: &Inherited) {
        for (node, name) in &inherited.undefined {
            context.undefined(*node, "group", name);
        }
        for group in &inherited.unapplied {
            let message = format!("nothing applies group {}", context.tree.word(*group));
            context.found(&rules::JUNOS_UNUSED, *group, message, "its statements have no effect");
        }
        if inherited.is_cut {
            let message = "the groups of this text have too many statements for perhop";
            let node = context.tree.child(NodeId::ROOT, "groups").unwrap_or(NodeId::ROOT);
            context.found(
                &rules::JUNOS_GROUPS_CUT,
                node,
                message,
                "perhop ignores some statements of the groups",
            );
        }
        if let Some(other) = &self.read.other_device {
            let line = other.lines.first().copied().unwrap_or(1);
            let message = format!("the text also has the configuration of {}", other.name);
            let router = "perhop reads the first device; put each device into a file of its own";
            context.diagnostics.push(Diagnostic::new(&rules::JUNOS_SEVERAL_DEVICES, line, message, router));
        }
    }

    fn platform(&self, family: Option<Family>) -> RecognizedPlatform {
        let likely = self.recognized.likely.first().copied().unwrap_or(Family::Mx);
        let mut because = self.recognized.because.clone();
        if because.is_empty() {
            because = evidence(self.text).into_iter().take(1).collect();
        }
        RecognizedPlatform {
            name: family.unwrap_or(likely).name().to_owned(),
            dialect: DIALECT.to_owned(),
            system: family.map_or("Junos on a device of unknown family", Family::devices).to_owned(),
            supported: family.is_some_and(Family::is_modeled),
            chosen: self.is_chosen,
            certain: family.is_some(),
            because,
            memory_rules: std::collections::BTreeMap::new(),
        }
    }

    /// Returns the model of a text that perhop does not simulate. It has the ports and routes, which do not
    /// depend on queues, and for an unknown family the findings of every likely family.
    fn refused(&self, platform: RecognizedPlatform, read: ReadDevice, family: Option<Family>) -> DeviceModel {
        let platform = RecognizedPlatform { supported: false, ..platform };
        let because = platform.because.clone();
        let ReadDevice { lines, diagnostics, router } = read;
        let refused = |help: &str| DeviceModel::refused(platform, lines, COMMENT, help);
        if let Some(line) = self.read.template {
            let mut model = refused("");
            let message = "this is a Jinja template of a Junos configuration, which has no values yet";
            let diagnostic =
                Diagnostic::new(&common_rules::PLATFORM_NOT_SUPPORTED, line, message, "render it first");
            model.diagnostics[0].diagnostic = diagnostic;
            return model;
        }
        if let Some(family) = family {
            let others: Vec<&str> = family.chips().iter().map(|chip| chip.name()).collect();
            let help = format!(
                "perhop does not model {}; name it: --platform {}",
                family.lacks(),
                others.join(", or ")
            );
            return DeviceModel { unsimulated: Some(Box::new(router)), ..refused(&help) };
        }
        let mut model = DeviceModel { unsimulated: Some(Box::new(router)), ..refused("") };
        model.diagnostics[0].diagnostic = self.unknown_family(&because);
        model.diagnostics.extend(diagnostics.into_iter().map(concern));
        model
    }

    /// Returns the diagnostic that asks for the family, with the likely families.
    fn unknown_family(&self, because: &[Evidence]) -> Diagnostic {
        let line = because.first().map_or(1, |evidence| evidence.line);
        let reasons: Vec<String> =
            because.iter().map(|evidence| format!("line {}: {}", evidence.line, evidence.says)).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
        let message = format!("this Junos configuration does not show the family of the device{reasons}");
        let likely: Vec<&str> = self.recognized.likely.iter().map(|family| family.name()).collect();
        let likely = if likely.is_empty() { Family::NAMES.to_vec() } else { likely };
        let help = format!("name it: --platform {}", likely.join(", or "));
        Diagnostic::new(&common_rules::PLATFORM_NOT_SUPPORTED, line, message, help)
    }
}

/// Reads definitions for the states of their statements.
fn read_definitions(tree: Tree, family: Family) -> Unapplied {
    let mut context = Context::new(tree);
    let cos = cos::read(&mut context, family);
    firewall::read(&mut context, &cos);
    context.tree.mark_merged();
    let is_fault = |found: &&Diagnostic| found.severity != Severity::Note;
    let faults = context.diagnostics.iter().filter(is_fault).map(|found| found.line).collect();
    Unapplied { tree: context.tree, faults }
}

fn concern(diagnostic: Diagnostic) -> Concern {
    Concern { diagnostic, interfaces: None, assumable: None }
}

/// Marks the lines with errors and warnings.
fn mark_suspicious(lines: &mut [Line], diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics.iter().filter(|found| found.severity != Severity::Note) {
        let Some(line) = diagnostic.line.checked_sub(1).and_then(|index| lines.get_mut(index)) else {
            continue;
        };
        if rank(line.state) < rank(LineState::Suspicious) {
            line.state = LineState::Suspicious;
        }
    }
}
