//! `show interfaces extensive`, the part about class of service: the packets of each queue, and its bandwidth
//! and buffer.

use std::collections::BTreeMap;

use perhop_device::show::{CountedPort, ShownPort};
use perhop_qos::Rate;
use serde_json::{Value, json};

use super::applied::Applied;
use super::printing::{QUEUES, queues_of};
use super::scheduler_maps::{limit_word, priority_word};
use crate::cos::{Amount, Buffer, Limit, Priority};

/// The word for the part of a rate or buffer that the other queues leave (recalled).
const REMAINDER: &str = "r";

/// Returns the output for each interface. The counters of units with separate queues are added up.
pub(super) fn interfaces(applied: &Applied, ports: &[&CountedPort]) -> Vec<ShownPort> {
    let mut names: Vec<&str> = ports.iter().map(|port| port.port.interface.as_str()).collect();
    names.dedup();
    let of_name = |name: &&str| {
        let own: Vec<&CountedPort> =
            ports.iter().filter(|port| port.port.interface == *name).copied().collect();
        interface(applied, name, &own)
    };
    names.iter().map(of_name).collect()
}

/// Returns the slot of an interface such as `ge-1/0/2`; 0 for an interface without a slot.
fn slot(name: &str) -> u8 {
    let slot = name.split_once('-').and_then(|(_, place)| place.split('/').next());
    slot.and_then(|slot| slot.parse().ok()).unwrap_or(0)
}

/// The packets of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Packets {
    queued: u64,
    sent: u64,
    dropped: u64,
}

fn interface(applied: &Applied, name: &str, ports: &[&CountedPort]) -> ShownPort {
    let mut packets: BTreeMap<u8, Packets> = BTreeMap::new();
    for queue in ports.iter().flat_map(|port| queues_of(applied, port)) {
        let row = packets.entry(queue.number).or_default();
        row.queued += queue.queued.packets;
        row.sent += queue.sent.packets;
        row.dropped += queue.dropped().packets;
    }
    let is_down = ports.iter().all(|port| port.port.shutdown);
    let (state, link) =
        if is_down { ("Administratively down", "Down") } else { (applied.layout.enabled, "Up") };
    let mut lines = vec![
        format!("Physical interface: {name}, {state}, Physical link is {link}"),
        "  Interface index: 0, SNMP ifIndex: 0, Generation: 0".to_owned(),
    ];
    let described = applied.interface(name).and_then(|known| known.description.as_ref());
    lines.extend(described.map(|text| format!("  Description: {text}")));
    lines.push(format!("  CoS queues     : {QUEUES} supported, {QUEUES} maximum usable queues"));
    lines.push(format!("  Egress queues: {QUEUES} supported, {} in use", packets.len()));
    lines.push("  Queue counters:       Queued packets  Transmitted packets      Dropped packets".to_owned());
    for (number, Packets { queued, sent, dropped }) in &packets {
        lines.push(format!("    {number}{queued:>33}{sent:>21}{dropped:>21}"));
    }
    lines.push("  Queue number:         Mapped forwarding classes".to_owned());
    for number in packets.keys() {
        lines.push(format!("    {number:<20}{}", applied.classes_of(*number).join(", ")));
    }
    let rate = ports.iter().find_map(|port| port.port.bandwidth);
    let rows = rows(applied, name, rate);
    let slot = slot(name);
    lines.extend([
        "  Packet Forwarding Engine configuration:".to_owned(),
        format!("    Destination slot: {slot} (0x{slot:02x})"),
        "  CoS information:".to_owned(),
        "    Direction : Output".to_owned(),
        "    CoS transmit queue               Bandwidth               Buffer Priority   Limit".to_owned(),
        "                              %            bps     %           usec".to_owned(),
    ]);
    lines.extend(rows.iter().map(Row::line));
    let queues: Vec<Value> = packets
        .iter()
        .map(|(number, own)| {
            json!({
                "queue": number,
                "classes": applied.classes_of(*number),
                "queued_packets": own.queued,
                "transmitted_packets": own.sent,
                "dropped_packets": own.dropped,
            })
        })
        .collect();
    let cos: Vec<Value> = rows.iter().map(Row::document).collect();
    let document = json!({"name": name, "queues": queues, "cos": cos});
    ShownPort { text: lines.join("\n") + "\n", document }
}

