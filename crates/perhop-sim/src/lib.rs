//! The discrete-event simulator around `perhop-qos`: agenda, links, hosts, sources, probes, scenarios.

pub mod scenario;
