//! A network divided into parts has the same results as a run on one thread, for any number of threads.

use crate::shortcuts::{POLICIES, Way, chain, policies_of_a_port};
use crate::shortcuts_tcp::{Network, QUEUEING, first_difference, flows, tables};
use crate::simulation::{ONCE, simulate, simulate_observed};
use perhop_sim::{Divided, EngineChoice, RunOptions, Undivided};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Fewer threads than parts, the same number, and more threads than processors.
const THREADS: [usize; 4] = [1, 2, 3, 16];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn datagrams_cross_borders(
        sources in prop::collection::vec((0u8..3, 100_000u64..1_500_000, 100u64..1500), 1..9),
        policies in [0..POLICIES, 0..POLICIES],
        loss in prop::sample::select(vec![0.0, 0.03]),
        seed in any::<u64>(),
    ) {
        let all = policies_of_a_port();
        let queueing = policies.map(|policy| &all[policy]);
        let by = |way| chain(&sources, queueing, loss, [65_535; 3], way, seed);
        let [one, probed] = [by(Way::Fast), by(Way::FastProbed)];
        for threads in THREADS {
            prop_assert_eq!(&one, &by(Way::Parallel(threads)), "{} threads", threads);
            prop_assert_eq!(&probed, &by(Way::ParallelProbed(threads)), "{} threads, probes", threads);
        }
    }

    #[test]
    fn sessions_cross_borders(
        flows in flows(),
        queueing in 0..QUEUEING,
        loss in prop::sample::select(vec![0.0, 0.0, 0.02]),
        delays in prop::sample::select(vec![[20_000, 1_000], [500, 0], [0, 3_000], [500, 40_000]]),
        udp in any::<bool>(),
        warmup in any::<bool>(),
        edges in any::<bool>(),
        shortcuts in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let network = Network { queueing, loss, delays, udp, warmup, edges, shortcuts, mtus: [65_535; 2] };
        let one = tables(&flows, &network, RunOptions { seed, ..ONCE });
        for threads in THREADS {
            let options = RunOptions { seed, threads, engine: EngineChoice::Parallel, ..ONCE };
            let found = tables(&flows, &network, options);
            prop_assert_eq!(first_difference(&found, &one), None, "{} threads", threads);
        }
    }
}

/// A ring of routers with a host on each. Each host sends to the opposite host.
fn ring(routers: usize, source: &Value) -> Value {
    let (mut links, mut traffic) = (Vec::new(), Vec::new());
    for router in 0..routers {
        let next = (router + 1) % routers;
        let names = [format!("r{router}"), format!("r{next}")];
        links.push(json!({"between": names, "rate": "10Mb/s", "delay": "2ms"}));
        links.push(json!({"between": [format!("h{router}"), names[0]], "rate": "10Mb/s", "delay": "1ms"}));
        let to = format!("h{}", (router + routers / 2) % routers);
        traffic.push(json!({"name": format!("flow{router}"), "from": format!("h{router}"), "to": to,
                            "start-within": "10ms", "source": source}));
    }
    let nodes = |kind: &str| -> serde_json::Map<String, Value> {
        (0..routers).map(|number| (format!("{kind}{number}"), json!({}))).collect()
    };
    json!({"perhop": 1, "name": "ring", "duration": "1s", "hosts": nodes("h"), "routers": nodes("r"),
           "links": links, "traffic": traffic, "measure": {"warmup": "100ms", "throughput-every": "50ms"}})
}

fn poisson() -> Value {
    json!({"poisson": {"rate": "1Mb/s", "packet": {"ip": "200B"}}})
}

/// The counts of a run on three threads, or the reason why the run had one part; `None` for the plain engine.
fn division(scenario: &Value, engine: EngineChoice) -> Option<Result<Divided, Undivided>> {
    let (_, progress) = simulate_observed(scenario, RunOptions { threads: 3, engine, ..ONCE });
    assert_eq!(progress.fraction(), 1.0, "all simulated time is reported");
    progress.division()
}

#[test]
fn sixty_four_threads_agree_with_one() {
    let scenario = ring(24, &poisson());
    let tables =
        |threads, engine| format!("{:?}", simulate(&scenario, RunOptions { threads, engine, ..ONCE }).tables);
    let one = tables(1, EngineChoice::Fast);
    assert!(one == tables(64, EngineChoice::Parallel) && one == tables(64, EngineChoice::Plain));
}

#[test]
fn a_network_with_delays_is_divided() {
    let found = division(&ring(12, &poisson()), EngineChoice::Parallel).unwrap().unwrap();
    let Divided { parts, rounds, work, span } = found;
    assert!((2..=24).contains(&parts), "{found:?} for 3 threads");
    // Packets go in both directions over borders of 2 ms.
    assert!((400..=500).contains(&rounds), "{found:?}: rounds of a second");
    assert!(span < work && work <= span * parts as u64, "{found:?}");
    let bulk = json!({"bulk": {"tcp": {"profile": "linux-6"}}});
    assert!(division(&ring(12, &bulk), EngineChoice::Parallel).unwrap().unwrap().parts >= 2, "TCP");
}

#[test]
fn a_short_run_is_not_divided() {
    assert_eq!(
        division(
            &ring(12, &json!({"cbr": {"rate": "8kb/s", "packet": {"ip": "1000B"}}})),
            EngineChoice::Fast
        ),
        None
    );
}

#[test]
fn a_network_without_delays_has_one_part() {
    let mut scenario = ring(4, &poisson());
    for link in scenario["links"].as_array_mut().unwrap() {
        link["delay"] = json!("0s");
    }
    assert_eq!(division(&scenario, EngineChoice::Parallel), Some(Err(Undivided::NoBorder)));
}

#[test]
fn fragments_keep_a_network_in_one_part() {
    let mut scenario = ring(4, &poisson());
    scenario["links"][0]["mtu"] = json!("150B");
    assert_eq!(division(&scenario, EngineChoice::Parallel), Some(Err(Undivided::Fragments)));
}
