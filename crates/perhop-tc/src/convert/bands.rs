//! Conversion of `prio`, `pfifo_fast` and `ets`: bands selected by filters or by the type of service.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::{At, Guarantee};
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{ByteSize, Dscp};

use super::branch::{Branch, Branches, Demands, leading_filters};
use super::buffers::Above;
use super::classes::{Rule, Taken, any, condition_of, joined};
use super::tree::{DEFAULT, Tree};
use crate::model::Family;
use crate::model::Qdisc;
use crate::options::{Options, Value};
use crate::rules;
use crate::units::shown_id;

/// The bands of a discipline, and the classification of packets to them.
struct Bands<'a> {
    qdisc: &'a Qdisc,
    rules: Vec<Rule>,
    /// The band of all other packets, which is last in the order of classification.
    usual: usize,
    /// The classes of the bands in the order of classification.
    order: Vec<u32>,
    /// The lines of the filters that select each band.
    filters: BTreeMap<u32, Vec<usize>>,
}

impl Branch {
    /// Sets the strict priority level of this class in `qdisc`. Levels begin at 0.
    fn set_level(&mut self, qdisc: &Qdisc, level: usize) {
        self.config.share.level = Some(level as u16);
        self.demands.priority = Demands::of_level(qdisc.line, level).priority;
    }
}

fn id(qdisc: &Qdisc, band: usize) -> u32 {
    qdisc.handle | (band as u32 + 1)
}

impl Tree<'_> {
    /// Converts the bands of `sch_prio.c`. Filters select the band of a packet, otherwise the type of service
    /// selects it.
    pub(super) fn bands(&mut self, qdisc: &Qdisc) -> Branches {
        let count = qdisc.options.number("bands").unwrap_or(3).clamp(1, 16) as usize;
        let map = band_map(&qdisc.options, count);
        let usual = map[0];
        self.report_service(qdisc, &map);
        let rules = self.rules_of_bands(qdisc, &map);
        let bands_in_order: Vec<usize> = (0..count).filter(|band| *band != usual).chain([usual]).collect();
        let order = bands_in_order.iter().map(|band| id(qdisc, *band)).collect();
        let bands = Bands { qdisc, rules, usual, order, filters: leading_filters(qdisc) };
        let mut classes = Vec::new();
        for band in bands_in_order {
            let Some(mut class) = self.band(&bands, band, Above::Device) else { continue };
            class.set_level(qdisc, band);
            classes.push(class);
        }
        without_gaps(&mut classes);
        let scheduler = QueueingConfig { scheduler: SchedulerConfig::Priority, ..QueueingConfig::default() };
        Branches::new(qdisc, scheduler, classes)
    }

    /// Returns the rules of filters, followed by the rules of the type of service.
    fn rules_of_bands(&mut self, qdisc: &Qdisc, map: &[usize; 16]) -> Vec<Rule> {
        let usual = map[0];
        let mut rules = self.rules(qdisc);
        for rule in &mut rules {
            if rule.target == DEFAULT {
                rule.target = id(qdisc, usual);
            }
        }
        let others: BTreeSet<usize> = map.iter().copied().filter(|band| *band != usual).collect();
        for band in others {
            let is_of = |dscp: &u8| map[priority_of(*dscp)] == band;
            let all: Vec<Dscp> = (0..64_u8).filter(is_of).filter_map(Dscp::new).collect();
            if !all.is_empty() {
                // The kernel sets the priority by type of service only for IPv4 packets that it forwards
                // (`ip_forward`).
                let source = "0.0.0.0/0".parse::<Prefix>().ok().map(OneOrMany::from);
                let matches = MatchConfig { dscp: Some(OneOrMany(all)), source, ..MatchConfig::default() };
                rules.push(Rule { family: Family::Any, matches, target: id(qdisc, band) });
            }
        }
        joined(rules)
    }

    /// Returns the class of a band; `None` if the band receives no packets.
    fn band(&mut self, bands: &Bands, band: usize, above: Above) -> Option<Branch> {
        let (id, is_usual) = (id(bands.qdisc, band), band == bands.usual);
        let taken = condition_of(&bands.rules, &bands.order, id);
        if taken == Taken::Nothing && !is_usual {
            return None;
        }
        let matches = taken.condition().filter(|_| !is_usual);
        let config = ClassConfig { name: shown_id(id), matches, ..ClassConfig::default() };
        let mut class = Branch { config, ..Branch::default() };
        class.demands.others.extend(bands.filters.get(&id).into_iter().flatten());
        if bands.qdisc.kind.name == "pfifo_fast" {
            class.config.buffer = Some(self.usual());
        } else {
            let order = bands.order.iter().take_while(|other| **other != id);
            let before =
                order.filter_map(|other| condition_of(&bands.rules, &bands.order, *other).condition());
            let own = class.config.matches.clone();
            self.inside(own.as_ref(), before, |tree| tree.fill_class(&mut class, id, above));
        }
        Some(class)
    }

    /// Reports codepoints whose band follows from the old meaning of the type of service.
    fn report_service(&mut self, qdisc: &Qdisc, map: &[usize; 16]) {
        let band = |dscp: u8| map[priority_of(dscp)];
        // The default maps serve AF12 before EF.
        if band(12) < band(46) {
            let message = format!(
                "the bands follow the TOS bits of RFC 1349, not codepoints: AF12 and AF22 get band {}, EF \
                 band {}, CS6 band {}, AF11 band {}",
                band(12),
                band(46),
                band(48),
                band(10)
            );
            let linux = "add filters by `dsfield` to choose bands by codepoint";
            self.log.found(&rules::TC_PRIORITY_BY_TOS, qdisc.line, message, linux);
        }
    }

    /// Converts the bands of `sch_ets.c`: the first bands have strict priority, and the other bands share the
    /// remaining rate by deficit round robin.
    pub(super) fn ets(&mut self, qdisc: &Qdisc) -> Branches {
        let options = &qdisc.options;
        let (quanta, map) = (numbers(options, "quanta"), numbers(options, "priomap"));
        let strict = options.number("strict").unwrap_or(0) as usize;
        let count = (options.number("bands").unwrap_or(0) as usize).max(strict + quanta.len()).clamp(1, 16);
        let band_of =
            |priority: usize| map.get(priority).map_or(count - 1, |band| (*band as usize).min(count - 1));
        let map: [usize; 16] = std::array::from_fn(band_of);
        let usual = map[0];
        let rules = self.rules_of_bands(qdisc, &map);
        let is_strict = |band: usize| band < strict;
        // The strict bands and the round-robin bands are two groups. The band of all other packets is the
        // last band of its group, and its group is last.
        let mut bands_in_order: Vec<usize> = (0..count).collect();
        bands_in_order.sort_by_key(|band| (is_strict(*band) == is_strict(usual), *band == usual, *band));
        let order: Vec<u32> = bands_in_order.iter().map(|band| id(qdisc, *band)).collect();
        let bands = Bands { qdisc, rules, usual, order, filters: leading_filters(qdisc) };
        let (mut outer, mut turns) = (Vec::new(), Vec::new());
        for band in bands_in_order {
            let above = if is_strict(band) { Above::Device } else { Above::Class };
            let Some(mut class) = self.band(&bands, band, above) else { continue };
            if is_strict(band) {
                class.set_level(qdisc, band);
                outer.push(class);
            } else {
                let quantum = quanta.get(band - strict).copied().unwrap_or_else(|| self.device.frame());
                class.config.share.quantum = Some(ByteSize::from_bytes(quantum));
                class.demands.guarantee = Some(At::new(qdisc.line, Guarantee::RemainingRatio(quantum)));
                turns.push(class);
            }
        }
        if !turns.is_empty() {
            let class = in_turns(qdisc, turns, strict);
            let at = if class.config.matches.is_none() { outer.len() } else { 0 };
            outer.insert(at, class);
        }
        without_gaps(&mut outer);
        let scheduler = QueueingConfig { scheduler: SchedulerConfig::Priority, ..QueueingConfig::default() };
        Branches::new(qdisc, scheduler, outer)
    }
}

