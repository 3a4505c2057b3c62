//! Conversion of `htb`, `hfsc` and `drr`, which are trees of classes that filters select.

use std::collections::BTreeMap;

use perhop_qos::QueueSize;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};

use super::branch::{Branch, Branches, Demands, leading_filters};
use super::buffers::{self, Above};
use super::class_tree::{ClassTree, nested_too_deeply};
use super::classes::{Rule, Taken, any, condition_of, joined};
use super::tree::{DEFAULT, Tree};
use crate::model::Qdisc;
use crate::rules;
use crate::units::shown_id;

/// The data from which the classes of a tree are built.
struct Plan<'a> {
    qdisc: &'a Qdisc,
    scheduler: SchedulerConfig,
    rules: &'a [Rule],
    tree: &'a ClassTree<'a>,
    default: Option<u32>,
    /// The lines of filters by the class that they select.
    filters: BTreeMap<u32, Vec<usize>>,
}

impl Tree<'_> {
    /// Converts a tree of classes that filters select.
    pub(super) fn tree(&mut self, qdisc: &Qdisc, scheduler: SchedulerConfig) -> Option<Branches> {
        let default = qdisc.options.number("default").filter(|minor| *minor > 0);
        let default = default.map(|minor| qdisc.handle | minor as u32).filter(|id| holds_a_queue(qdisc, *id));
        let mut rules = self.rules(qdisc);
        if let Some(default) = default {
            for rule in &mut rules {
                if rule.target == DEFAULT {
                    rule.target = default;
                }
            }
            rules = joined(rules);
        } else if scheduler != SchedulerConfig::Htb {
            self.report_unclassified(qdisc, &rules);
        }
        let tree = ClassTree::new(qdisc, &rules, default, self.depth);
        for class in tree.too_deep() {
            let what = nested_too_deeply();
            self.log.not_modelled(class.line, format!("{what}, so no packet enters this class"));
        }
        let plan =
            Plan { qdisc, scheduler, rules: &rules, tree: &tree, default, filters: leading_filters(qdisc) };
        let mut classes = self.level(&plan, None, 0);
        if classes.is_empty() && scheduler != SchedulerConfig::Htb {
            self.log.not_modelled(qdisc.line, format!("{}: no class gets packets", qdisc.kind.name));
            return None;
        }
        let mut rate_to_quantum = None;
        if scheduler == SchedulerConfig::Htb {
            rate_to_quantum = qdisc.options.number("r2q").map(|divisor| divisor as u32);
            let takes_all =
                rules.last().is_some_and(|rule| rule.condition().is_none() && rule.target != DEFAULT);
            if default.is_none() && !takes_all {
                classes.push(self.direct(qdisc));
            }
        }
        let scheduler = QueueingConfig { scheduler, rate_to_quantum, ..QueueingConfig::default() };
        Some(Branches::new(qdisc, scheduler, classes))
    }

    /// Returns the class of unclassified packets, which wait in a separate queue. HTB serves this queue first
    /// (`htb_classify`).
    fn direct(&mut self, qdisc: &Qdisc) -> Branch {
        let message = format!("htb: packets that match no filter have no class{}", why_no_default(qdisc));
        let linux = "Linux and perhop send these packets first and without a limit: write `default` with a \
                     class that has a queue";
        self.log.found(&rules::TC_UNCLASSIFIED_DIRECT, qdisc.line, message, linux);
        let limit = qdisc.options.number("direct_qlen").unwrap_or_else(|| self.device.tx_queue_len());
        let config = ClassConfig {
            name: "direct".to_owned(),
            share: ShareConfig { direct: Some(true), ..ShareConfig::default() },
            buffer: Some(buffers::tail_drop(QueueSize::Packets(limit.max(1)))),
            ..ClassConfig::default()
        };
        Branch { config, demands: Demands::of_level(qdisc.line, 0), inside: None }
    }

    fn report_unclassified(&mut self, qdisc: &Qdisc, rules: &[Rule]) {
        if rules.last().is_some_and(|rule| rule.condition().is_none()) {
            return;
        }
        let name = qdisc.kind.name;
        let message = format!("{name}: packets that match no filter have no class{}", why_no_default(qdisc));
        let linux = "Linux and perhop drop these packets, including ARP and neighbor discovery";
        self.log.found(&rules::TC_UNCLASSIFIED_DROPPED, qdisc.line, message, linux);
    }

    fn level(&mut self, plan: &Plan, parent: Option<u32>, depth: usize) -> Vec<Branch> {
        let mut found = Vec::new();
        if plan.tree.is_full(depth) {
            return found;
        }
        for class in plan.tree.without_packets(parent) {
            self.log.note(
                class.line,
                "no filter that perhop reads selects this class, so no packet belongs to it",
            );
        }
        for class in plan.tree.with_packets(parent) {
            let name = shown_id(class.id);
            let config = ClassConfig { name, ..ClassConfig::default() };
            let is_leaf = plan.tree.is_leaf(class.id);
            let mut demands = self.demands(plan.scheduler, class, is_leaf);
            demands.others.extend(plan.filters.get(&class.id).into_iter().flatten());
            let mut made = Branch { config, demands, inside: None };
            if is_leaf {
                let taken = condition_of(plan.rules, plan.tree.order(), class.id);
                if taken == Taken::Nothing && plan.default != Some(class.id) {
                    self.log
                        .note(class.line, "earlier filters match all packets of the filters of this class");
                    continue;
                }
                made.config.matches = taken.condition().filter(|_| plan.default != Some(class.id));
                let own = made.config.matches.clone();
                let before = found.iter().filter_map(|branch: &Branch| branch.config.matches.clone());
                self.inside(own.as_ref(), before, |tree| tree.fill_class(&mut made, class.id, Above::Class));
            } else {
                let before = found.iter().filter_map(|branch: &Branch| branch.config.matches.clone());
                self.depth += 1;
                let inner = self.inside(None, before, |tree| tree.level(plan, Some(class.id), depth + 1));
                self.depth -= 1;
                if inner.is_empty() {
                    continue;
                }
                if inner.iter().all(|branch| branch.config.matches.is_some()) {
                    made.config.matches =
                        any(inner.iter().filter_map(|branch| branch.config.matches.clone()).collect());
                }
                let scheduler = QueueingConfig { scheduler: plan.scheduler, ..QueueingConfig::default() };
                made.inside = Some(Branches::new(plan.qdisc, scheduler, inner));
            }
            made.config.share = self.share(plan.scheduler, class, is_leaf);
            found.push(made);
        }
        found
    }
}

/// Returns the reason why the class of `default` receives no packets.
fn why_no_default(qdisc: &Qdisc) -> String {
    let named = qdisc.options.number("default").filter(|minor| *minor > 0);
    named.map_or_else(String::new, |minor| {
        let id = qdisc.handle | minor as u32;
        let why = if qdisc.class(id).is_some() { "has child classes" } else { "does not exist" };
        format!(": `default` is {}, which {why}", shown_id(id))
    })
}

/// Whether a class exists and has no inner classes.
fn holds_a_queue(qdisc: &Qdisc, id: u32) -> bool {
    qdisc.class(id).is_some() && !qdisc.classes.iter().any(|class| class.parent == Some(id))
}
