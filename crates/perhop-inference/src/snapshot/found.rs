//! [`Found`]: the traffic of a network, while it is collected.

use std::collections::BTreeSet;

use perhop_network::snapshot::{NotRun, Site};
use serde::Serialize;

use super::site_flow::{Routed, SiteFlow, Unrouted, Walked};

/// Traffic that the scenario omits.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutTraffic {
    /// The site that sends.
    pub from: String,
    /// The site that receives.
    pub to: String,
    /// The class; `None` for all classes.
    pub class: Option<String>,
    /// Whether the reason is the path of the replies.
    pub is_reply: bool,
    /// The reason.
    #[serde(flatten)]
    pub why: NotRun,
}

/// The traffic of a network, while it is collected.
#[derive(Default)]
pub(super) struct Found {
    pub(super) routed: Vec<Routed>,
    pub(super) left_out: Vec<LeftOutTraffic>,
    pub(super) missing: BTreeSet<String>,
    pub(super) assumed: BTreeSet<String>,
    pub(super) not_modeled: BTreeSet<String>,
}

impl Found {
    /// Returns the traffic that can run, and records other traffic.
    pub(super) fn take(&mut self, walked: Walked, sites: &[Site]) -> Option<Routed> {
        self.assumed.extend(walked.assumed);
        self.not_modeled.extend(walked.not_looked_at);
        match walked.routed {
            Ok(routed) => Some(routed),
            Err(unrouted) => {
                let Unrouted { site_flow, why, is_reply } = *unrouted;
                let class = Some(site_flow.class.clone());
                self.left_out.push(left_out(&site_flow, sites, class, why, is_reply));
                None
            }
        }
    }
}

/// Returns the record of omitted traffic.
pub(super) fn left_out(
    site_flow: &SiteFlow,
    sites: &[Site],
    class: Option<String>,
    why: NotRun,
    is_reply: bool,
) -> LeftOutTraffic {
    let [from, to] = [site_flow.from, site_flow.to].map(|site| sites[site].name.clone());
    LeftOutTraffic { from, to, class, is_reply, why }
}
