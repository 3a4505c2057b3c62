//! [`infer_network`]: a scenario of a whole network, with traffic between its sites.

mod access;
mod class_flow;
mod demand;
mod fair;
mod found;
mod site_flow;

use std::collections::BTreeSet;

use perhop_device::FrontEnds;
use perhop_network::snapshot::{AMPLE, Journey, Plan, PlannedStop, Site, Snapshot};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::document::ample_queueing;
use crate::failure::Failure;
use crate::level::LoadLevel;
use crate::words::{rate_in_words, time};
pub use demand::Demand;
pub use found::LeftOutTraffic;
use found::{Found, left_out};
use site_flow::{Routed, Walked};

/// The number of packets over links in one replication. With this number, a run takes seconds.
const PACKET_HOPS: f64 = 300_000.0;
/// The minimum simulated time, milliseconds.
const SHORTEST: f64 = 100.0;
/// The maximum simulated time, milliseconds.
const LONGEST: f64 = 60_000.0;
/// The warm-up, as a fraction of the run.
const WARMUP: f64 = 0.2;
/// The number of samples of each queue in a run.
const SAMPLES: f64 = 200.0;
/// The maximum number of samples of all queues together.
const ALL_SAMPLES: f64 = 20_000.0;
/// IP bytes of a TCP segment.
const SEGMENT: f64 = 1500.0;
/// Packets over links per TCP segment, including acknowledgments.
const WITH_REPLIES: f64 = 1.5;

/// The user's choices about the traffic of a network.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkRequest {
    /// The title of the scenario.
    pub name: String,
    /// The load of access links if no demands are given.
    pub load: LoadLevel,
    /// Traffic in place of a guess.
    pub demands: Option<Vec<Demand>>,
}

/// A scenario of a network.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkInferred {
    /// The keys of a scenario file.
    pub scenario: Value,
    /// The load in a sentence.
    pub load: String,
    /// The traffic that is run.
    pub pairs: Vec<PairTraffic>,
    /// The omitted traffic.
    pub left_out: Vec<LeftOutTraffic>,
    /// Classes and ports without traffic.
    pub missing: BTreeSet<String>,
    /// Assumptions.
    pub assumed: BTreeSet<String>,
    /// Parts of the network that can change the results and that the run does not apply.
    pub not_modeled: BTreeSet<String>,
}

/// Traffic of one class from one site to another.
#[derive(Clone, Debug, Serialize)]
pub struct PairTraffic {
    /// The name of the traffic in results.
    pub name: String,
    /// The site that sends.
    pub from: String,
    /// The site that receives.
    pub to: String,
    /// The class.
    pub class: String,
    /// A packet without its ends, in the notation of `perhop trace --packet`.
    pub packet: String,
    /// The offered rate, bits per second; greedy TCP sends more.
    pub rate: f64,
    /// The kind of traffic, as text.
    pub kind: String,
    /// The paths of the packets.
    pub ways: Vec<Vec<PlannedStop>>,
    /// The demand that describes this traffic. The same demand can be offered to another network.
    pub demand: Demand,
}

/// Infers a scenario from the devices of a folder: their links and routes, and traffic between their sites.
///
/// # Errors
/// There are fewer than two sites, a demand is invalid, or no traffic can be run.
pub fn infer_network(
    front_ends: FrontEnds,
    snapshot: &Snapshot,
    request: &NetworkRequest,
) -> Result<NetworkInferred, Failure> {
    let sites = snapshot.sites();
    if sites.len() < 2 {
        return Err(Failure::invalid(
            "there are fewer than two sites",
            "name hosts in network.yaml: `hosts: {phone: 10.1.0.5}`",
        ));
    }
    let mut found = Found::default();
    let load = if let Some(demands) = &request.demands {
        add_demands(demands, snapshot, &sites, &mut found)?;
        "load: the rates of the file"
    } else {
        access::add_loads(front_ends, snapshot, &sites, request.load, &mut found)?;
        request.load.sentence()
    };
    let journey = |Routed { site_flow, there, back }: &Routed| Journey {
        from: &sites[site_flow.from],
        to: &sites[site_flow.to],
        there: there.clone(),
        back: back.clone(),
    };
    let journeys: Vec<Journey> = found.routed.iter().map(journey).collect();
    let mut plan = snapshot.plan(&journeys);
    let (mut traffic, mut pairs) = (Vec::new(), Vec::new());
    for (Routed { site_flow, .. }, planned) in found.routed.iter().zip(std::mem::take(&mut plan.journeys)) {
        let ways = match planned {
            Ok(ways) => ways,
            Err(why) => {
                let class = Some(site_flow.class.clone());
                found.left_out.push(left_out(site_flow, &sites, class, why, false));
                continue;
            }
        };
        let (entry, words) = site_flow.entry(&sites);
        traffic.push((entry, packet_hops(site_flow, &ways)));
        pairs.push(pair_of(site_flow, &sites, &words, ways));
    }
    if traffic.is_empty() {
        return Err(nothing_runs(&found));
    }
    found.assumed.extend(std::mem::take(&mut plan.assumed));
    found.not_modeled.extend(std::mem::take(&mut plan.not_modeled));
    Ok(NetworkInferred {
        scenario: scenario(&request.name, &plan, traffic, &pairs),
        load: load.to_owned(),
        pairs,
        left_out: found.left_out,
        missing: found.missing,
        assumed: found.assumed,
        not_modeled: found.not_modeled,
    })
}

