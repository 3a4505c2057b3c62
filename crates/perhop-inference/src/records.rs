//! Flow records as traffic: the rate of each class of the router.

use std::collections::BTreeMap;

use serde_json::json;

use crate::failure::Failure;
use crate::given::{Conversation, Records};
use crate::header::{Header, Subnet};
use crate::network::{Ends, Network};
use crate::role::{Kind, Service, role_of};
use crate::sources::{Sending, sending, transfers};
use crate::traffic::{Flow, Traffic, entry};
use crate::trial::{Place, Trial};
use crate::words::{counted, rate_in_words};

/// Maximum number of conversations whose classes are determined. The largest conversations come first.
const MOST: usize = 1000;
/// IP bytes of the shortest packets that represent flows.
const SHORTEST: f64 = 28.0;
/// IP bytes of the longest packets that represent flows.
const LONGEST: f64 = 9000.0;

/// The queue, the class and the protocol of a group of conversations.
type Group = (String, String, String);

/// Returns traffic with the rates by class of flow records.
///
/// # Errors
/// No flow leaves via the interface, or addresses are on both sides of the router.
pub(crate) fn from_records(
    network: &Network,
    trial: &mut Trial,
    records: &Records,
) -> Result<Traffic, Failure> {
    let own = network.other_subnets();
    let subnets = Subnets::new(&own);
    let (leaving, staying): (Vec<&Conversation>, Vec<&Conversation>) =
        records.conversations.iter().partition(|conversation| !subnets.contain(conversation));
    let mut remarks = Vec::new();
    let left_out: u64 = staying.iter().map(|conversation| conversation.flows[0]).sum();
    if left_out > 0 {
        remarks
            .push(format!("the run leaves out {} to the router's other subnets", counted(left_out, "flow")));
    }
    if leaving.is_empty() {
        let names: Vec<String> = own.iter().map(ToString::to_string).collect();
        let help = format!("all flows of the file go to other subnets of the router: {}", names.join(", "));
        return Err(Failure::of_row(0, "no flow leaves via this interface", help));
    }
    let mut leaving: Vec<&Conversation> =
        leaving.into_iter().filter(|conversation| conversation.flows[1] > 0).collect();
    if leaving.is_empty() {
        let help = "write the bytes of each flow into the column `bytes`";
        return Err(Failure::of_row(0, "no flow that leaves via this interface has bytes", help));
    }
    let last = leaving.iter().map(|conversation| conversation.span[1]).fold(f64::NEG_INFINITY, f64::max);
    let first = leaving.iter().map(|conversation| conversation.span[0]).fold(f64::INFINITY, f64::min);
    let others: u64 = leaving.iter().map(|conversation| conversation.others).sum();
    if others > 0 {
        remarks.push(format!("perhop treats {} of unknown protocols as UDP", counted(others, "flow")));
    }
    if !records.has_codepoints {
        remarks.push("the file has no column of codepoints: all packets have codepoint 0".to_owned());
    }
    let all: f64 = leaving.iter().map(|conversation| conversation.bytes).sum();
    leaving.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    if leaving.len() > MOST {
        remarks.push(format!(
            "the {MOST} largest of {} conversations carry the load of all conversations",
            leaving.len()
        ));
        leaving.truncate(MOST);
    }
    let scale = all / leaving.iter().map(|conversation| conversation.bytes).sum::<f64>();
    let seconds = (last - first).max(1.0) / scale;
    let groups = by_place(network, trial, &leaving);
    let flows = flows(network, trial, groups, seconds)?;
    Ok(Traffic { flows, remarks, ..Traffic::default() })
}

/// Subnets by prefix, for lookups of addresses; one lookup per prefix length.
struct Subnets<'a> {
    known: std::collections::BTreeSet<&'a Subnet>,
    lengths: std::collections::BTreeSet<u8>,
}

impl Subnets<'_> {
    fn new(subnets: &[Subnet]) -> Subnets<'_> {
        Subnets {
            known: subnets.iter().collect(),
            lengths: subnets.iter().map(|subnet| subnet.length).collect(),
        }
    }

    /// Whether any subnet contains the receiver of a conversation.
    fn contain(&self, conversation: &Conversation) -> bool {
        let address = conversation.destination;
        address.is_ipv4()
            && self.lengths.iter().any(|length| self.known.contains(&Subnet::new(address, *length)))
    }
}

