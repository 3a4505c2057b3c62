//! `show class-of-service scheduler-map`.

use perhop_device::show::ShownObject;
use serde_json::{Value, json};

use super::applied::Applied;
use super::tables::DEFAULT_PROFILE;
use crate::cos::{Amount, Buffer, ExcessPriority, Limit, LossPriority, Priority, Scheduler, SchedulerMap};

/// The name of the map of ports without a configured map.
const DEFAULT: &str = "<default>";
const LOSS_PRIORITIES: [&str; 4] = ["Low", "Medium low", "Medium high", "High"];

/// Returns the output for each map, or for the map `name`.
pub(super) fn scheduler_maps(applied: &Applied, name: Option<&str>) -> Vec<ShownObject> {
    let default = default_map(applied);
    let own = applied.cos.schedulers.maps.iter().map(|(name, known)| map(applied, name, known));
    let is_meant = |object: &ShownObject| name.is_none_or(|name| object.name == name);
    [default].into_iter().chain(own).filter(is_meant).collect()
}

/// The printed words for a scheduler.
struct Words {
    scheduler: String,
    class: String,
    index: u32,
    transmit: String,
    limit: &'static str,
    buffer: String,
    buffer_limit: &'static str,
    priority: &'static str,
    excess: &'static str,
    shaping: Option<String>,
    /// The drop profile of each loss priority.
    profiles: [String; 4],
}

fn map(applied: &Applied, name: &str, map: &SchedulerMap) -> ShownObject {
    let schedulers = &applied.cos.schedulers.schedulers;
    let label = |class: &str| applied.cos.classes.label(class);
    let mut entries: Vec<(&str, &str)> =
        map.entries.iter().map(|(class, scheduler, _)| (class.as_str(), scheduler.as_str())).collect();
    entries.sort_by_key(|(class, _)| label(class));
    let known = entries.into_iter().filter_map(|(class, name)| Some((class, name, schedulers.get(name)?)));
    let all: Vec<Words> = known.map(|(class, name, scheduler)| words(class, name, scheduler)).collect();
    shown(applied, (name, 0), &all)
}

/// Returns the map of ports without a configured map (Junos CoS User Guide, "Default Schedulers"; an EX2200
/// prints the excess priority low; the names of the schedulers are recalled).
fn default_map(applied: &Applied) -> ShownObject {
    let classes = &applied.cos.classes;
    let rules = classes.family().rules();
    let scheduler = |(queue, percent): &(u8, u8)| {
        let class = classes.of_queue(*queue).first().map(|(_, class)| class.name.clone())?;
        let built_in = rules.classes.iter().find(|(_, known)| known == queue).map_or("", |(name, _)| *name);
        let (name, index) = match built_in {
            "best-effort" => ("<default-be>".to_owned(), 21),
            "network-control" => ("<default-nc>".to_owned(), 23),
            other => (format!("<default-{other}>"), 0),
        };
        let part = format!("{percent} percent");
        Some(Words {
            scheduler: name,
            class,
            index: applied.layout.index(index),
            transmit: part.clone(),
            limit: "none",
            buffer: part,
            buffer_limit: "none",
            priority: "low",
            excess: "low",
            shaping: None,
            profiles: std::array::from_fn(|_| DEFAULT_PROFILE.to_owned()),
        })
    };
    let all: Vec<Words> = rules.default_percents.iter().filter_map(scheduler).collect();
    shown(applied, (DEFAULT, applied.layout.index(2)), &all)
}

