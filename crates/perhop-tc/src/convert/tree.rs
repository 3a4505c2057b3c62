//! Disciplines with classes as schedulers, and what is in the classes.

use std::collections::BTreeMap;

use perhop_lint::rules;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{
    Cells, LinkLayerConfig, SchedulerConfig, ServiceCurveConfig, ShapeConfig, ShapeForm, ShareConfig,
};
use perhop_qos::{ByteSize, Dscp, QueueSize, Rate, Time};

use super::buffers::{self, Above};
use super::classes::{MOST_RULES, Rule, any, condition_of, joined};
use crate::log::Log;
use crate::model::{Class, Device, Place, Qdisc};
use crate::options::{Curve, Options, Value};
use crate::units::shown_id;

/// The queues of a device.
pub(super) struct Tree<'a> {
    pub(super) device: &'a Device,
    pub(super) log: &'a mut Log,
    /// What the outermost shaper lets out.
    pub(super) bandwidth: Option<Rate>,
}

/// The target of packets that no filter takes, or whose filter leads to no queue.
const DEFAULT: u32 = 0;

/// Bytes that the size table of a discipline adds.
pub(super) fn stab(qdisc: &Qdisc) -> Option<i64> {
    let stab = match qdisc.stab.as_ref()?.value("overhead") {
        Some(Value::Signed(bytes)) => *bytes,
        _ => 0,
    };
    Some(stab)
}