/// Adds the traffic of a matrix to `found`.
fn add_demands(
    demands: &[Demand],
    snapshot: &Snapshot,
    sites: &[Site],
    found: &mut Found,
) -> Result<(), Failure> {
    let site_flows = demand::site_flows(demands, sites)?;
    let walked: Result<Vec<Walked>, _> =
        site_flows.into_par_iter().map(|site_flow| site_flow.walk(snapshot, sites)).collect();
    for walked in walked.map_err(Failure::Option)? {
        let routed = found.take(walked, sites);
        found.routed.extend(routed);
    }
    Ok(())
}

fn pair_of(
    site_flow: &site_flow::SiteFlow,
    sites: &[Site],
    words: &str,
    ways: Vec<Vec<PlannedStop>>,
) -> PairTraffic {
    let [from, to] = [site_flow.from, site_flow.to].map(|site| sites[site].name.clone());
    PairTraffic {
        name: format!("{from} > {to}: {}", site_flow.class),
        from,
        to,
        class: site_flow.class.clone(),
        packet: site_flow.packet_text(),
        rate: site_flow.rate,
        kind: format!("{}, {words}", rate_in_words(site_flow.rate)),
        ways,
        demand: Demand::from_site_flow(site_flow, sites),
    }
}

/// Returns the failure of a network in which no traffic can run, with the first reason.
fn nothing_runs(found: &Found) -> Failure {
    let Some(first) = found.left_out.first() else {
        let why = found.missing.first().map_or(String::new(), |missing| format!(": {missing}"));
        return Failure::invalid(
            format!("no traffic passes a link between devices{why}"),
            "give the traffic: --traffic matrix.csv",
        );
    };
    let why = serde_json::to_value(&first.why).unwrap_or_default();
    let place = why["device"].as_str().map_or(String::new(), |device| format!(" at {device}"));
    let text = |key: &str| why[key].as_str().map(str::to_owned);
    let because = text("because").or_else(|| text("cause")).or_else(|| text("end")).unwrap_or_default();
    Failure::invalid(
        format!("no packet arrives: packets from {} to {} stop{place}: {because}", first.from, first.to),
        text("help").unwrap_or_else(|| "perhop trace shows their path".to_owned()),
    )
}

/// Returns the number of packets over links per second.
fn packet_hops(site_flow: &site_flow::SiteFlow, ways: &[Vec<PlannedStop>]) -> f64 {
    let hops = ways.iter().map(Vec::len).max().unwrap_or_default() + 1;
    let packets = if site_flow.is_tcp() {
        WITH_REPLIES * site_flow.rate / (8.0 * SEGMENT)
    } else {
        site_flow.rate / (8.0 * f64::from(site_flow.packet_bytes.max(1)))
    };
    packets * hops as f64
}

fn scenario(
    name: &str,
    plan: &Plan,
    traffic: Vec<(Map<String, Value>, f64)>,
    pairs: &[PairTraffic],
) -> Value {
    let hops: f64 = traffic.iter().map(|(_, hops)| hops).sum();
    let milliseconds = rounded(1000.0 * PACKET_HOPS / hops.max(1.0)).clamp(SHORTEST, LONGEST);
    let ports: BTreeSet<&str> =
        pairs.iter().flat_map(|pair| pair.ways.iter().flatten()).map(|stop| stop.port.as_str()).collect();
    let samples = SAMPLES.min(ALL_SAMPLES / ports.len().max(1) as f64).max(10.0);
    let every = time((milliseconds / samples).max(1.0).round_ties_even());
    let queues: Vec<Value> = ports
        .iter()
        .filter_map(|port| port.split_once("->"))
        .map(|(from, to)| json!({"from": from, "to": to, "every": every}))
        .collect();
    let traffic: Vec<Map<String, Value>> = traffic.into_iter().map(|(entry, _)| entry).collect();
    json!({
        "perhop": 1,
        "name": name,
        "duration": time(milliseconds),
        "hosts": plan.hosts,
        "routers": plan.routers,
        "links": plan.links,
        "policies": {AMPLE: {"queueing": ample_queueing()}},
        "traffic": traffic,
        "measure": {"warmup": time((WARMUP * milliseconds).round_ties_even()), "queues": queues},
    })
}

/// Returns a time in milliseconds rounded down to 1, 2 or 5 times a power of ten.
fn rounded(milliseconds: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(milliseconds)));
    let factor = [5.0, 2.0].into_iter().find(|factor| factor * power <= milliseconds).unwrap_or(1.0);
    factor * power
}
