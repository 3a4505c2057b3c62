//! [`infer`] infers the scenario of a [`Request`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use perhop_device::RecognizedPlatform;
use perhop_network::{Device, Devices, options, with_added};
use perhop_qos::{ConfigError, Rate};
use perhop_scenario::RouterConfiguration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::common_port::CommonPort;
use crate::document::{Entry, scenario};
use crate::drop_bursts::with_bursts;
use crate::failure::Failure;
use crate::given::{Given, by_class, wanted, with_class_names};
use crate::horizon::Horizon;
use crate::level::LoadLevel;
use crate::memory::memory_remarks;
use crate::microburst::{bursts, with_entrance};
use crate::network::{FAR, Network, Site, node_name, subnets_of};
use crate::output::{ReadOutputs, from_outputs};
use crate::recording::{Recording, replayed};
use crate::records::from_records;
use crate::role::Kind;
use crate::selection::{Selection, depends_on_entrance};
use crate::targets::{Hit, Miss, Wanted, search, targets, unmatched};
use crate::traffic::{Flow, Traffic, guessed};
use crate::trial::{Place, Trial};
use crate::unapplied::left_out;
use crate::unclassified::call_without_class;
use crate::words::{rate_in_words, time};

/// Maximum number of interfaces that are tried as entrance.
const MOST_ENTRANCES: usize = 64;
/// The maximum utilization of an entrance by given traffic, so that the traffic hardly waits before the
/// device.
const MOST_FILLED: f64 = 0.5;
/// The number of samples of each queue in a run.
const QUEUE_SAMPLES: f64 = 200.0;
/// The number of samples of throughput and delays in a run.
const SAMPLES: f64 = 40.0;

/// A configuration from which a scenario is inferred, and the user's choices.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Request {
    /// The text of the configuration.
    pub text: String,
    /// The `configuration` of the router in the scenario, which names the file or contains the text.
    pub configuration: Map<String, Value>,
    /// The folder to which relative paths in the scenario refer.
    pub base: String,
    /// The interface where packets leave; by default the interface whose policy has the most classes.
    pub interface: Option<String>,
    /// Instead of `interface`: the interface whose tunnels and sub-interfaces run together.
    pub whole_port: Option<String>,
    /// The rate of the interface; by default the configured rate.
    pub rate: Option<Rate>,
    /// The size of the tx-ring of the interface, packets; by default the configured size.
    pub ring: Option<u32>,
    /// For a guess: the load of each class as a fraction of its rate while all other classes are busy.
    pub load: LoadLevel,
    /// The load of queues by path, bits per second, in place of a guess. Zero leaves a class out.
    pub loads: BTreeMap<String, f64>,
    /// Traffic in place of a guess.
    pub given: Option<Given>,
}

/// The traffic of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassTraffic {
    /// The name of the class in results.
    pub class: String,
    /// The name in results of the queue in which the packets wait at the leaving interface.
    pub queue: Option<String>,
    /// The offered rate, as text.
    pub rate: String,
    /// The kind of traffic, as text.
    pub kind: String,
    /// The offered rate, bits per second.
    pub load: f64,
    /// Whether the traffic is TCP.
    pub tcp: bool,
}

/// A scenario inferred from a configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Inferred {
    /// The keys of a scenario file.
    pub scenario: Value,
    /// The interface where packets leave the router; `None` for an added interface.
    pub leaving: Option<String>,
    /// The interface where packets enter the router; `None` for an added interface.
    pub entering: Option<String>,
    /// The rate at which packets can leave, as text.
    pub rate: String,
    /// The line rate of the leaving interface, bits per second.
    pub wire: u64,
    /// The name in results of the port through which packets leave the router.
    pub port: String,
    /// The load in a sentence.
    pub load: String,
    /// The traffic of each class.
    pub offered: Vec<ClassTraffic>,
    /// The classes without traffic and the omitted packets, one line each.
    pub missing: Vec<String>,
    /// Assumptions of the run.
    pub assumed: Vec<String>,
    /// Parts of the configuration that can change the results and that the run does not apply.
    pub not_looked_at: Vec<String>,
    /// The number of queues of the leaving interface.
    pub queues: usize,
    /// The router's platform.
    pub platform: RecognizedPlatform,
}

