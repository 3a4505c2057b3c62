//! `htb`, `hfsc` and `drr`: classes that filters lead to, in a tree.

use perhop_qos::QueueSize;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};

use super::buffers::{self, Above};
use super::class_tree::{ClassTree, MOST_LEVELS};
use super::classes::{Rule, any, condition_of, joined};
use super::tree::{DEFAULT, Tree};
use crate::model::Qdisc;
use crate::rules;
use crate::units::shown_id;

/// What the classes of one tree are made from.
struct Plan<'a> {
    scheduler: SchedulerConfig,
    rules: &'a [Rule],
    tree: &'a ClassTree<'a>,
    default: Option<u32>,
}

impl Tree<'_> {
    /// Classes that filters lead to, in a tree.
    pub(super) fn tree(&mut self, qdisc: &Qdisc, scheduler: SchedulerConfig) -> Option<QueueingConfig> {
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
            self.tell_of_the_unclassified(qdisc, &rules);
        }
        let tree = ClassTree::new(qdisc, &rules, default);
        for class in tree.too_deep() {
            let what = format!("classes are nested more than {MOST_LEVELS} levels deep");
            self.log.not_modelled(class.line, format!("{what}: no packet enters this one"));
        }
        let plan = Plan { scheduler, rules: &rules, tree: &tree, default };
        let mut classes = self.level(&plan, None, 0);
        if classes.is_empty() && scheduler != SchedulerConfig::Htb {
            self.log.not_modelled(qdisc.line, format!("{}: no class with packets", qdisc.kind.name));
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
        Some(QueueingConfig { scheduler, rate_to_quantum, classes, ..QueueingConfig::default() })
    }

    /// `htb_classify`: packets without a class wait in a queue of their own, which is served first.
    fn direct(&mut self, qdisc: &Qdisc) -> ClassConfig {
        let message = "htb: packets that no filter takes have no class";
        let linux = "Linux sends them before all others and without a rate; so does perhop: write `default`";
        self.log.found(&rules::TC_UNCLASSIFIED_DIRECT, qdisc.line, message, linux);
        let limit = qdisc.options.number("direct_qlen").unwrap_or_else(|| self.device.tx_queue_len());
        ClassConfig {
            name: "direct".to_owned(),
            share: ShareConfig { direct: Some(true), ..ShareConfig::default() },
            buffer: Some(buffers::tail_drop(QueueSize::Packets(limit.max(1)))),
            ..ClassConfig::default()
        }
    }

    fn tell_of_the_unclassified(&mut self, qdisc: &Qdisc, rules: &[Rule]) {
        if rules.last().is_some_and(|rule| rule.condition().is_none()) {
            return;
        }
        let message = format!("{}: packets that no filter takes have no class", qdisc.kind.name);
        let linux = "Linux drops them, ARP and neighbor discovery among them; so does perhop";
        self.log.found(&rules::TC_UNCLASSIFIED_DROPPED, qdisc.line, message, linux);
    }

    fn level(&mut self, plan: &Plan, parent: Option<u32>, depth: usize) -> Vec<ClassConfig> {
        let mut found = Vec::new();
        if depth == MOST_LEVELS {
            return found;
        }
        for class in plan.tree.without_packets(parent) {
            self.log.note(class.line, "no filter leads here: it has no packets");
        }
        for class in plan.tree.with_packets(parent) {
            let name = shown_id(class.id);
            let mut made = ClassConfig { name, ..ClassConfig::default() };
            let is_leaf = plan.tree.is_leaf(class.id);
            if is_leaf {
                let taken = condition_of(plan.rules, plan.tree.order(), class.id);
                made.matches = taken.condition().filter(|_| plan.default != Some(class.id));
                self.fill_class(&mut made, class.id, Above::Class);
            } else {
                let inner = self.level(plan, Some(class.id), depth + 1);
                if inner.is_empty() {
                    continue;
                }
                if inner.iter().all(|one| one.matches.is_some()) {
                    made.matches = any(inner.iter().filter_map(|one| one.matches.clone()).collect());
                }
                let scheduler = plan.scheduler;
                made.queueing =
                    Some(QueueingConfig { scheduler, classes: inner, ..QueueingConfig::default() });
            }
            made.share = self.share(plan.scheduler, class, is_leaf);
            found.push(made);
        }
        found
    }
}

/// Whether a class is there and holds a queue, no classes.
fn holds_a_queue(qdisc: &Qdisc, id: u32) -> bool {
    qdisc.class(id).is_some() && !qdisc.classes.iter().any(|class| class.parent == Some(id))
}