/// Renumbers the levels, because bands without packets have left gaps.
fn without_gaps(classes: &mut [Branch]) {
    let mut levels: Vec<u16> = classes.iter().filter_map(|class| class.config.share.level).collect();
    levels.sort_unstable();
    for class in classes {
        let level = class
            .config
            .share
            .level
            .and_then(|level| levels.iter().position(|candidate| *candidate == level));
        class.config.share.level = level.map(|level| level as u16);
    }
}

/// Returns the round-robin bands of `ets` as one class with lower priority than the `strict` other classes.
fn in_turns(qdisc: &Qdisc, classes: Vec<Branch>, strict: usize) -> Branch {
    let is_all = classes.iter().any(|class| class.config.matches.is_none());
    let parts = classes.iter().filter_map(|class| class.config.matches.clone()).collect();
    let matches = if is_all { None } else { any(parts) };
    let scheduler = QueueingConfig { scheduler: SchedulerConfig::Drr, ..QueueingConfig::default() };
    let config = ClassConfig { name: "turns".to_owned(), matches, ..ClassConfig::default() };
    let inside = Some(Branches::new(qdisc, scheduler, classes));
    let mut class = Branch { config, inside, ..Branch::default() };
    class.set_level(qdisc, strict);
    class
}

fn numbers(options: &Options, name: &str) -> Vec<u64> {
    match options.value(name) {
        Some(Value::Numbers(numbers)) => numbers.clone(),
        _ => Vec::new(),
    }
}

/// Returns the band of each priority: `prio2band`, or the configured map.
fn band_map(options: &Options, count: usize) -> [usize; 16] {
    let mut map = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    if let Some(Value::Numbers(numbers)) = options.value("priomap") {
        for (band, number) in map.iter_mut().zip(numbers) {
            *band = *number as usize;
        }
    }
    map.map(|band: usize| band.min(count - 1))
}

/// Returns the priority of a forwarded IPv4 packet: `rt_tos2priority`, which reads the lowest three bits of
/// the codepoint (`net/ipv4/route.c:ip_tos2prio`).
fn priority_of(dscp: u8) -> usize {
    const BEST_EFFORT: usize = 0;
    const BULK: usize = 2;
    const INTERACTIVE_BULK: usize = 4;
    const INTERACTIVE: usize = 6;
    match dscp & 7 {
        0 | 1 => BEST_EFFORT,
        2 | 3 => BULK,
        4 | 5 => INTERACTIVE,
        _ => INTERACTIVE_BULK,
    }
}