fn words(class: &str, name: &str, scheduler: &Scheduler) -> Words {
    let transmit = scheduler.transmit.map(|at| at.value);
    let buffer = scheduler.buffer.map(|at| at.value);
    let mut profiles: [String; 4] = std::array::from_fn(|_| DEFAULT_PROFILE.to_owned());
    for map in &scheduler.drops {
        map.losses.iter().for_each(|loss| profiles[*loss as usize].clone_from(&map.profile));
    }
    Words {
        scheduler: name.to_owned(),
        class: class.to_owned(),
        index: 0,
        transmit: transmit.map_or_else(unspecified, |own| amount(own.amount)),
        limit: limit_word(transmit.map(|own| own.limit).unwrap_or_default()),
        buffer: match buffer {
            None => unspecified(),
            Some(Buffer::Percent(percent)) => format!("{percent} percent"),
            Some(Buffer::Temporal(microseconds)) => format!("{microseconds} us"),
            Some(Buffer::Remainder) => "remainder".to_owned(),
        },
        // `show class-of-service scheduler-map` of a device with `buffer-size temporal 5k`.
        buffer_limit: if matches!(buffer, Some(Buffer::Temporal(_))) { "exact" } else { "none" },
        priority: priority_word(scheduler.priority.map(|at| at.value).unwrap_or_default()),
        excess: match scheduler.excess_priority.map(|at| at.value) {
            None => "unspecified",
            Some(ExcessPriority::High) => "high",
            Some(ExcessPriority::Low) => "low",
            Some(ExcessPriority::None) => "none",
        },
        shaping: scheduler.shaping.map(|at| amount(at.value)),
        profiles,
    }
}

fn unspecified() -> String {
    "unspecified".to_owned()
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Rate(bits) => format!("{bits} bps"),
        Amount::Percent(percent) => format!("{percent} percent"),
        Amount::Remainder => "remainder".to_owned(),
    }
}

/// Returns the printed limit of a transmit rate.
pub(super) fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::None => "none",
        Limit::Exact => "exact",
        Limit::Policed => "rate-limit",
    }
}

/// Returns the printed priority.
pub(super) fn priority_word(priority: Priority) -> &'static str {
    match priority {
        Priority::LowLatency => "low-latency",
        Priority::StrictHigh => "strict-high",
        Priority::High => "high",
        Priority::MediumHigh => "medium-high",
        Priority::MediumLow => "medium-low",
        Priority::LowHigh => "low-high",
        Priority::LowMedium => "low-medium",
        Priority::Low => "low",
    }
}

fn shown(applied: &Applied, (name, index): (&str, u32), all: &[Words]) -> ShownObject {
    let mut lines = vec![format!("Scheduler map: {name}, Index: {index}")];
    for own in all {
        lines.push(String::new());
        own.print(applied, &mut lines);
    }
    let schedulers: Vec<Value> = all.iter().map(Words::document).collect();
    let document = json!({"name": name, "index": index, "schedulers": schedulers});
    ShownObject { name: name.to_owned(), text: lines.join("\n") + "\n\n", document }
}

impl Words {
    fn print(&self, applied: &Applied, lines: &mut Vec<String>) {
        let Words { scheduler, class, index, transmit, limit, buffer, buffer_limit, priority, .. } = self;
        lines.push(format!("  Scheduler: {scheduler}, Forwarding class: {class}, Index: {index}"));
        lines.push(format!(
            "    Transmit rate: {transmit}, Rate Limit: {limit}, Buffer size: {buffer}, Buffer Limit: \
             {buffer_limit}, Priority: {priority}"
        ));
        lines.push(format!("    Excess Priority: {}", self.excess));
        lines.extend(self.shaping.as_ref().map(|rate| format!("    Shaping rate: {rate}")));
        lines.push("    Drop profiles:".to_owned());
        lines.push("      Loss priority   Protocol    Index    Name".to_owned());
        for (loss, profile) in LOSS_PRIORITIES.iter().zip(&self.profiles) {
            let is_default = profile == DEFAULT_PROFILE;
            let index = if is_default { applied.layout.index(1) } else { 0 };
            lines.push(format!("      {loss:<16}{:<9}{index:>8}    {profile}", "any"));
        }
    }

    fn document(&self) -> Value {
        let profiles: Vec<Value> = LossPriority::ALL
            .iter()
            .zip(&self.profiles)
            .map(|(loss, profile)| json!({"loss_priority": loss.name(), "drop_profile": profile}))
            .collect();
        json!({
            "name": self.scheduler,
            "forwarding_class": self.class,
            "transmit_rate": self.transmit,
            "rate_limit": self.limit,
            "buffer_size": self.buffer,
            "buffer_limit": self.buffer_limit,
            "priority": self.priority,
            "excess_priority": self.excess,
            "shaping_rate": self.shaping,
            "drop_profiles": profiles,
        })
    }
}
