//! The device whose ports are lowered, and the parts of a policy with their lines.

use std::collections::BTreeSet;

use perhop_device::intent::ClassId;
use perhop_device::lower::{ClassLinks, Links};
use perhop_lint::{Diagnostic, Rule};
use perhop_qos::conditioner::ConditionerConfig;

use crate::cos::ClassOfService;
use crate::families::Rules;
use crate::firewall::Firewall;

/// A device, with the parts that lowering reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device<'d> {
    pub(crate) rules: &'static Rules,
    pub(crate) cos: &'d ClassOfService,
    pub(crate) firewall: &'d Firewall,
}

/// Findings that only lowering can detect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Lines that are not modeled, with reasons.
    pub(crate) not_modeled: Vec<(usize, String)>,
    /// The lines and texts of the findings.
    known: BTreeSet<(usize, String)>,
}

impl Findings {
    pub(super) fn found(&mut self, rule: &'static Rule, line: usize, message: String, router: &str) {
        if self.known.insert((line, message.clone())) {
            self.diagnostics.push(Diagnostic::new(rule, line, message, router));
        }
    }

    pub(super) fn not_modeled(&mut self, line: usize, note: &str) {
        if self.known.insert((line, note.to_owned())) {
            self.not_modeled.push((line, note.to_owned()));
        }
    }
}

/// A conditioner and the lines that define it.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) config: ConditionerConfig,
    pub(super) lines: Vec<usize>,
}

/// Returns conditioners with unique names, and the links to their lines.
pub(super) fn conditioners(stages: Vec<Stage>) -> (Vec<ConditionerConfig>, Vec<ClassLinks>) {
    let mut configs: Vec<ConditionerConfig> = Vec::with_capacity(stages.len());
    let mut links = Vec::with_capacity(stages.len());
    let mut names = std::collections::BTreeMap::new();
    for (index, Stage { mut config, lines }) in stages.into_iter().enumerate() {
        let name = config.name.clone().unwrap_or_default();
        let uses = names.entry(name.clone()).or_insert(0usize);
        *uses += 1;
        if *uses > 1 {
            config.name = Some(format!("{name} {uses}"));
        }
        configs.push(config);
        links.push(links_of(links.len(), &lines, Some(index)));
    }
    (configs, links)
}

pub(super) fn links_of(id: usize, lines: &[usize], conditioner: Option<usize>) -> ClassLinks {
    let mut lines: Vec<usize> = lines.iter().copied().filter(|line| *line > 0).collect();
    let line = lines.first().copied().unwrap_or(0);
    lines.sort_unstable();
    lines.dedup();
    ClassLinks { class: ClassId(id), line, lines, conditioner, ..ClassLinks::default() }
}

pub(super) fn links(classes: Vec<ClassLinks>) -> Links {
    Links { classes, limiters: Vec::new() }
}