fn header_of(conversation: &Conversation) -> Header {
    Header {
        dscp: Some(conversation.dscp.clone()),
        source: Some(conversation.source),
        destination: Some(conversation.destination),
        protocol: Some(conversation.protocol.clone()),
        source_port: conversation.source_port,
        destination_port: conversation.destination_port,
        packet_bytes: None,
    }
}

/// Returns the conversations by class and protocol, in the order of the queues.
fn by_place<'c>(
    network: &Network,
    trial: &mut Trial,
    conversations: &[&'c Conversation],
) -> Vec<(Group, Vec<&'c Conversation>)> {
    let mut groups: Vec<(Group, Vec<&Conversation>)> = Vec::new();
    for conversation in conversations {
        let places = trial.places_of(network, &header_of(conversation));
        let queue = places.iter().find_map(|place| match place {
            Place::Queue(path) => network.place_of(path),
            _ => None,
        });
        let leaf = queue.map(|place| &network.leaves[place]);
        // The conditioner that drops all packets of a class.
        let stage = places.iter().find_map(|place| match place {
            Place::Stage(_, name) => name.rsplit('.').next(),
            Place::Rest => Some("class-default"),
            Place::Queue(_) => None,
        });
        let name = queue.map_or(stage.unwrap_or("none"), |place| &network.names[place]);
        let path = leaf.map_or(String::new(), |leaf| leaf.path.clone());
        let group = (path, name.to_owned(), conversation.protocol.clone());
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push(conversation),
            None => groups.push((group, vec![conversation])),
        }
    }
    groups.sort_by_key(|((queue, _, _), _)| network.place_of(queue).map_or(0, |place| place + 1));
    groups
}

fn flows(
    network: &Network,
    trial: &mut Trial,
    groups: Vec<(Group, Vec<&Conversation>)>,
    seconds: f64,
) -> Result<Vec<Flow>, Failure> {
    let mut ends = Ends::default();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut headers = Vec::new();
    for ((_, name, _), members) in &groups {
        // Each address can be on only one side of the router, so the largest suitable conversation represents
        // all.
        let header = members.iter().map(|member| header_of(member)).find(|header| ends.fits(network, header));
        let header = header.ok_or_else(|| {
            let message = format!(
                "class `{name}`: the file has flows in both directions, so an address \
                                   would be on both sides of the router"
            );
            Failure::invalid(message, "keep the flows of one direction")
        })?;
        ends.add(network, &header);
        headers.push(header);
        *names.entry(name.clone()).or_default() += 1;
    }
    let mut found = Vec::new();
    for (((queue, name, protocol), members), header) in groups.into_iter().zip(headers) {
        let is_several = names[&name] > 1;
        let has_replies = header.is("tcp") && trial.has_replies(network, &header);
        let sent = sent(&name, &header, &members, seconds, has_replies);
        let shown = if is_several { format!("{name} ({protocol})") } else { name.clone() };
        let mut made = entry(&shown, &header, role_of(&name, &header, Service::Ordinary), &sent);
        if is_several {
            made.insert("class".into(), json!(name));
        }
        let rate = 8.0 * members.iter().map(|member| member.bytes).sum::<f64>() / seconds;
        let count = members.iter().map(|member| member.flows[1]).sum();
        let words = format!("{}: {}", counted(count, "flow"), sent.words);
        let queue = Some(queue).filter(|queue| !queue.is_empty());
        found.push(Flow { header, entry: made, queue, offered: [rate_in_words(rate), words], rate });
    }
    Ok(found)
}

fn sent(name: &str, header: &Header, members: &[&Conversation], seconds: f64, has_replies: bool) -> Sending {
    let size: f64 = members.iter().map(|member| member.bytes).sum();
    let rate = 8.0 * size / seconds;
    if has_replies {
        return transfers(rate, size / members.iter().map(|member| member.flows[1]).sum::<u64>() as f64);
    }
    let packets: f64 = members.iter().map(|member| member.packets).sum();
    let packet = (size / packets).round_ties_even().clamp(SHORTEST, LONGEST);
    let kind = match role_of(name, header, Service::Ordinary).kind {
        kind @ (Kind::Constant | Kind::Bursts) => kind,
        _ => Kind::Datagrams,
    };
    sending(kind, rate, packet as u32)
}