/// Infers a scenario from a configuration. `devices` caches the parsed configuration; `capture` is the
/// content of a given capture.
///
/// # Errors
/// The device would refuse a feature of the interface, the interface does not exist, no interface is up, or
/// the given traffic is invalid.
pub fn infer(devices: &Devices, request: &Request, capture: Option<&[u8]>) -> Result<Inferred, Failure> {
    let device = read(devices, request)?;
    let common = common_port(&device, request)?;
    let site = site(&device, request, common.as_ref());
    let selection = Selection { site: &site, front_end: device.front_end, rate: request.rate };
    let outputs = match &request.given {
        Some(Given::Outputs(outputs)) => Some(ReadOutputs::new(device.front_end, outputs)?),
        _ => None,
    };
    let shown = outputs.as_ref().and_then(|outputs| outputs.interface(&device.model.router.ports));
    let chosen = common.as_ref().map(|common| common.name.as_str());
    let chosen = chosen.or(request.interface.as_deref()).or(shown);
    let network = selection.select(chosen)?;
    let mut trial = Trial::new(&network, devices)?;
    let (network, traffic) = match (&request.given, &outputs) {
        (_, Some(outputs)) => {
            // The load from counters does not react to drops, so a class gets datagrams if it matches
            // datagrams.
            let names: Vec<String> = targets(&network).into_iter().map(|target| target.name).collect();
            let wanted: Wanted = names.iter().map(|name| (name.as_str(), Some(Kind::Constant))).collect();
            let tried = reach(network, trial, selection, devices, &wanted)?;
            let (traffic, drops) = from_outputs(&tried.network, outputs, &tried.hits)?;
            let network = widened(tried.network, &traffic);
            let traffic = with_bursts(&network, devices, traffic, &drops)?;
            (network, traffic)
        }
        (None | Some(Given::Outputs(_)), None) => {
            let tried = reach(network, trial, selection, devices, &Wanted::new())?;
            guess(tried, (request.load, &request.loads))?
        }
        (Some(Given::Classes(loads)), None) => {
            let loads = with_class_names(&network, loads);
            let tried = reach(network, trial, selection, devices, &wanted(&loads))?;
            let traffic = by_class(&tried.network, &loads, &tried.hits, &tried.misses)?;
            (tried.network, traffic)
        }
        (Some(Given::Microburst(burst)), None) => {
            let names: Vec<String> = targets(&network).into_iter().map(|target| target.name).collect();
            let wanted: Wanted = names.iter().map(|name| (name.as_str(), Some(Kind::Constant))).collect();
            let tried = reach(network, trial, selection, devices, &wanted)?;
            let traffic = bursts(&tried.network, burst, &tried.hits, &tried.misses)?;
            let network = selection.with_copies(tried.network, &burst.also)?;
            (with_entrance(network, burst), traffic)
        }
        (Some(Given::Records(records)), None) => {
            let traffic = from_records(&network, &mut trial, records)?;
            (network, traffic)
        }
        (Some(Given::Capture(path)), None) => {
            let mut network = network;
            let recording = Recording::new(path, capture.unwrap_or_default());
            let traffic = replayed(&mut network, devices, &recording)?;
            (network, traffic)
        }
    };
    let network = match &request.given {
        None | Some(Given::Microburst(_)) => network,
        Some(_) => widened(network, &traffic),
    };
    let load = request.given.as_ref().map_or(request.load.sentence(), Given::sentence);
    Ok(Inferred { load: load.to_owned(), ..inferred(&network, &traffic, device.model.platform.clone()) })
}

/// Returns a guess of the traffic of each class that leaves via the interface of a request.
pub(crate) fn class_traffic(devices: &Devices, request: &Request) -> Result<Traffic, Failure> {
    let device = read(devices, request)?;
    let site = site(&device, request, None);
    let selection = Selection { site: &site, front_end: device.front_end, rate: None };
    let network = selection.select(request.interface.as_deref())?;
    let trial = Trial::new(&network, devices)?;
    let tried = reach(network, trial, selection, devices, &Wanted::new())?;
    guess(tried, (request.load, &request.loads)).map(|(_, traffic)| traffic)
}

