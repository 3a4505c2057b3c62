//! Tests that bound the work of path searches. The tests count visited links instead of time, so the results
//! do not depend on the machine.

use perhop_scenario::Scenario;
use perhop_scenario::topology::Topology;
use serde_json::{Map, Value, json};

/// Returns a scenario with these nodes and links.
fn scenario(hosts: &[String], routers: &[String], links: &[[String; 2]]) -> Scenario {
    let nodes = |names: &[String]| names.iter().map(|name| (name.clone(), json!({}))).collect::<Map<_, _>>();
    let links: Vec<Value> = links.iter().map(|ends| json!({"between": ends, "rate": "1Mb/s"})).collect();
    let (hosts, routers) = (nodes(hosts), nodes(routers));
    let value = json!({
        "perhop": 1, "name": "", "duration": "1s", "hosts": hosts, "routers": routers, "links": links,
        "traffic": [],
    });
    serde_json::from_value(value).unwrap()
}

/// Returns the number of links visited to find the paths from every host to the next one.
fn looks(scenario: &Scenario) -> u64 {
    let mut topology = Topology::new(scenario).unwrap();
    let names: Vec<&String> = scenario.hosts.keys().collect();
    for (from, to) in names.iter().zip(names.iter().cycle().skip(1)) {
        assert!(topology.path(from, to).unwrap().is_some_and(|path| path.len() <= 4), "{from} to {to}");
    }
    topology.looks()
}

fn names(kind: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{kind}{n}")).collect()
}

/// All paths of a star pass one router, so one search is sufficient.
#[test]
fn a_star_takes_at_most_one_visit_of_each_link() {
    let star = |count: usize| {
        let hosts = names("h", count);
        let links: Vec<[String; 2]> = hosts.iter().map(|host| [host.clone(), "hub".into()]).collect();
        looks(&scenario(&hosts, &["hub".to_owned()], &links))
    };
    assert!(star(1_000) <= 1_000, "{}", star(1_000));
}

/// Each router with hosts needs one search, which visits both ends of a link at most once.
#[test]
fn a_full_mesh_takes_a_search_for_each_router() {
    let mesh = |count: usize| {
        let (hosts, routers) = (names("h", count), names("r", count));
        let mut links: Vec<[String; 2]> =
            hosts.iter().zip(&routers).map(|(host, router)| [host.clone(), router.clone()]).collect();
        for (place, router) in routers.iter().enumerate() {
            links.extend(routers[..place].iter().map(|other| [router.clone(), other.clone()]));
        }
        (looks(&scenario(&hosts, &routers, &links)), (count * 2 * links.len()) as u64)
    };
    let (looked, bound) = mesh(40);
    assert!(0 < looked && looked <= bound, "{looked} looks, and not {bound}");
}
