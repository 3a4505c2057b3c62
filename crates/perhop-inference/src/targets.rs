//! The classes on a path through a router, and headers that reach them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;

use perhop_analysis::rates::class_path;
use perhop_device::lower::STAGES_OF_DEVICE;
use perhop_device::{AttachedClass, AttachedPolicy};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::QueueingConfig;

use crate::candidates::candidates;
use crate::header::Header;
use crate::network::{Carried, Ends, Network};
use crate::role::{Kind, Role, Service, role_of};
use crate::shares::Leaf;
use crate::trial::{Place, Side, Trial};

/// Maximum number of headers tried for one class.
const TRIALS: usize = 48;
/// Suffixes of stages that belong to no class, in addition to the stages of the device. They select colors
/// for a policer.
const OF_COLORS: [&str; 3] = [" conform-color", " exceed-color", " other colors"];

/// The classes that the user names, with their kinds of traffic.
pub(crate) type Wanted<'k> = BTreeMap<&'k str, Option<Kind>>;

/// A class of the router: a conditioning stage or a queue.
#[derive(Clone, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) place: Place,
    /// The unique name of the class.
    pub(crate) name: String,
    /// The name of the class in its policy, which is not unique.
    pub(crate) own_name: String,
    matches: Vec<&'a MatchConfig>,
    /// The service of the queue; for a stage, the service of the queue with the same name.
    service: Service,
}

/// Headers that reach a class.
#[derive(Clone, Debug)]
pub(crate) struct Hit<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) header: Header,
    pub(crate) role: &'static Role,
    /// The kind of traffic to send: the kind of the role, or the user's choice.
    pub(crate) kind: Kind,
    /// All classes that the headers reach.
    pub(crate) places: BTreeSet<Place>,
}

impl Hit<'_> {
    /// Returns the queue where the packets wait.
    pub(crate) fn leaf<'n>(&self, network: &'n Network) -> Option<&'n Leaf<'n>> {
        let queue = |place: &Place| match place {
            Place::Queue(path) => network.place_of(path),
            _ => None,
        };
        self.places.iter().filter_map(queue).min().map(|place| &network.leaves[place])
    }
}

/// A class that no header reaches.
#[derive(Clone, Debug)]
pub(crate) struct Miss<'a> {
    pub(crate) target: Target<'a>,
    why: String,
    /// Whether headers reach the conditioner of the class, but not its queue.
    is_queue_only: bool,
}

impl fmt::Display for Miss<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let what = if self.is_queue_only { "the queue of class" } else { "class" };
        write!(formatter, "{what} `{}`: no packet that perhop tried reaches it{}", self.target.name, self.why)
    }
}

/// Returns the classes on the path, from the entering to the leaving interface.
pub(crate) fn targets<'a>(network: &Network<'a>) -> Vec<Target<'a>> {
    let first: BTreeSet<&str> =
        network.leaves.iter().filter(|leaf| leaf.has_priority).map(|leaf| leaf.name.as_str()).collect();
    let service = |has_priority| if has_priority { Service::Priority } else { Service::Ordinary };
    let mut found = Vec::new();
    for (side, stage_name, stage) in stages(network) {
        let Named { own_name, name } = name_of_stage(network, &stage_name);
        if STAGES_OF_DEVICE.contains(&own_name.as_str())
            || OF_COLORS.iter().any(|end| stage_name.ends_with(end))
        {
            continue;
        }
        let service = service(first.contains(own_name.as_str()));
        let matches = stage.matches.iter().collect();
        found.push(Target { place: Place::Stage(side, stage_name), name, own_name, matches, service });
    }
    found.extend(network.leaves.iter().zip(&network.names).map(|(leaf, name)| Target {
        place: Place::Queue(leaf.path.clone()),
        name: name.clone(),
        own_name: leaf.name.clone(),
        matches: leaf.matches.clone(),
        service: service(leaf.has_priority),
    }));
    if network.leaves.is_empty() {
        let (name, own_name) = ("class-default".to_owned(), "class-default".to_owned());
        let service = Service::Ordinary;
        found.push(Target { place: Place::Rest, name, own_name, matches: Vec::new(), service });
    }
    found
}

/// The names of a conditioning stage: in its own policy, and among all classes.
struct Named {
    own_name: String,
    name: String,
}

