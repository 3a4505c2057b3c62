//! [`bursts`]: sends a burst of frames into each class, one class after the other, instead of a load.

use std::collections::BTreeSet;

use perhop_qos::Rate;
use serde_json::json;

use crate::burst::{Microburst, PREAMBLE_AND_GAP_BYTES};
use crate::failure::Failure;
use crate::given::hit_for_class;
use crate::network::Network;
use crate::role::Kind;
use crate::sources::Sending;
use crate::targets::{Hit, Miss};
use crate::traffic::{Flow, Traffic, entry, suited, unlike};
use crate::words::{counted, nanoseconds, rate_in_words, similar};

/// Header and check sequence of an Ethernet frame, bytes (IEEE 802.3, 3.1.1).
const HEADER: u32 = 18;
/// The pause between the end of a backlog and the next burst, seconds. It covers the delays of links and
/// replies.
const PAUSE: f64 = 2e-3;
/// The assumed minimum rate of a queue, as a fraction of the line rate.
const SLOWEST: f64 = 0.01;

/// Returns the source of each sender.
fn sending(burst: &Microburst) -> Sending {
    let ip = burst.frame_bytes.saturating_sub(HEADER).max(1);
    let rate = (f64::from(ip) * 8.0 / burst.interval()).floor();
    let packet = json!({"ip": format!("{ip}B")});
    let words = format!(
        "burst of {} of {} bytes from {}",
        counted(burst.frames(), "frame"),
        burst.frame_bytes,
        counted(burst.senders.into(), "sender")
    );
    let source = json!({"cbr": {"rate": format!("{rate}b/s"), "packet": packet}});
    Sending { source, count: burst.senders, words }
}

/// Returns a burst into each class that headers reach, one after the other.
///
/// # Errors
/// The class does not exist, no header reaches it, or the leaving interface has another rate.
pub(crate) fn bursts(
    network: &Network,
    burst: &Microburst,
    hits: &[Hit],
    misses: &[Miss],
) -> Result<Traffic, Failure> {
    check_line(network, burst)?;
    let names = wanted_names(network, burst)?;
    let (mut flows, mut remarks) = (Vec::new(), Vec::new());
    let (mut taken, mut now) = (BTreeSet::new(), 0.0);
    for name in names {
        let Some(hit) = hit_for_class(network, hits, name) else {
            let miss = misses.iter().find(|miss| miss.target.name == *name);
            remarks.push(miss.map_or_else(
                || format!("class `{name}`: no packet that perhop tried reaches it"),
                Miss::to_string,
            ));
            continue;
        };
        if suited(Kind::Constant, &hit.header, false) != Kind::Constant {
            remarks.push(format!("class `{name}` matches only TCP, but a burst consists of UDP datagrams"));
            continue;
        }
        if hit.header.destination.is_some() && !burst.also.is_empty() {
            remarks.push(format!(
                "class `{name}` matches destinations, so its bursts to other interfaces may belong to \
                 another class"
            ));
        }
        flows.push(flow(burst, name, hit, now, network, &mut taken));
        now += burst.frames() as f64 * burst.interval() + emptied_in(network, burst, hit) + PAUSE;
    }
    if flows.is_empty() {
        return Err(Failure::invalid(
            format!("no class of {} gets a burst: {}", network.leaving.name, remarks.join("; ")),
            "give rates by class: --traffic FILE",
        ));
    }
    if flows.len() > 1 {
        remarks.push(
            "the classes get their bursts one after the other, so the other queues are empty during a burst"
                .to_owned(),
        );
    }
    Ok(Traffic { flows, remarks, milliseconds: Some((now * 1e3).ceil() + 10.0) })
}

/// Returns the network with an entrance that is as fast as the senders together.
pub(crate) fn with_entrance<'a>(mut network: Network<'a>, burst: &Microburst) -> Network<'a> {
    let arrival = burst.whole_arrival_bps();
    if arrival > network.entering.bits_per_second() {
        network.entering.rate = Rate::from_bits_per_second(arrival.ceil() as u64);
        let name = network.entering.port.map_or("the added interface", |port| &port.name);
        let rate = rate_in_words(arrival);
        network.assumed.push(format!(
            "packets enter {name} at {rate}, more than its rate, as if they came from several interfaces"
        ));
    }
    network
}

fn check_line(network: &Network, burst: &Microburst) -> Result<(), Failure> {
    let (own, name) = (network.leaving.rate, &network.leaving.name);
    if let Some(line) = burst.line.filter(|line| *line != own) {
        return Err(Failure::invalid(
            format!("{name} sends at {own}, not at {line}"),
            "name the interface with --interface, or write the rate of its line",
        ));
    }
    Ok(())
}

/// Returns the names of the classes that get a burst.
fn wanted_names<'n>(network: &'n Network, burst: &Microburst) -> Result<Vec<&'n String>, Failure> {
    let mut names: Vec<&String> = Vec::new();
    for name in &network.names {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let Some(class) = &burst.class else { return Ok(names) };
    if let Some(name) = names.iter().find(|name| **name == class) {
        return Ok(vec![name]);
    }
    let near = similar(class, names.iter().map(|name| name.as_str()), 1);
    let listed: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let help = near
        .first()
        .map_or_else(|| format!("classes: {}", listed.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(Failure::invalid(format!("{} has no queue of class `{class}`", network.leaving.name), help))
}

/// Returns the time in which the line sends all frames of a burst, seconds.
fn emptied_in(network: &Network, burst: &Microburst, hit: &Hit) -> f64 {
    let line = network.leaving.bits_per_second();
    let limit = hit.leaf(network).and_then(|leaf| leaf.limit).filter(|limit| *limit > 0.0);
    let rate = limit.map_or(line, |limit| limit.min(line)).max(SLOWEST * line);
    let frames = burst.frames() as f64 * f64::from(burst.senders);
    frames * f64::from(burst.frame_bytes + PREAMBLE_AND_GAP_BYTES) * 8.0 / rate
}

/// Returns the burst of a class, which begins at `start` seconds.
fn flow(
    burst: &Microburst,
    name: &str,
    hit: &Hit,
    start: f64,
    network: &Network,
    taken: &mut BTreeSet<String>,
) -> Flow {
    let sent = sending(burst);
    let own = unlike(name, taken);
    taken.insert(own.clone());
    let mut made = entry(&own, &hit.header, hit.role, &sent);
    // A burst is judged by its losses, and not as a call or a video.
    made.remove("role");
    made.remove("start-within");
    // The burst ends half an interval after its last frame, so the source sends no further frame.
    let stop = start + (burst.frames() as f64 - 0.5) * burst.interval();
    made.insert("start".to_owned(), json!(nanoseconds(start)));
    made.insert("stop".to_owned(), json!(nanoseconds(stop)));
    if own != name {
        made.insert("class".to_owned(), json!(name));
    }
    Flow {
        header: hit.header.clone(),
        entry: made,
        queue: hit.leaf(network).map(|leaf| leaf.path.clone()),
        offered: [format!("at {}", rate_in_words(burst.arrival_bps())), sent.words],
        rate: burst.arrival_bps(),
    }
}
