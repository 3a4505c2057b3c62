//! `show ip route`, with or without `vrf NAME`. Source of the layout: Cisco, "Reading and understanding the
//! routing table". A route has codes, a prefix, and `[distance/metric] via` a next hop or
//! `is directly connected`. Further next hops are on separate lines. Below `172.16.0.0/24 is subnetted`,
//! prefixes have no length.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::{DeviceTables, Route, RouteOrigin, RouteTarget, ShownTable};
use perhop_qos::classifier::Prefix;

use super::names::full_name;

/// Limit on the codes before a prefix: `O E2`, `i*L1`, `S* %`.
const MOST_CODES: usize = 3;
/// The number of bits of an IPv4 address.
const BITS: u8 = 32;

/// The routes of one output.
#[derive(Default)]
pub(super) struct Routes {
    vrf: Option<String>,
    table: ShownTable,
    /// Whether the legend or the gateway of last resort was seen. Earlier lines are not routes.
    has_begun: bool,
    /// Whether the command selects only some routes of the table.
    is_part: bool,
    /// The prefix length in the last line `is subnetted`.
    length: Option<u8>,
    /// The prefix whose next hops are on the next lines.
    open: Option<Prefix>,
}

impl Routes {
    /// Begins the output of a command, which may name a VRF.
    pub(super) fn begin(&mut self, command: &str) {
        let mut words = command.split_whitespace().skip(1).skip_while(|word| !is_short_for(word, "route"));
        words.next();
        match (words.next(), words.next(), words.next()) {
            (Some("vrf"), Some(vrf), rest) => {
                self.vrf = Some(vrf.to_owned());
                self.is_part = rest.is_some();
            }
            (first, ..) => self.is_part = first.is_some(),
        }
    }

    /// Ends the output and adds its routes.
    pub(super) fn ended(self, found: &mut DeviceTables) -> Routes {
        let mut table = self.table;
        if self.is_part {
            table.connected.clear();
        }
        if !table.routes.is_empty() || !table.connected.is_empty() {
            let own = found.routes.entry(self.vrf).or_default();
            own.routes.append(&mut table.routes);
            own.connected.append(&mut table.connected);
        }
        Routes::default()
    }

    /// Reads a line.
    pub(super) fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Routing", "Table:", vrf, ..] => {
                self.vrf = Some((*vrf).to_owned());
                self.has_begun = true;
            }
            ["Gateway", "of", "last", "resort", ..] | ["Codes:", ..] => self.has_begun = true,
            [] => self.open = None,
            [prefix, "is", "subnetted,", ..] => self.length = length_of(prefix),
            [_, "is", "variably", ..] => self.length = None,
            _ if self.has_begun => self.entry(line, &words),
            _ => {}
        }
    }

    fn entry(&mut self, line: &str, words: &[&str]) {
        if words[0].starts_with('[') {
            if let Some(prefix) = self.open {
                self.add(prefix, "", words);
            }
            return;
        }
        let is_code = |word: &&&str| !word.starts_with(|first: char| first.is_ascii_digit());
        let codes = words.iter().take_while(is_code).count();
        let begins = line.starts_with(|first: char| first.is_ascii_alphabetic());
        let Some(written) = words.get(codes).filter(|_| begins && codes > 0 && codes <= MOST_CODES) else {
            return;
        };
        let Some(prefix) = self.prefix(written) else { return };
        self.open = Some(prefix);
        self.add(prefix, words[0], &words[codes + 1..]);
    }

    fn prefix(&self, written: &str) -> Option<Prefix> {
        let (address, length) = match written.split_once('/') {
            Some((address, length)) => (address, length.parse().ok()),
            None => (written, self.length),
        };
        let address: Ipv4Addr = address.parse().ok()?;
        Prefix::new(address.into(), length.or_else(|| classful(address))?).ok()
    }

    /// Adds the route of a line, from the words after its prefix.
    fn add(&mut self, prefix: Prefix, code: &str, words: &[&str]) {
        let via = match words {
            ["is", "directly", "connected,", rest @ ..] => match code {
                "C" => return self.table.connected.push(prefix),
                "L" => return,
                _ => rest.last().map(|name| to_interface(name, None)),
            },
            [_, "via", next_hop, rest @ ..] => next_hop_of(next_hop, rest),
            // Such a line adds no route: the next hop is on the next line, or the route is in hold-down.
            [] | [_] | ["is", "possibly", "down,", ..] => return,
            // The route leads to an interface: `is a summary, 00:12:00, Null0`, `[5/0], 2d20h, Null0`.
            [_, .., name] => Some(to_interface(name, None)),
        };
        let Some(via) = via else { return };
        let distance = words[0].trim_start_matches('[').split('/').next().and_then(|word| word.parse().ok());
        self.table.routes.push(Route {
            line: 0,
            vrf: self.vrf.clone(),
            prefix,
            via,
            distance: distance.unwrap_or(0),
            is_conditional: false,
            origin: RouteOrigin::Given,
        });
    }
}