/// A row of the scheduler map of a port.
struct Row {
    queue: u8,
    class: String,
    /// The rate, percent and bits per second; `None` for a part of the remainder.
    bandwidth: Option<(u64, u64)>,
    /// The buffer, percent and microseconds; `None` for a part of the remainder.
    buffer: Option<(u64, u64)>,
    priority: &'static str,
    limit: &'static str,
}

impl Row {
    fn line(&self) -> String {
        let Row { queue, class, priority, limit, .. } = self;
        let words = |pair: Option<(u64, u64)>| match pair {
            Some((first, second)) => (first.to_string(), second.to_string()),
            None => (REMAINDER.to_owned(), REMAINDER.to_owned()),
        };
        let (percent, bits) = words(self.bandwidth);
        let (part, microseconds) = match self.buffer {
            Some((part, microseconds)) => (part.to_string(), microseconds.to_string()),
            None => (REMAINDER.to_owned(), "0".to_owned()),
        };
        format!(
            "    {queue} {class:<21} {percent:>3}{bits:>15}{part:>6}{microseconds:>15} {priority:>8} {limit:>7}"
        )
    }

    fn document(&self) -> Value {
        json!({
            "queue": self.queue,
            "class": self.class,
            "bandwidth_percent": self.bandwidth.map(|(percent, _)| percent),
            "bandwidth_bps": self.bandwidth.map(|(_, bits)| bits),
            "buffer_percent": self.buffer.map(|(percent, _)| percent),
            "buffer_us": self.buffer.map(|(_, microseconds)| microseconds),
            "priority": self.priority,
            "limit": self.limit,
        })
    }
}

/// Returns the rows of the scheduler map of an interface, or of the default map.
fn rows(applied: &Applied, name: &str, rate: Option<Rate>) -> Vec<Row> {
    let attached = applied.cos.attachments.applied(name, None);
    let schedulers = &applied.cos.schedulers;
    let bits = rate.map_or(0, Rate::as_bits_per_second);
    let part = |percent: u8| (u64::from(percent), (u128::from(bits) * u128::from(percent) / 100) as u64);
    let Some(map) = attached.scheduler_map.and_then(|map| schedulers.maps.get(&map.value)) else {
        let default = applied.cos.classes.family().rules().default_percents.iter();
        let row = |(queue, percent): &(u8, u8)| Row {
            queue: *queue,
            class: applied.classes_of(*queue).first().map_or("", |class| class).to_owned(),
            bandwidth: Some(part(*percent)),
            buffer: Some((u64::from(*percent), 0)),
            priority: priority_word(Priority::Low),
            limit: limit_word(Limit::None),
        };
        return default.map(row).collect();
    };
    let mut found = Vec::new();
    for (class, scheduler, _) in &map.entries {
        let classes = &applied.cos.classes;
        let known = classes.label(class).and_then(|label| classes.at(label));
        let (Some(known), Some(scheduler)) = (known, schedulers.schedulers.get(scheduler)) else { continue };
        let transmit = scheduler.transmit.map(|at| at.value);
        let bandwidth = match transmit.map_or(Amount::Remainder, |own| own.amount) {
            Amount::Percent(percent) => Some(part(percent)),
            Amount::Rate(own) => Some((100 * own / bits.max(1), own)),
            Amount::Remainder => None,
        };
        let buffer = match scheduler.buffer.map(|at| at.value) {
            Some(Buffer::Percent(percent)) => Some((u64::from(percent), 0)),
            Some(Buffer::Temporal(microseconds)) => Some((0, microseconds)),
            Some(Buffer::Remainder) => None,
            // The default buffer of a queue is the share of its transmit rate.
            None => bandwidth.map(|(percent, _)| (percent, 0)),
        };
        found.push(Row {
            queue: known.queue,
            class: class.clone(),
            bandwidth,
            buffer,
            priority: priority_word(scheduler.priority.map(|at| at.value).unwrap_or_default()),
            limit: limit_word(transmit.map(|own| own.limit).unwrap_or_default()),
        });
    }
    found.sort_by_key(|row| row.queue);
    found
}