/// Checks that a packet reaches each class of a configuration. Returns the failure that [`infer`] would
/// return.
///
/// A queue without conditions matches the packets that no other queue matches, so it counts as reached
/// without a trial.
///
/// # Errors
/// No interface is up, or no packet reaches a class.
pub fn require_reachable_classes(devices: &Devices, request: &Request) -> Result<(), Failure> {
    let device = read(devices, request)?;
    let site = site(&device, request, None);
    let selection = Selection { site: &site, front_end: device.front_end, rate: None };
    // perhop does not simulate queues of unknown memory, so unreached classes with such queues are not a
    // fault.
    if !site.ports.is_empty() && site.ports.iter().all(|port| port.unmodeled_queues.is_some()) {
        return Ok(());
    }
    let network = selection.select(None)?;
    if network.leaves.is_empty() || network.leaves.iter().any(|leaf| leaf.matches.is_empty()) {
        return Ok(());
    }
    let trial = Trial::new(&network, devices)?;
    let tried = reach(network, trial, selection, devices, &Wanted::new())?;
    guess(tried, (LoadLevel::default(), &BTreeMap::new())).map(|_| ())
}

/// Reads the configuration of a request.
fn read<'f>(devices: &Devices<'f>, request: &Request) -> Result<Device<'f>, Failure> {
    let wrong =
        |error: serde_json::Error| Failure::Option(ConfigError::new("configuration", error.to_string()));
    let written: RouterConfiguration =
        serde_json::from_value(Value::Object(request.configuration.clone())).map_err(wrong)?;
    let options = options(&written).map_err(Failure::Option)?;
    let whole = with_added(&request.text, &written.add);
    let device = devices.read(&whole, &options).map_err(Failure::Option)?;
    match device.model.refusal() {
        Some(refusal) => Err(Failure::invalid(&refusal.message, &refusal.router)),
        None => Ok(device),
    }
}

/// Returns the port whose tunnels and sub-interfaces run together, if the user names one.
fn common_port(device: &Device, request: &Request) -> Result<Option<CommonPort>, Failure> {
    let Some(name) = &request.whole_port else { return Ok(None) };
    if request.interface.is_some() {
        return Err(Failure::invalid(
            "the whole port and one interface exclude each other",
            "leave out --interface, or --whole-port",
        ));
    }
    let site = site(device, request, None);
    let selection = Selection { site: &site, front_end: device.front_end, rate: request.rate };
    CommonPort::new(&device.model.router, selection.named(name)?).map(Some)
}

fn site<'d>(device: &'d Device, request: &'d Request, common: Option<&'d CommonPort>) -> Site<'d> {
    let router = &device.model.router;
    let own = router.ports.iter().flat_map(|port| &port.addresses);
    Site {
        router: node_name(router.hostname.as_deref()),
        configuration: request.configuration.clone(),
        base: Path::new(&request.base),
        ports: common.map_or(&router.ports, |common| &common.ports),
        common,
        model: &device.model,
        own: own.map(|own| own.address).collect(),
        subnets: router.ports.iter().flat_map(subnets_of).collect(),
        ring: request.ring,
    }
}

/// The headers that perhop has found for the classes of a network.
struct Tried<'a> {
    network: Network<'a>,
    trial: Trial,
    hits: Vec<Hit<'a>>,
    misses: Vec<Miss<'a>>,
    /// Whether all entrances that can reach further classes were tried.
    has_all: bool,
}

/// Returns headers for each class, for the entrance that reaches most classes.
fn reach<'a>(
    network: Network<'a>,
    mut trial: Trial,
    selection: Selection<'a>,
    devices: &Devices,
    wanted: &Wanted,
) -> Result<Tried<'a>, Failure> {
    let (hits, misses) = search(&network, &mut trial, wanted);
    let mut best = Tried { network, trial, hits, misses, has_all: true };
    if best.misses.is_empty() || !depends_on_entrance(&best.network) {
        return Ok(best);
    }
    let first = best.network.clone();
    let mut others = selection.other_entrances(&first);
    for other in others.by_ref().take(MOST_ENTRANCES) {
        let mut trial = Trial::new(&other, devices)?;
        let (hits, misses) = search(&other, &mut trial, wanted);
        if lacking(&misses, wanted) < lacking(&best.misses, wanted) {
            best = Tried { network: other, trial, hits, misses, has_all: true };
        }
    }
    best.has_all = best.misses.is_empty() || others.next().is_none();
    Ok(best)
}

/// Returns three numbers of targets without packets: the classes that the user names, the queues of
/// configured classes, and all queues.
fn lacking(misses: &[Miss], wanted: &Wanted) -> (usize, usize, usize) {
    let named = misses.iter().filter(|miss| wanted.contains_key(miss.target.name.as_str()));
    let queues = || misses.iter().filter(|miss| matches!(miss.target.place, Place::Queue(_)));
    let of_classes = queues().filter(|miss| miss.target.own_name != "class-default");
    (named.count(), of_classes.count(), queues().count())
}