/// Returns the target after `via`: a next hop, then optionally the age of the route and an interface.
fn next_hop_of(written: &str, rest: &[&str]) -> Option<RouteTarget> {
    let next_hop: IpAddr = written.trim_end_matches(',').parse().ok()?;
    // The age begins with a digit, the table of the next hop with a parenthesis.
    let interface = rest.last().filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()));
    Some(interface.map_or(RouteTarget::NextHop(next_hop), |name| to_interface(name, Some(next_hop))))
}

fn to_interface(written: &str, next_hop: Option<IpAddr>) -> RouteTarget {
    let name = full_name(written);
    if name.starts_with("Null") {
        RouteTarget::Discard
    } else {
        RouteTarget::Interface { name: name.into(), next_hop }
    }
}

fn length_of(prefix: &str) -> Option<u8> {
    prefix.split_once('/')?.1.parse().ok()
}

/// Returns the prefix length of the class of an address, which releases before 12.0 do not print.
fn classful(address: Ipv4Addr) -> Option<u8> {
    match address.octets()[0] {
        0..=127 => Some(8),
        128..=191 => Some(16),
        192..=223 => Some(24),
        _ => None,
    }
    .map(|length: u8| length.min(BITS))
}

fn is_short_for(word: &str, whole: &str) -> bool {
    word.len() >= 2 && whole.starts_with(word)
}

#[cfg(test)]
mod tests {
    use perhop_device::RouteTarget;

    use crate::tables::read;

    const OUTPUT: &str = "\
R1#show ip route vrf RED
Routing Table: RED
Codes: L - local, C - connected, S - static, R - RIP, M - mobile, B - BGP
       D - EIGRP, EX - EIGRP external, O - OSPF, IA - OSPF inter area

Gateway of last resort is 192.0.2.6 to network 0.0.0.0

O*E2  0.0.0.0/0 [110/1] via 192.0.2.6, 00:01:02, GigabitEthernet0/0
      10.0.0.0/8 is variably subnetted, 3 subnets, 2 masks
C        10.1.0.0/24 is directly connected, GigabitEthernet0/1
L        10.1.0.1/32 is directly connected, GigabitEthernet0/1
B        10.2.0.0/24 [200/0] via 203.0.113.4 (default), 1d02h
D EX     10.3.0.0/16
           [170/3072] via 192.0.2.6, 2w3d, GigabitEthernet0/0
           [170/3072] via 192.0.2.10, 2w3d, GigabitEthernet0/2
      172.16.0.0/24 is subnetted, 2 subnets
O IA     172.16.5.0 [110/65] via 192.0.2.6, 00:01:02, Gi0/0
S        172.16.6.0 is directly connected, Null0
D        172.17.0.0/16 is a summary, 00:12:00, Null0
";

    #[test]
    fn routes_have_their_prefixes_and_next_hops() {
        let tables = read(OUTPUT);
        assert_eq!(tables.device.as_deref(), Some("R1"));
        let red = &tables.routes[&Some("RED".to_owned())];
        assert_eq!(red.connected.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.1.0.0/24"]);
        let written: Vec<String> = red
            .routes
            .iter()
            .map(|route| {
                let via = match &route.via {
                    RouteTarget::NextHop(hop) => hop.to_string(),
                    RouteTarget::Interface { name, next_hop } => format!("{name} {}", next_hop.unwrap()),
                    other => format!("{other:?}"),
                };
                format!("{} [{}] {via}", route.prefix, route.distance)
            })
            .collect();
        assert_eq!(
            written,
            [
                "0.0.0.0/0 [110] GigabitEthernet0/0 192.0.2.6",
                "10.2.0.0/24 [200] 203.0.113.4",
                "10.3.0.0/16 [170] GigabitEthernet0/0 192.0.2.6",
                "10.3.0.0/16 [170] GigabitEthernet0/2 192.0.2.10",
                "172.16.5.0/24 [110] GigabitEthernet0/0 192.0.2.6",
                "172.16.6.0/24 [0] Discard",
                "172.17.0.0/16 [0] Discard",
            ]
        );
    }

    #[test]
    fn a_partial_table_lacks_connected_routes() {
        let tables = read(&OUTPUT.replace("vrf RED", "vrf RED ospf"));
        assert!(tables.routes[&Some("RED".to_owned())].connected.is_empty());
    }
}