/// Returns the names of a stage. If its class has a queue, the names are those of the queue.
fn name_of_stage(network: &Network, stage: &str) -> Named {
    let mut carried = network.site.common.into_iter().flat_map(|common| common.carries.keys());
    let port =
        carried.find(|port| stage.strip_prefix(port.as_str()).is_some_and(|rest| rest.starts_with('.')));
    let inner = port.map_or(stage, |port| &stage[port.len() + 1..]);
    let own_name = inner.rsplit('.').next().unwrap_or_default().to_owned();
    // The name of an inner class, in the notation of its queue.
    let whole = inner.replace('.', "/");
    if port.is_none()
        && network.names.contains(&own_name)
        && let Some(place) = queue_around(network, &whole)
    {
        // Packets that no class of a child policy selects belong to the parent class.
        return match own_name.as_str() {
            "class-default" => {
                Named { own_name: network.leaves[place].name.clone(), name: network.names[place].clone() }
            }
            _ => Named { own_name, name: whole },
        };
    }
    let name = match port {
        Some(port) => format!("{port}/{own_name}"),
        None if network.names.contains(&whole) => whole,
        None => own_name.clone(),
    };
    Named { own_name, name }
}

/// Returns the queue of the class that encloses a class of a marking child policy.
fn queue_around(network: &Network, path: &str) -> Option<usize> {
    let outer = |path: &str| path.rsplit_once('/').map(|(outer, _)| outer.to_owned());
    std::iter::successors(outer(path), |path| outer(path))
        .find_map(|path| network.leaves.iter().position(|leaf| class_path(&leaf.path) == path))
}

/// Generates the conditioners on the path, each with its side and its name in results.
pub(crate) fn stages<'a>(
    network: &Network<'a>,
) -> impl Iterator<Item = (Side, String, &'a ConditionerConfig)> + use<'a> {
    let sides = [(Side::Input, network.input()), (Side::Output, network.output())];
    sides.into_iter().flat_map(|(side, policy)| {
        policy
            .conditioners
            .iter()
            .enumerate()
            .map(move |(index, stage)| (side, stage.name.clone().unwrap_or_else(|| index.to_string()), stage))
    })
}

/// Returns headers for each class of the path, and the classes that no header reaches.
///
/// If possible, headers have the protocol of the class's role, or of the kind that `wanted` has for its name.
/// Classes in `wanted` get their own headers, even if packets of another class reach them.
pub(crate) fn search<'a>(
    network: &Network<'a>,
    trial: &mut Trial,
    wanted: &Wanted,
) -> (Vec<Hit<'a>>, Vec<Miss<'a>>) {
    let mut reached = Reached::default();
    let mut misses: Vec<Miss> = Vec::new();
    for target in targets(network) {
        let is_served = reached.names.contains(&target.name) || !wanted.contains_key(target.name.as_str());
        if is_served && reached.hits.iter().any(|hit| covers(network, hit, &target)) {
            continue;
        }
        let search = Search { network, own: &network.site.own, wanted };
        match search.run(&target, &reached.ends, trial) {
            Ok(hit) => reached.add(network, hit),
            Err(miss) => {
                let is_passed =
                    reached.places.contains(&target.place) || reached.parents.contains(&target.place);
                if target.place != Place::Rest && !is_passed {
                    misses.push(Miss { is_queue_only: reached.names.contains(&target.name), ..*miss });
                }
            }
        }
    }
    reached.leave_out_limiter_of_all(network, wanted);
    (reached.hits, misses)
}

/// The classes that headers reach so far.
#[derive(Default)]
struct Reached<'a> {
    hits: Vec<Hit<'a>>,
    places: BTreeSet<Place>,
    /// The names of the targets that the hits reach.
    names: BTreeSet<String>,
    /// The stages of the classes around these targets.
    parents: BTreeSet<Place>,
    ends: Ends,
}

impl<'a> Reached<'a> {
    fn add(&mut self, network: &Network, hit: Hit<'a>) {
        self.names.insert(hit.target.name.clone());
        self.places.extend(hit.places.iter().cloned());
        if let Place::Stage(side, name) = &hit.target.place {
            let around = std::iter::successors(name.rsplit_once('.'), |(around, _)| around.rsplit_once('.'));
            self.parents.extend(around.map(|(around, _)| Place::Stage(*side, around.to_owned())));
        }
        self.ends.add(network, &hit.header);
        self.hits.push(hit);
    }

