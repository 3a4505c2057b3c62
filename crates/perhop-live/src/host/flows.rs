//! [`Flows`]: assignment of real packets to flows of the scenario. Packets are assigned by addresses and
//! ports, so each flow needs a unique five-tuple. If the five-tuple of a flow is already in use, the flow
//! uses the next free source port. A session with many connections has its own range of ports.

use std::collections::BTreeMap;

use perhop_measure::{FlowId, flows};
use perhop_qos::packet::{Address, FlowKey, Protocol};
use perhop_scenario::Scenario;
use perhop_scenario::plan::{Connections, Plan};

/// The ports for all connections of a session except the first one. They are below the default ports of
/// scenarios and above the well-known ports.
const FIRST_PORT: u16 = 16_384;
const PORTS: u16 = 32_768;

/// The flows of a scenario by five-tuple.
#[derive(Clone, Debug)]
pub struct Flows {
    ids: Vec<FlowId>,
    by_key: BTreeMap<FlowKey, usize>,
    /// Client flows of sessions with many connections, by the client's address.
    blocks: BTreeMap<Address, Vec<usize>>,
}

impl Flows {
    /// The flows of `scenario`, in the order of [`flows`].
    pub fn new(scenario: &Scenario) -> Flows {
        let mut ids = flows(scenario);
        let mut by_key = BTreeMap::new();
        let mut blocks: BTreeMap<Address, Vec<usize>> = BTreeMap::new();
        for flow in 0..ids.len() {
            if ids[flow].answers {
                ids[flow].key = ids[flow - 1].key.reversed();
            } else {
                while by_key.contains_key(&ids[flow].key) {
                    ids[flow].key.source_port = ids[flow].key.source_port.wrapping_add(1).max(1);
                }
                let plan = Plan::for_source(&scenario.traffic[ids[flow].traffic].source);
                if plan.is_some_and(|(plan, _)| plan.connections == Connections::PerTransaction) {
                    blocks.entry(ids[flow].key.source).or_default().push(flow);
                }
            }
            by_key.insert(ids[flow].key, flow);
        }
        Flows { ids, by_key, blocks }
    }
    /// All flows.
    pub fn ids(&self) -> &[FlowId] {
        &self.ids
    }
    /// The flow of packets with these addresses and ports.
    pub fn find(&self, key: &FlowKey) -> Option<usize> {
        self.by_key.get(key).copied().or_else(|| {
            if key.protocol != Protocol::TCP {
                return None;
            }
            let there = self.in_block(key);
            there.or_else(|| self.in_block(&key.reversed()).map(|flow| flow + 1))
        })
    }
    /// The client's flow of a packet, if the connections of its session use a range of ports.
    fn in_block(&self, key: &FlowKey) -> Option<usize> {
        let sessions = self.blocks.get(&key.source)?;
        let place = usize::from(key.source_port.checked_sub(FIRST_PORT)?) / block(sessions);
        let flow = *sessions.get(place)?;
        let own = &self.ids[flow].key;
        let matches = own.destination == key.destination && own.destination_port == key.destination_port;
        matches.then_some(flow)
    }
    /// The source port for connection `number` of the session with client flow `flow`. `attempt` counts the
    /// attempts to find a free port.
    pub fn port(&self, flow: usize, number: u32, attempt: u32) -> u16 {
        let key = &self.ids[flow].key;
        let sessions = self.blocks.get(&key.source);
        let place = sessions.and_then(|sessions| sessions.iter().position(|session| *session == flow));
        match (place, number + attempt) {
            (None, _) | (_, 0) => key.source_port,
            (Some(place), next) => {
                let block = block(sessions.map_or(&[], Vec::as_slice));
                FIRST_PORT + (place * block + (next as usize - 1) % block) as u16
            }
        }
    }
}

/// Number of ports for each of `sessions`.
fn block(sessions: &[usize]) -> usize {
    (usize::from(PORTS) / sessions.len().max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(traffic: &str) -> Scenario {
        let text = format!(
            "{{\"perhop\": 1, \"name\": \"t\", \"duration\": \"1s\", \"hosts\": {{\"a\": {{}}, \"b\": {{}}}},
              \"links\": [{{\"between\": [\"a\", \"b\"], \"rate\": \"1Mb/s\"}}], \"traffic\": {traffic}}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn similar_flows_get_distinct_ports() {
        let cbr = r#"{"name": "N", "from": "a", "to": "b", "count": 2,
            "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "100B"}}}}"#;
        let flows = Flows::new(&scenario(&format!("[{}, {}]", cbr.replace('N', "x"), cbr.replace('N', "y"))));
        let ports: Vec<u16> = flows.ids().iter().map(|flow| flow.key.source_port).collect();
        assert_eq!(ports, [49152, 49153, 49154, 49155]);
        for (place, flow) in flows.ids().iter().enumerate() {
            assert_eq!(flows.find(&flow.key), Some(place));
        }
    }

    #[test]
    fn connections_have_ports_of_their_sessions_range() {
        let web = r#"[{"name": "w", "from": "a", "to": "b", "count": 3,
            "source": {"web": {"tcp": {"profile": "linux-modern"}, "mean-gap": "1s", "mean-size": "10kB"}}}]"#;
        let flows = Flows::new(&scenario(web));
        assert_eq!(flows.ids().len(), 6);
        for (session, number) in [(0, 0), (0, 1), (1, 7), (2, 10_921), (2, 10_922), (2, 30_000)] {
            let flow = 2 * session;
            let key = flows.ids()[flow].key;
            let key = FlowKey { source_port: flows.port(flow, number, 0), ..key };
            assert_eq!(flows.find(&key), Some(flow), "connection {number} of session {session}");
            assert_eq!(flows.find(&key.reversed()), Some(flow + 1));
        }
        assert_eq!(flows.find(&FlowKey { source_port: 80, ..flows.ids()[0].key }), None);
    }
}