impl Tree<'_> {
    /// The queueing at the root; `None` where the device has what it comes with.
    pub(super) fn queueing(&mut self) -> Option<QueueingConfig> {
        let root = self.device.root()?;
        if let Some(scheduling) = self.scheduling(root) {
            return Some(scheduling);
        }
        let mut class = ClassConfig { name: root.kind.name.to_owned(), ..ClassConfig::default() };
        let is_known = self.fill(&mut class, root, Above::Device);
        is_known.then(|| QueueingConfig { classes: vec![class], ..QueueingConfig::default() })
    }

    /// The scheduler of a discipline with classes.
    fn scheduling(&mut self, qdisc: &Qdisc) -> Option<QueueingConfig> {
        match qdisc.kind.name {
            "prio" | "pfifo_fast" => Some(self.bands(qdisc)),
            "ets" => self.ets(qdisc),
            "drr" => self.tree(qdisc, SchedulerConfig::Drr),
            "htb" => self.tree(qdisc, SchedulerConfig::Htb),
            "hfsc" => self.tree(qdisc, SchedulerConfig::Hfsc),
            _ => None,
        }
    }

    /// Puts a discipline into a class; false where it is not modelled.
    fn fill(&mut self, class: &mut ClassConfig, qdisc: &Qdisc, above: Above) -> bool {
        match qdisc.kind.name {
            "tbf" => self.tbf(class, qdisc),
            "mq" => {
                let first = self.device.qdiscs.iter().find(|one| self.is_below(one, qdisc));
                first.is_some_and(|first| self.fill_with_any(class, first, above))
            }
            "sfq" => {
                class.fair_queueing = Some(buffers::sfq(qdisc, self.log));
                true
            }
            _ => {
                let buffer = buffers::of(qdisc, self.device, above, self.log);
                let is_known = buffer.is_some();
                class.buffer = buffer.or_else(|| Some(self.usual()));
                is_known
            }
        }
    }

    fn is_below(&self, one: &Qdisc, qdisc: &Qdisc) -> bool {
        let Place::Class(id) = one.place else { return false };
        // `show` prints the number 0 for mq: its children are in :1, :2 and so on.
        id & 0xffff_0000 == qdisc.handle || (qdisc.kind.name == "mq" && id >> 16 == 0)
    }

    fn fill_with_any(&mut self, class: &mut ClassConfig, qdisc: &Qdisc, above: Above) -> bool {
        match self.scheduling(qdisc) {
            Some(inner) => {
                class.queueing = Some(inner);
                true
            }
            None => self.fill(class, qdisc, above),
        }
    }

    /// The queue that a class has by itself: `pfifo_qdisc_ops`.
    fn usual(&self) -> perhop_qos::buffer::BufferConfig {
        buffers::tail_drop(QueueSize::Packets(self.device.tx_queue_len()))
    }

    /// What is in the class of this number.
    fn fill_class(&mut self, class: &mut ClassConfig, id: u32, above: Above) {
        match self.device.child(id) {
            Some(child) => {
                self.fill_with_any(class, child, above);
            }
            None => class.buffer = Some(self.usual()),
        }
    }

    /// `sch_tbf.c`: a bucket that is full at first, in front of one queue.
    fn tbf(&mut self, class: &mut ClassConfig, qdisc: &Qdisc) -> bool {
        let options = &qdisc.options;
        let Some(rate) = self.rate(qdisc.line, options, "rate") else { return false };
        let burst = options.number("burst").unwrap_or(0);
        let bytes = |time: Time| (rate as f64 / 8.0 * time.as_seconds()) as u64 + burst;
        // `q_tbf.c`: limit = rate × latency + burst.
        let latency = options.time("latency").or_else(|| options.time("lat"));
        let limit = options.number("limit").or_else(|| latency.map(bytes)).unwrap_or(burst);
        if burst < self.device.frame() {
            let frame = self.device.frame();
            let message = format!("a burst of {burst} bytes: frames of up to {frame} bytes are longer");
            let linux = format!("Linux drops every packet longer than the burst: write {frame} or more");
            self.log.found(&rules::TC_LONG_PACKETS_DROPPED, qdisc.line, message, linux);
        }
        self.bandwidth.get_or_insert(Rate::from_bits_per_second(rate));
        class.shape = Some(ShapeConfig {
            rate: Rate::from_bits_per_second(rate),
            burst: ByteSize::from_bytes(burst),
            excess: ByteSize::from_bytes(0),
            form: ShapeForm::Average,
        });
        let device = self.device;
        match device.qdiscs.iter().find(|one| self.is_below(one, qdisc)) {
            Some(child) => {
                self.log.note(qdisc.line, "its limit is that of the discipline inside");
                self.fill_with_any(class, child, Above::Class);
            }
            None => class.buffer = Some(buffers::tail_drop(QueueSize::Bytes(limit.max(1)))),
        }
        true
    }

    /// A rate in bits per second; a part of the device's speed is not known here.
    fn rate(&mut self, line: usize, options: &Options, name: &str) -> Option<u64> {
        match options.value(name)? {
            Value::Rate(bits) if *bits > 0 => Some(*bits),
            Value::Rate(_) => {
                self.log.found(
                    &rules::TC_COMMAND_REFUSED,
                    line,
                    format!("`{name}` is 0"),
                    "Linux refuses the command",
                );
                None
            }
            _ => {
                let why = "a part of the device's speed, which perhop does not know here: write it as a rate";
                self.log.not_modelled(line, format!("`{name}`: {why}"));
                None
            }
        }
    }

    /// The rules of the filters at a discipline, those at inner classes inside them.
    fn rules(&mut self, qdisc: &Qdisc) -> Vec<Rule> {
        let mut found = Vec::new();
        self.rules_at(qdisc, qdisc.handle, None, &mut found, 0);
        if found.len() > MOST_RULES {
            let note = format!("more than {MOST_RULES} filters: the last are not modelled");
            self.log.not_modelled(qdisc.line, note);
            found.truncate(MOST_RULES);
        }
        joined(found)
    }

    fn rules_at(
        &mut self,
        qdisc: &Qdisc,
        parent: u32,
        outer: Option<&Rule>,
        found: &mut Vec<Rule>,
        depth: usize,
    ) {
        for filter in qdisc.filters_at(parent) {
            if filter.chain != 0 {
                continue;
            }
            let line = filter.line();
            if !filter.actions.is_empty() {
                self.log.not_modelled(
                    line,
                    "actions at a class's filter: give them to a filter of clsact egress",
                );
            }
            let target = self.target(qdisc, filter.class.unwrap_or(0), line);
            let Some(rule) = Rule::new(&filter.condition, target) else { continue };
            let rule = match outer {
                Some(outer) => match rule.within(outer) {
                    Some(rule) => rule,
                    None => continue,
                },
                None => rule,
            };
            let id = filter.class.unwrap_or(0);
            let is_inner = qdisc.classes.iter().any(|class| class.parent == Some(id));
            if is_inner && depth < 8 && id != parent {
                self.rules_at(qdisc, id, Some(&rule), found, depth + 1);
                found.push(Rule { target: DEFAULT, ..rule });
            } else {
                found.push(rule);
            }
        }
    }

    /// Where a filter leads.
    fn target(&mut self, qdisc: &Qdisc, id: u32, line: usize) -> u32 {
        let is_band = |most: u64| (1..=most).contains(&u64::from(id & 0xffff));
        let is_there = match qdisc.kind.name {
            "prio" => is_band(qdisc.options.number("bands").unwrap_or(3)),
            "ets" => is_band(16),
            _ => qdisc.class(id).is_some(),
        };
        if is_there {
            return if id >> 16 == 0 { qdisc.handle | id } else { id };
        }
        let message = format!("{} is no class of {}", shown_id(id), shown_id(qdisc.handle));
        self.log.found(
            &rules::TC_FILTER_WITHOUT_CLASS,
            line,
            message,
            "Linux takes the default class, or drops",
        );
        DEFAULT
    }

    /// `sch_prio.c`: bands by filters, else by the priority that the type of service gives.
    fn bands(&mut self, qdisc: &Qdisc) -> QueueingConfig {
        let count = qdisc.options.number("bands").unwrap_or(3).clamp(1, 16) as usize;
        let map = band_map(&qdisc.options, count);
        let usual = map[0];
        let by_service = |band: usize| {
            let is_of = |dscp: &u8| map[priority_of(*dscp)] == band;
            let all: Vec<Dscp> = (0..64_u8).filter(is_of).filter_map(Dscp::new).collect();
            // A router sets the priority of packets of IPv4 alone (`ip_forward`).
            let source = "0.0.0.0/0".parse::<Prefix>().ok().map(OneOrMany::from);
            (!all.is_empty()).then(|| MatchConfig {
                dscp: Some(OneOrMany(all)),
                source,
                ..MatchConfig::default()
            })
        };
        self.tell_of_service(qdisc, &map);
        let id = |band: usize| qdisc.handle | (band as u32 + 1);
        let mut rules: Vec<Rule> = self.rules(qdisc).into_iter().collect();
        for rule in &mut rules {
            if rule.target == DEFAULT {
                rule.target = id(usual);
            }
        }
        let service = (0..count).filter(|band| *band != usual);
        rules.extend(service.filter_map(|band| {
            let matches = by_service(band)?;
            Some(Rule { family: crate::filter::Family::Any, matches, target: id(band) })
        }));
        let rules = joined(rules);
        let order: Vec<u32> = (0..count).filter(|band| *band != usual).chain([usual]).map(id).collect();
        let mut classes = Vec::new();
        for band in (0..count).filter(|band| *band != usual).chain([usual]) {
            let matches = condition_of(&rules, &order, id(band));
            let Some(matches) = matches.or((band == usual).then_some(None)) else { continue };
            let matches = matches.filter(|_| band != usual);
            let share = ShareConfig { level: Some(band as u16), ..ShareConfig::default() };
            let name = shown_id(id(band));
            let mut class = ClassConfig { name, matches, share, ..ClassConfig::default() };
            if qdisc.kind.name == "pfifo_fast" {
                class.buffer = Some(self.usual());
            } else {
                self.fill_class(&mut class, id(band), Above::Device);
            }
            classes.push(class);
        }
        self.levels(&mut classes);
        QueueingConfig { scheduler: SchedulerConfig::Priority, classes, ..QueueingConfig::default() }
    }

    /// Levels without gaps, where a band has no packets.
    fn levels(&self, classes: &mut [ClassConfig]) {
        let mut levels: Vec<u16> = classes.iter().filter_map(|class| class.share.level).collect();
        levels.sort_unstable();
        for class in classes {
            let level = class.share.level.and_then(|level| levels.iter().position(|one| *one == level));
            class.share.level = level.map(|level| level as u16);
        }
    }

    /// Notes where the old meaning of the type of service puts today's codepoints.
    fn tell_of_service(&mut self, qdisc: &Qdisc, map: &[usize; 16]) {
        let band = |dscp: u8| map[priority_of(dscp)];
        // AF12 comes before EF with the map that every discipline begins with.
        if band(12) < band(46) {
            let message = format!(
                "priorities go by the type of service of 1992: AF12 and AF22 get band {}, EF and CS6 band {}, AF11 \
                 band {}",
                band(12),
                band(46),
                band(10)
            );
            let linux = "filters by `dsfield` put codepoints where they belong";
            self.log.found(&rules::TC_PRIORITY_BY_TOS, qdisc.line, message, linux);
        }
    }

    /// `sch_ets.c`: the first bands in strict priority, the others in turns below.
    fn ets(&mut self, qdisc: &Qdisc) -> Option<QueueingConfig> {
        let options = &qdisc.options;
        let numbers = |name: &str| match options.value(name) {
            Some(Value::Numbers(numbers)) => numbers.clone(),
            _ => Vec::new(),
        };
        let quanta = numbers("quanta");
        let strict = options.number("strict").unwrap_or(0) as usize;
        let count = (options.number("bands").unwrap_or(0) as usize).max(strict + quanta.len()).clamp(1, 16);
        let map = numbers("priomap");
        let band_of =
            |priority: usize| map.get(priority).map_or(count - 1, |band| (*band as usize).min(count - 1));
        let id = |band: usize| qdisc.handle | (band as u32 + 1);
        let usual = band_of(0);
        let mut rules = self.rules(qdisc);
        for rule in &mut rules {
            if rule.target == DEFAULT {
                rule.target = id(usual);
            }
        }
        for band in (0..count).filter(|band| *band != usual) {
            let all: Vec<Dscp> =
                (0..64_u8).filter(|dscp| band_of(priority_of(*dscp)) == band).filter_map(Dscp::new).collect();
            if !all.is_empty() {
                let source = "0.0.0.0/0".parse::<Prefix>().ok().map(OneOrMany::from);
                let matches = MatchConfig { dscp: Some(OneOrMany(all)), source, ..MatchConfig::default() };
                rules.push(Rule { family: crate::filter::Family::Any, matches, target: id(band) });
            }
        }
        let rules = joined(rules);
        let is_strict = |band: usize| band < strict;
        // Within each part the band of all other packets comes last, and the part that holds it as well.
        let mut bands: Vec<usize> = (0..count).collect();
        bands.sort_by_key(|band| (is_strict(*band) == is_strict(usual), *band == usual, *band));
        let order: Vec<u32> = bands.iter().map(|band| id(*band)).collect();
        let (mut outer, mut turns) = (Vec::new(), Vec::new());
        for band in bands {
            let found = condition_of(&rules, &order, id(band)).or((band == usual).then_some(None));
            let Some(matches) = found else { continue };
            let name = shown_id(id(band));
            let matches = matches.filter(|_| band != usual);
            let mut class = ClassConfig { name, matches, ..ClassConfig::default() };
            self.fill_class(&mut class, id(band), if is_strict(band) { Above::Device } else { Above::Class });
            if is_strict(band) {
                class.share.level = Some(band as u16);
                outer.push(class);
            } else {
                let quantum = quanta.get(band - strict).copied().unwrap_or_else(|| self.device.frame());
                class.share.quantum = Some(ByteSize::from_bytes(quantum));
                turns.push(class);
            }
        }
        if !turns.is_empty() {
            let is_all = turns.iter().any(|class| class.matches.is_none());
            let matches =
                if is_all { None } else { any(turns.iter().filter_map(|one| one.matches.clone()).collect()) };
            let share = ShareConfig { level: Some(strict as u16), ..ShareConfig::default() };
            let inner = QueueingConfig {
                scheduler: SchedulerConfig::Drr,
                classes: turns,
                ..QueueingConfig::default()
            };
            let name = "turns".to_owned();
            let class = ClassConfig { name, matches, share, queueing: Some(inner), ..ClassConfig::default() };
            let at = if is_all { outer.len() } else { 0 };
            outer.insert(at, class);
        }
        self.levels(&mut outer);
        Some(QueueingConfig {
            scheduler: SchedulerConfig::Priority,
            classes: outer,
            ..QueueingConfig::default()
        })
    }

    /// Classes that filters lead to, in a tree.
    fn tree(&mut self, qdisc: &Qdisc, scheduler: SchedulerConfig) -> Option<QueueingConfig> {
        let default = qdisc.options.number("default").filter(|minor| *minor > 0);
        let default = default.map(|minor| qdisc.handle | minor as u32).filter(|id| self.is_leaf(qdisc, *id));
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
        let mut first: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            first.entry(rule.target).or_insert(index);
        }
        if let Some(default) = default {
            first.insert(default, usize::MAX - 1);
        }
        let mut order = Vec::new();
        self.ordered(qdisc, None, &first, &mut order, 0);
        let plan = Plan { qdisc, scheduler, rules: &rules, order: &order, first: &first, default };
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

    fn is_leaf(&self, qdisc: &Qdisc, id: u32) -> bool {
        qdisc.class(id).is_some() && !qdisc.classes.iter().any(|class| class.parent == Some(id))
    }

    fn tell_of_the_unclassified(&mut self, qdisc: &Qdisc, rules: &[Rule]) {
        if rules.last().is_some_and(|rule| rule.condition().is_none()) {
            return;
        }
        let message = format!("{}: packets that no filter takes have no class", qdisc.kind.name);
        let linux = "Linux drops them, ARP and neighbor discovery among them; so does perhop";
        self.log.found(&rules::TC_UNCLASSIFIED_DROPPED, qdisc.line, message, linux);
    }

    /// Where the first rule stands that leads into a class; `None` where none does.
    fn first_in(
        &self,
        qdisc: &Qdisc,
        class: &Class,
        first: &BTreeMap<u32, usize>,
        depth: usize,
    ) -> Option<usize> {
        let own = first.get(&class.id).copied();
        let inner = qdisc.classes.iter().filter(|one| one.parent == Some(class.id) && depth < MOST_LEVELS);
        let inner = inner.filter_map(|one| self.first_in(qdisc, one, first, depth + 1));
        // The default class is asked last, and so is what it stands in.
        let all: Vec<usize> = own.into_iter().chain(inner).collect();
        let last = all.iter().max().copied().filter(|place| *place == usize::MAX - 1);
        last.or_else(|| all.into_iter().min())
    }

    /// The classes inside `parent` in the order in which they are asked.
    fn children<'b>(
        &self,
        qdisc: &'b Qdisc,
        parent: Option<u32>,
        first: &BTreeMap<u32, usize>,
        depth: usize,
    ) -> Vec<&'b Class> {
        let mut found: Vec<(usize, &Class)> = qdisc
            .classes
            .iter()
            .filter(|class| class.parent == parent)
            .filter_map(|class| Some((self.first_in(qdisc, class, first, depth)?, class)))
            .collect();
        found.sort_by_key(|(place, class)| (*place, class.id));
        found.into_iter().map(|(_, class)| class).collect()
    }

    /// The leaves in the order in which they are asked.
    fn ordered(
        &self,
        qdisc: &Qdisc,
        parent: Option<u32>,
        first: &BTreeMap<u32, usize>,
        order: &mut Vec<u32>,
        depth: usize,
    ) {
        if depth > MOST_LEVELS {
            return;
        }
        for class in self.children(qdisc, parent, first, depth) {
            if self.is_leaf(qdisc, class.id) {
                order.push(class.id);
            } else {
                self.ordered(qdisc, Some(class.id), first, order, depth + 1);
            }
        }
    }

    fn level(&mut self, plan: &Plan, parent: Option<u32>, depth: usize) -> Vec<ClassConfig> {
        let mut found = Vec::new();
        if depth > MOST_LEVELS {
            return found;
        }
        for class in plan.qdisc.classes.iter().filter(|class| class.parent == parent) {
            if self.first_in(plan.qdisc, class, plan.first, depth).is_none() {
                self.log.note(class.line, "no filter leads here: it has no packets");
            }
        }
        for class in self.children(plan.qdisc, parent, plan.first, depth) {
            let name = shown_id(class.id);
            let mut made = ClassConfig { name, ..ClassConfig::default() };
            let is_leaf = self.is_leaf(plan.qdisc, class.id);
            if is_leaf {
                let condition = condition_of(plan.rules, plan.order, class.id);
                made.matches = condition.flatten().filter(|_| plan.default != Some(class.id));
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

    /// What a class asks of its scheduler.
    fn share(&mut self, scheduler: SchedulerConfig, class: &Class, is_leaf: bool) -> ShareConfig {
        match scheduler {
            SchedulerConfig::Drr => {
                let quantum = class.options.number("quantum").unwrap_or_else(|| self.device.frame());
                ShareConfig { quantum: Some(ByteSize::from_bytes(quantum.max(1))), ..ShareConfig::default() }
            }
            SchedulerConfig::Htb => self.buckets(class, is_leaf),
            _ => self.curves(class, is_leaf),
        }
    }

    /// `q_htb.c:htb_parse_class_opt` and `htb_change_class`.
    fn buckets(&mut self, class: &Class, is_leaf: bool) -> ShareConfig {
        let options = &class.options;
        let rate = self.rate(class.line, options, "rate");
        let ceil = self.rate(class.line, options, "ceil").or(rate);
        if class.parent.is_none() {
            self.bandwidth = self.bandwidth.max(ceil.map(Rate::from_bits_per_second));
        }
        // tc: what a rate sends in a nanosecond, its tick, and a packet of `mtu` bytes.
        let mtu = options.number("mtu");
        let by_mtu = |rate: Option<u64>| Some(mtu? + rate? / 8 / 1_000_000_000);
        let bytes =
            |name: &str, rate| options.number(name).or_else(|| by_mtu(rate)).map(ByteSize::from_bytes);
        let of_leaf = |name: &str| options.number(name).filter(|number| is_leaf && *number > 0);
        if !is_leaf && (options.has("prio") || options.has("quantum")) {
            self.log.note(class.line, "prio and quantum of a class with classes inside are irrelevant");
        }
        ShareConfig {
            rate: rate.map(Rate::from_bits_per_second),
            ceil: ceil.filter(|_| options.has("ceil")).map(Rate::from_bits_per_second),
            burst: bytes("burst", rate),
            ceil_burst: bytes("cburst", ceil),
            // `htb_change_class`: TC_HTB_NUMPRIO - 1.
            level: of_leaf("prio").map(|level| level.min(7) as u16),
            quantum: of_leaf("quantum").map(ByteSize::from_bytes),
            link_layer: self.link_layer(class),
            ..ShareConfig::default()
        }
    }

    fn link_layer(&mut self, class: &Class) -> Option<LinkLayerConfig> {
        let small = |name: &str| class.options.number(name).unwrap_or(0).min(65_535) as u16;
        let cells = match class.options.value("linklayer") {
            Some(Value::Word(word)) if matches!(word.as_str(), "atm" | "adsl") => Cells::Atm,
            Some(Value::Word(word)) if word != "ethernet" => {
                self.log
                    .not_modelled(class.line, format!("`linklayer {word}`: ethernet and atm are modelled"));
                Cells::None
            }
            _ => Cells::None,
        };
        let found = LinkLayerConfig { overhead: small("overhead"), minimum_packet_unit: small("mpu"), cells };
        (found != LinkLayerConfig::default()).then_some(found)
    }

    fn curves(&mut self, class: &Class, is_leaf: bool) -> ShareConfig {
        let curve = |name: &str| match class.options.value(name) {
            Some(Value::Curve(curve)) => Some(service_curve(*curve)),
            _ => None,
        };
        let both = curve("sc");
        let real_time = curve("rt").or(both);
        if real_time.is_some() && !is_leaf {
            self.log.note(
                class.line,
                "rt of a class with classes inside is irrelevant: only queues have deadlines",
            );
        }
        let link_share = curve("ls").or(both);
        let upper_limit = curve("ul");
        if let Some(limit) = upper_limit.filter(|_| class.parent.is_none()) {
            self.bandwidth.get_or_insert(limit.m2);
        }
        if upper_limit.is_some() && link_share.is_none() {
            self.log.note(class.line, "ul without ls limits nothing");
        }
        ShareConfig {
            real_time: real_time.filter(|_| is_leaf),
            link_share,
            upper_limit: upper_limit.filter(|_| link_share.is_some()),
            ..ShareConfig::default()
        }
    }
}

/// Classes inside classes (`TC_HTB_MAXDEPTH` is 8; hfsc has no limit, perhop 32).
const MOST_LEVELS: usize = 30;

/// What the classes of one tree are made from.
struct Plan<'a> {
    qdisc: &'a Qdisc,
    scheduler: SchedulerConfig,
    rules: &'a [Rule],
    order: &'a [u32],
    first: &'a BTreeMap<u32, usize>,
    default: Option<u32>,
}

fn service_curve(curve: Curve) -> ServiceCurveConfig {
    let has_first = curve.lasts > Time::ZERO;
    ServiceCurveConfig {
        m1: has_first.then(|| Rate::from_bits_per_second(curve.first)),
        d: has_first.then_some(curve.lasts),
        m2: Rate::from_bits_per_second(curve.then),
    }
}

/// The band of each priority: `prio2band`, or what the options say.
fn band_map(options: &Options, count: usize) -> [usize; 16] {
    let mut map = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    if let Some(Value::Numbers(numbers)) = options.value("priomap") {
        for (band, number) in map.iter_mut().zip(numbers) {
            *band = *number as usize;
        }
    }
    map.map(|band: usize| band.min(count - 1))
}

/// The priority of a packet of IPv4 that a router sends on: `rt_tos2priority`, which looks at the lowest
/// three bits of today's codepoint (`net/ipv4/route.c:ip_tos2prio`).
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
