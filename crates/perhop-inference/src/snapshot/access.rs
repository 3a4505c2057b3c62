//! [`add_loads`]: traffic that loads every access link according to the classes of its ports.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::FrontEnds;
use perhop_network::Devices;
use perhop_network::snapshot::{PortId, Site, Snapshot, Way};
use perhop_qos::ConfigError;
use rayon::prelude::*;
use serde_json::{Map, json};

use super::class_flow::{ClassFlow, walk_all};
use super::fair::fair_shares;
use super::found::{Found, left_out};
use super::site_flow::{Routed, SiteFlow, Unrouted, Walked};
use crate::failure::Failure;
use crate::header::Header;
use crate::infer::{Request, class_traffic};
use crate::level::LoadLevel;
use crate::role::Kind;
use crate::sources::kind_of_source;
use crate::traffic::Flow;

/// Maximum number of flows of a network: pairs of sites times classes.
const MOST_FLOWS: usize = 20_000;
/// IP bytes of the packet whose path shows the access links of a pair of sites.
const PROBE_BYTES: u32 = 200;

/// The load of a class at a port.
struct Load {
    flow: Flow,
    kind: Kind,
    packet_bytes: u32,
}

/// Two sites, with the first and the last port between devices on the path of their packets.
struct Pair {
    from: usize,
    to: usize,
    ports: [PortId; 2],
}

/// The loads of ports.
type Loads = BTreeMap<PortId, Vec<Load>>;

/// Adds traffic between all sites to `found`. Each class at an access link gets the load that it has in the
/// scenario of a single device. The flows of a class share this load max-min fairly.
pub(super) fn add_loads(
    front_ends: FrontEnds,
    snapshot: &Snapshot,
    sites: &[Site],
    level: LoadLevel,
    found: &mut Found,
) -> Result<(), Failure> {
    let pairs = pairs(snapshot, sites, found)?;
    let ports: BTreeSet<PortId> = pairs.iter().flat_map(|pair| pair.ports).collect();
    let ports: Vec<PortId> = ports.into_iter().collect();
    let inferred: Vec<_> =
        ports.par_iter().map(|port| loads_of(front_ends, snapshot, *port, level)).collect();
    let mut loads = Loads::new();
    for (port, inferred) in ports.into_iter().zip(inferred) {
        let (device, interface) = snapshot.names_of(port);
        match inferred {
            Ok((own, remarks)) => {
                found.missing.extend(remarks.iter().map(|remark| format!("{device} {interface}: {remark}")));
                loads.insert(port, own);
            }
            Err(failure) => {
                found.missing.insert(format!("{device} {interface}: no load: {}", words(&failure)));
            }
        }
    }
    let site_flows: Vec<ClassFlow> = pairs.iter().flat_map(|pair| flows_of_pair(pair, &loads)).collect();
    too_many(site_flows.len())?;
    let mut flows = Vec::new();
    for (wanted, walked) in
        site_flows.iter().zip(walk_all(&site_flows, snapshot, sites).map_err(Failure::Option)?)
    {
        match walked {
            Some(walked) => {
                let routed = found.take(walked, sites);
                flows.extend(routed.map(|routed| (routed, wanted.ports, wanted.class)));
            }
            None => _ = found.missing.insert(wanted.unreached(snapshot, sites)),
        }
    }
    share(&mut flows, &loads);
    found
        .routed
        .extend(flows.into_iter().map(|(routed, ..)| routed).filter(|routed| routed.site_flow.rate >= 1.0));
    Ok(())
}

fn too_many(flows: usize) -> Result<(), Failure> {
    if flows <= MOST_FLOWS {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("traffic between all sites would be {flows} flows; the limit is {MOST_FLOWS}"),
        "give the traffic that matters: --traffic matrix.csv, or name hosts in network.yaml",
    ))
}

/// Returns the pairs of sites whose packets pass a link between devices. Other pairs are omitted, and `found`
/// names them.
fn pairs(snapshot: &Snapshot, sites: &[Site], found: &mut Found) -> Result<Vec<Pair>, Failure> {
    let all: Vec<[usize; 2]> = (0..sites.len())
        .flat_map(|from| (0..sites.len()).map(move |to| [from, to]))
        .filter(|[from, to]| from != to && sites[*from].address.is_ipv4() == sites[*to].address.is_ipv4())
        .collect();
    too_many(all.len())?;
    let walked: Result<Vec<Walked>, ConfigError> =
        all.into_par_iter().map(|[from, to]| probe(from, to).walk(snapshot, sites)).collect();
    let mut pairs = Vec::new();
    for Walked { routed, .. } in walked.map_err(Failure::Option)? {
        match routed {
            Ok(Routed { site_flow, there, .. }) => {
                let ports = there.first().and_then(access_ports);
                pairs.extend(ports.map(|ports| Pair { from: site_flow.from, to: site_flow.to, ports }));
            }
            Err(unrouted) => {
                let Unrouted { site_flow, why, is_reply } = *unrouted;
                found.left_out.push(left_out(&site_flow, sites, None, why, is_reply));
            }
        }
    }
    Ok(pairs)
}

