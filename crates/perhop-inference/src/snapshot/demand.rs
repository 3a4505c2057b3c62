//! [`Demand`]: a line of the user's matrix of traffic between sites.

use perhop_network::snapshot::Site;
use perhop_qos::Dscp;
use serde::{Deserialize, Serialize};

use super::site_flow::SiteFlow;
use crate::failure::Failure;
use crate::header::Header;
use crate::role::{Kind, Service, role_by_name, role_of};
use crate::sources::sending;
use crate::traffic::{DATAGRAM, entry, suited};
use crate::words::similar;

/// Maximum number of sites that a message names.
const NAMED: usize = 8;

/// Traffic from one site to another.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// The site that sends.
    pub from: String,
    /// The site that receives.
    pub to: String,
    /// The class: a codepoint, or a name.
    pub class: String,
    /// The codepoint; `None` for the codepoint of the class.
    pub dscp: Option<String>,
    /// The offered rate, bits per second.
    pub rate: f64,
    /// IP bytes of a packet; `None` for the usual size of the class.
    pub packet_bytes: Option<u32>,
    /// The kind of traffic; `None` for the kind of the class.
    pub kind: Option<Kind>,
    /// The protocol; `None` for UDP or TCP by the kind.
    pub protocol: Option<String>,
    /// The destination port; `None` for a port of no known application.
    pub port: Option<u16>,
    /// The source port; `None` for a port of no known application.
    pub source_port: Option<u16>,
}

impl Demand {
    /// Returns the demand that describes a flow.
    pub(super) fn from_site_flow(site_flow: &SiteFlow, sites: &[Site]) -> Demand {
        let [from, to] = [site_flow.from, site_flow.to].map(|site| sites[site].name.clone());
        Demand {
            from,
            to,
            class: site_flow.class.clone(),
            dscp: Some(site_flow.header.dscp.clone().unwrap_or_else(|| Dscp::default().to_string())),
            rate: site_flow.rate,
            packet_bytes: (!site_flow.is_tcp()).then_some(site_flow.packet_bytes),
            kind: Some(site_flow.kind),
            protocol: site_flow.header.protocol.clone(),
            port: site_flow.header.destination_port,
            source_port: site_flow.header.source_port,
        }
    }
}

/// Returns the flows of a matrix.
pub(super) fn site_flows(demands: &[Demand], sites: &[Site]) -> Result<Vec<SiteFlow>, Failure> {
    let mut found: Vec<SiteFlow> = Vec::new();
    for (row, demand) in demands.iter().enumerate() {
        let mut site_flow = site_flow(row, demand, sites)?;
        let is_same = |known: &&SiteFlow| (known.from, known.to) == (site_flow.from, site_flow.to);
        let others: Vec<&SiteFlow> = found.iter().filter(is_same).collect();
        if others.iter().any(|other| other.class == site_flow.class) {
            let message =
                format!("`{}` from `{}` to `{}` appears twice", demand.class, demand.from, demand.to);
            return Err(Failure::of_row(row, message, "write one line for each class of a pair"));
        }
        site_flow.number = others.len();
        found.push(site_flow);
    }
    Ok(found)
}

fn site_flow(row: usize, demand: &Demand, sites: &[Site]) -> Result<SiteFlow, Failure> {
    let place = |name: &str| {
        let names = || sites.iter().map(|site| site.name.as_str());
        let missing = || {
            let known = similar(name, names(), NAMED).join(", ");
            Failure::of_row(row, format!("there is no site `{name}`"), format!("sites: {known}"))
        };
        names().position(|known| known == name).ok_or_else(missing)
    };
    let [from, to] = [place(&demand.from)?, place(&demand.to)?];
    if from == to {
        return Err(Failure::of_row(row, "`from` and `to` are the same site", "name two sites"));
    }
    if sites[from].address.is_ipv4() != sites[to].address.is_ipv4() {
        return Err(Failure::of_row(
            row,
            "one site has IPv4 and the other IPv6",
            "name two sites with the same IP version",
        ));
    }
    let protocol = demand.protocol.clone();
    let header = Header {
        dscp: Some(codepoint(row, demand)?),
        protocol,
        destination_port: demand.port,
        source_port: demand.source_port,
        ..Header::default()
    };
    let role = role_of(&demand.class, &header, Service::Ordinary);
    let kind = match demand.kind {
        Some(kind) => kind,
        // Greedy TCP would exceed the rate of the demand.
        None if role.kind == Kind::Greedy => Kind::Transfers,
        None => role.kind,
    };
    let is_tcp = header.protocol.is_none() && matches!(kind, Kind::Transfers | Kind::Greedy);
    let header = if is_tcp { Header { protocol: Some("tcp".to_owned()), ..header } } else { header };
    let kind = suited(kind, &header, true);
    let usual = if kind == role.kind { role.packet_bytes } else { DATAGRAM };
    let packet_bytes = demand.packet_bytes.unwrap_or(usual);
    let keys = entry(&demand.class, &header, role, &sending(kind, demand.rate, packet_bytes));
    let class = demand.class.clone();
    Ok(SiteFlow { from, to, class, header, kind, packet_bytes, rate: demand.rate, keys, number: 0 })
}

/// Returns the codepoint of a line: its own, the codepoint that names its class, or the codepoint of the
/// class's role.
fn codepoint(row: usize, demand: &Demand) -> Result<String, Failure> {
    let of_class = || {
        let class = demand.class.to_lowercase();
        let own = class.parse::<Dscp>().ok().map(|_| class);
        own.or_else(|| role_by_name(&demand.class).map(|(_, _, dscp)| dscp.to_owned()))
    };
    let help = "add the column dscp, for example ef, af31 or 46";
    match &demand.dscp {
        Some(dscp) => match dscp.parse::<Dscp>() {
            Ok(_) => Ok(dscp.clone()),
            Err(_) => Err(Failure::of_row(row, format!("`{dscp}` is not a codepoint"), help)),
        },
        None => of_class().ok_or_else(|| {
            Failure::of_row(row, format!("the codepoint of class `{}` is not known", demand.class), help)
        }),
    }
}