    /// Omits each stage that the packets of all queues pass before the queues. Such a stage limits all
    /// classes together, and a separate load for it would halve their loads. If several stages precede one
    /// queue, omits the queue.
    fn leave_out_limiter_of_all(&mut self, network: &Network, wanted: &Wanted) {
        let is_queue = |hit: &Hit| matches!(hit.target.place, Place::Queue(_));
        let output = stages(network).filter(|(side, ..)| *side == Side::Output);
        let before: Vec<Place> = output.map(|(side, name, _)| Place::Stage(side, name)).collect();
        let queues = self.hits.iter().filter(|hit| is_queue(hit)).count();
        let is_passed = |stage: &&Place| {
            let mut queues = self.hits.iter().filter(|hit| is_queue(hit));
            queues.all(|hit| hit.places.contains(*stage))
        };
        let of_all: Vec<&Place> = before.iter().filter(|_| queues > 0).filter(is_passed).collect();
        let has_classes = before.len() > 1 && queues == 1 && network.leaves.len() == 1;
        let has_stage = self.hits.iter().any(|hit| of_all.contains(&&hit.target.place));
        self.hits.retain(|hit| {
            let is_limit = of_all.contains(&&hit.target.place);
            let is_repeated = if has_classes { has_stage && is_queue(hit) } else { is_limit };
            !is_repeated || wanted.contains_key(hit.target.name.as_str())
        });
    }
}

/// Whether the headers of `hit` also count as headers of `target`. A target that `hit` reaches only because
/// it shares a queue needs its own headers.
fn covers(network: &Network, hit: &Hit, target: &Target) -> bool {
    let is_only = matches!(target.place, Place::Queue(_)) && network.leaves.len() == 1;
    // On output, several classes without their own queue share the queue of class-default.
    let is_shared = matches!(hit.target.place, Place::Stage(Side::Output, _))
        && matches!(target.place, Place::Queue(_))
        && hit.target.name != target.name;
    // If the port has a single queue, the classes of an input policy share it with packets without a class.
    let is_shared = is_shared
        || is_only
            && matches!(hit.target.place, Place::Stage(Side::Input, _))
            && !hit.target.matches.is_empty();
    hit.places.contains(&target.place) && !is_shared
}

/// A search for headers of classes.
struct Search<'s, 'a> {
    network: &'s Network<'a>,
    own: &'s BTreeSet<IpAddr>,
    wanted: &'s Wanted<'s>,
}