/// Returns traffic for each class that headers reach, and its network.
fn guess<'a>(
    mut tried: Tried<'a>,
    offered: (LoadLevel, &BTreeMap<String, f64>),
) -> Result<(Network<'a>, Traffic), Failure> {
    let mut traffic = guessed(&tried.network, &mut tried.trial, &tried.hits, offered);
    if let Some((call, remark)) =
        call_without_class(&tried.network, &mut tried.trial, &tried.hits, &traffic.flows)
    {
        traffic.flows.push(call);
        tried.network.assumed.push(remark);
    }
    let mut seen = BTreeSet::new();
    let misses = tried.misses.iter().map(ToString::to_string);
    traffic.remarks.extend(misses.filter(|miss| seen.insert(miss.clone())));
    if !tried.has_all {
        traffic.remarks.push(format!(
            "perhop tried only {MOST_ENTRANCES} of the other interfaces as the interface where packets enter"
        ));
    }
    let never = "no packet that perhop tried reaches it: its conditions exclude each other, or one of its \
                 access lists has no entry";
    traffic.remarks.extend(unmatched(&tried.network).iter().map(|name| format!("class `{name}`: {never}")));
    if traffic.flows.is_empty() {
        let why = traffic.remarks.join("; ");
        let name = &tried.network.leaving.name;
        return Err(Failure::invalid(
            format!("no packet reaches an output class of {name}: {why}"),
            "give the traffic: --traffic FILE with rates by class, flow records or a capture",
        ));
    }
    Ok((tried.network, traffic))
}

/// Returns the network with one entrance for all given traffic. In reality, this traffic arrives at several
/// interfaces.
fn widened<'a>(mut network: Network<'a>, traffic: &Traffic) -> Network<'a> {
    let load: f64 = traffic.flows.iter().map(|flow| flow.rate).sum();
    if load > MOST_FILLED * network.entering.bits_per_second() {
        network.entering.rate = Rate::from_bits_per_second((load / MOST_FILLED).ceil() as u64);
        let rate = rate_in_words(network.entering.bits_per_second());
        let name = network.entering.port.map_or("the added interface", |port| &port.name);
        network.assumed.push(format!(
            "packets enter {name} at {rate}, more than its rate, as if they came from several interfaces"
        ));
    }
    network
}

fn inferred(network: &Network, traffic: &Traffic, platform: RecognizedPlatform) -> Inferred {
    let offered = |flow: &Flow| {
        let [rate, kind] = flow.offered.clone();
        let (class, queue) = (flow.class().to_owned(), flow.queue.clone());
        ClassTraffic { class, queue, rate, kind, load: flow.rate, tcp: flow.header.is("tcp") }
    };
    let common = network.site.common.into_iter();
    Inferred {
        scenario: Value::Object(measured(network, traffic)),
        leaving: network.leaving.port.map(|port| port.name.clone()),
        entering: network.entering.port.map(|port| port.name.clone()),
        rate: rate_in_words(network.bottleneck()),
        wire: network.leaving.rate.as_bits_per_second(),
        port: network.port(),
        load: String::new(),
        offered: traffic.flows.iter().map(offered).collect(),
        missing: traffic.remarks.clone(),
        assumed: common
            .flat_map(|common| &common.assumed)
            .chain(&network.assumed)
            .cloned()
            .chain(memory_remarks(network))
            .collect(),
        not_looked_at: left_out(network),
        queues: network.leaves.len(),
        platform,
    }
}

/// Returns the scenario with this traffic and its measurements.
fn measured(network: &Network, traffic: &Traffic) -> Map<String, Value> {
    let Horizon { warmup, milliseconds } = Horizon::new(traffic);
    let entries: Vec<Entry> =
        traffic.flows.iter().map(|flow| Entry { keys: &flow.entry, header: &flow.header }).collect();
    let mut keys = scenario(network, &entries, &time(milliseconds));
    let every = time(milliseconds / SAMPLES);
    keys.insert(
        "measure".to_owned(),
        json!({
            "warmup": time(warmup),
            "queues": [
                {"from": network.site.router, "to": FAR, "every": time(milliseconds / QUEUE_SAMPLES)},
            ],
            "throughput-every": every,
            "delay-every": every,
        }),
    );
    keys
}