/// Returns a flow with the default codepoint, whose packets show the path between two sites.
fn probe(from: usize, to: usize) -> SiteFlow {
    SiteFlow {
        from,
        to,
        class: String::new(),
        header: Header::default(),
        kind: Kind::Datagrams,
        packet_bytes: PROBE_BYTES,
        rate: 0.0,
        keys: Map::new(),
        number: 0,
    }
}

/// Returns the first and the last port between devices on a path.
fn access_ports(way: &Way) -> Option<[PortId; 2]> {
    let between = &way[..way.len().saturating_sub(1)];
    Some([between.first()?.leaves, between.last()?.leaves])
}

/// Returns the load of each class at a port, and remarks about classes without load.
fn loads_of(
    front_ends: FrontEnds,
    snapshot: &Snapshot,
    port: PortId,
    level: LoadLevel,
) -> Result<(Vec<Load>, Vec<String>), Failure> {
    let device = snapshot.device_of(port);
    let Some((text, options)) = device.device.configuration() else { return Ok((Vec::new(), Vec::new())) };
    let configuration = json!({
        "text": text, "assume": options.assume, "platform": {"profile": options.platform},
    });
    let request = Request {
        text: text.to_owned(),
        configuration: configuration.as_object().cloned().unwrap_or_default(),
        interface: Some(snapshot.names_of(port).1.to_owned()),
        load: level,
        ..Request::default()
    };
    let traffic = class_traffic(&Devices::new(front_ends), &request)?;
    let loads = traffic.flows.into_iter().filter_map(|flow| {
        let (kind, packet_bytes) = kind_of_source(&flow.entry["source"])?;
        Some(Load { flow, kind, packet_bytes: packet_bytes.unwrap_or_default() })
    });
    Ok((loads.collect(), traffic.remarks))
}

/// Returns a flow for each class at the first port of a pair.
fn flows_of_pair<'a>(pair: &'a Pair, loads: &'a Loads) -> impl Iterator<Item = ClassFlow> + 'a {
    let own = loads.get(&pair.ports[0]).into_iter().flatten();
    own.enumerate().map(|(place, load)| {
        // The packets have the addresses of the sites, not the addresses of the header.
        let header = Header { source: None, destination: None, ..load.flow.header.clone() };
        let site_flow = SiteFlow {
            from: pair.from,
            to: pair.to,
            class: load.flow.class().to_owned(),
            header,
            kind: load.kind,
            packet_bytes: load.packet_bytes,
            rate: 0.0,
            keys: load.flow.entry.clone(),
            number: place,
        };
        ClassFlow { site_flow, ports: pair.ports, class: place, queue: load.flow.queue.clone() }
    })
}

/// Sets the rates of flows: their shares of the load of their class at the first port, and of their queue at
/// the last port.
fn share(flows: &mut [(Routed, [PortId; 2], usize)], loads: &Loads) {
    let mut places: BTreeMap<(PortId, Result<usize, String>), usize> = BTreeMap::new();
    let mut limits = Vec::new();
    let mut limits_of = Vec::new();
    for (routed, [first, last], class) in flows.iter() {
        let own = loads.get(first).and_then(|loads| loads.get(*class)).map(|load| load.flow.rate);
        let queue = routed.there.iter().flatten().find(|stop| stop.leaves == *last);
        let queue = queue.and_then(|stop| stop.queue.clone());
        let at_last = queue.as_ref().and_then(|queue| {
            let mut known = loads.get(last)?.iter().filter(|load| load.flow.queue.as_ref() == Some(queue));
            let first = known.next()?.flow.rate;
            Some(known.map(|load| load.flow.rate).fold(first, |sum, rate| sum + rate))
        });
        let keys = [
            own.map(|limit| ((*first, Ok(*class)), limit)),
            at_last.zip(queue).map(|(limit, queue)| ((*last, Err(queue)), limit)),
        ];
        let own = keys.into_iter().flatten().map(|(key, limit)| {
            *places.entry(key).or_insert_with(|| {
                limits.push(limit);
                limits.len() - 1
            })
        });
        limits_of.push(own.collect::<Vec<usize>>());
    }
    for ((routed, ..), rate) in flows.iter_mut().zip(fair_shares(&limits_of, &limits)) {
        routed.site_flow.rate = rate;
    }
}

fn words(failure: &Failure) -> String {
    match failure {
        Failure::Invalid { message, .. } => message.clone(),
        Failure::Option(error) => error.message.clone(),
        Failure::Refused { found, .. } => found.to_string(),
    }
}