impl<'a> Search<'_, 'a> {
    /// Returns headers that reach a class and fit the previous headers, with all classes that they reach.
    fn run(&self, target: &Target<'a>, ends: &Ends, trial: &mut Trial) -> Result<Hit<'a>, Box<Miss<'a>>> {
        let mut elsewhere: Vec<(String, usize)> = Vec::new();
        let variants = self.variants(target, ends);
        let is_tried = !variants.is_empty();
        for (header, role, kind) in variants {
            let places = trial.places_of(self.network, &header);
            if places.contains(&target.place) {
                return Ok(Hit { target: target.clone(), header, role, kind, places });
            }
            for place in places {
                let Place::Queue(path) = place else { continue };
                match elsewhere.iter_mut().find(|(known, _)| *known == path) {
                    Some((_, count)) => *count += 1,
                    None => elsewhere.push((path, 1)),
                }
            }
        }
        let why = match target.matches.iter().find_map(|condition| unseen(condition, self.network)) {
            Some(mark) => {
                format!(
                    ": the class matches {mark}, which packets do not have; --assume '{} = dscp ef' \
                         makes it match another field",
                    target.name
                )
            }
            None if is_tried => self.shadowed(target, &elsewhere),
            None => self.impossible(target).to_owned(),
        };
        Err(Box::new(Miss { target: target.clone(), why, is_queue_only: false }))
    }

    /// Returns headers that may reach a class, each with the protocol of its role first.
    fn variants(&self, target: &Target, ends: &Ends) -> Vec<(Header, &'static Role, Kind)> {
        let mut usual = self.own.clone();
        usual.extend(self.network.ends(&Header::default()));
        let mut found = Vec::new();
        let all = candidates(&target.matches, self.own).chain(candidates(&target.matches, &usual));
        for header in all {
            let role = role_of(&target.own_name, &header, target.service);
            let kind = self.wanted.get(target.name.as_str()).copied().flatten().unwrap_or(role.kind);
            let protocols: &[&str] = match (header.packet_bytes, kind) {
                // TCP determines the lengths of its segments, so a class with a required length gets UDP.
                (Some(_), _) => &["udp"],
                (None, Kind::Transfers | Kind::Greedy) => &["tcp", "udp"],
                (None, _) => &["udp", "tcp"],
            };
            let own = header.protocol.clone();
            let protocols = own.map_or_else(
                || protocols.iter().map(|protocol| (*protocol).to_owned()).collect(),
                |protocol| vec![protocol],
            );
            for protocol in protocols {
                let header = Header { protocol: Some(protocol), ..header.clone() };
                if header.has_hosts() && ends.fits(self.network, &header) {
                    found.push((header, role, kind));
                    if found.len() == TRIALS {
                        return found;
                    }
                }
            }
        }
        found
    }

    /// Returns the reason why no header for a class was tried.
    fn impossible(&self, target: &Target) -> &'static str {
        let mut headers = candidates(&target.matches, self.own).take(TRIALS).peekable();
        if headers.peek().is_none() {
            ": its conditions exclude each other"
        } else if !headers.any(|header| header.has_hosts()) {
            ": the class matches addresses that no host can have"
        } else {
            ": its packets enter the router at another interface"
        }
    }

    /// Returns the class that the intended packets of a class reach instead.
    fn shadowed(&self, target: &Target, elsewhere: &[(String, usize)]) -> String {
        // The first of several classes with the same count is chosen.
        let most = elsewhere.iter().rev().max_by_key(|(_, count)| *count);
        let place = most.and_then(|(path, _)| self.network.place_of(path));
        let name = place.map(|place| &self.network.names[place]).filter(|name| **name != target.name);
        name.map_or_else(String::new, |name| format!(": packets that match it go to class `{name}`"))
    }
}

/// Returns the text of a required mark that packets cannot have.
fn unseen(condition: &MatchConfig, network: &Network) -> Option<&'static str> {
    if condition.cos.is_some() && !network.enters_with(Carried::Vlan) {
        return Some("the CoS of a VLAN tag");
    }
    if condition.mpls_exp.is_some() && !network.enters_with(Carried::Mpls) && !network.leaves_labeled {
        return Some("the EXP of a label");
    }
    condition.all.iter().chain(&condition.any).flatten().find_map(|condition| unseen(condition, network))
}

/// Returns the configured classes of the output policy with neither queue nor conditioner: their conditions
/// exclude each other.
pub(crate) fn unmatched<'n>(network: &Network<'n>) -> Vec<&'n str> {
    let attachments = network.leaving.port.and_then(|port| port.attachments.as_ref());
    let mut configured = Vec::new();
    if let Some(policy) = attachments.and_then(|attached| attached.output.as_ref()) {
        configured_in(policy, &mut configured);
    }
    let mut known: BTreeSet<String> = targets(network).into_iter().map(|target| target.own_name).collect();
    // Packets of a class with child classes wait in the child classes.
    if let Some(queueing) = &network.output().queueing {
        running_in(queueing, &mut known);
    }
    configured.retain(|name| !known.contains(*name));
    configured
}

fn running_in(queueing: &QueueingConfig, found: &mut BTreeSet<String>) {
    for class in &queueing.classes {
        found.insert(class.name.clone());
        if let Some(inner) = &class.queueing {
            running_in(inner, found);
        }
    }
}

fn configured_in<'p>(policy: &'p AttachedPolicy, found: &mut Vec<&'p str>) {
    for class in &policy.classes {
        let AttachedClass { bandwidth, priority, police, shape, marks, .. } = class;
        let has_queue = bandwidth.is_some() || priority.is_some() || shape.is_some();
        if has_queue || police.is_some() || !marks.is_empty() {
            found.push(&class.name);
        }
        if let Some(inner) = &class.policy {
            configured_in(inner, found);
        }
    }
}
