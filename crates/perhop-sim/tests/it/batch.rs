//! Points of a batch: the same results as single runs, independent of other points.

use std::path::PathBuf;
use std::time::Duration;

use perhop_measure::results::Table;
use perhop_scenario::{Document, Loader};
use perhop_sim::batch::{Batch, BatchPlan, Ended, HalfWidth, Point, Until};
use perhop_sim::{EngineChoice, Progress, RunOptions, run};

fn document() -> Document {
    Document::from_json(serde_json::json!({
        "perhop": 1,
        "name": "overload",
        "duration": "2s",
        "replications": 3,
        "hosts": {"a": {}, "b": {}},
        "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "100Mb/s"},
            {"between": ["r", "b"], "rate": "2Mb/s"},
        ],
        "traffic": [
            {"name": "random", "from": "a", "to": "b",
             "source": {"poisson": {"rate": "2Mb/s", "packet": {"ip": "500B"}}}},
        ],
        "measure": {"warmup": "0s"},
    }))
}

fn plan(until: Option<Until>) -> BatchPlan {
    BatchPlan {
        document: document(),
        base: PathBuf::new(),
        loader: Loader::default(),
        seed: Some(7),
        replications: None,
        until,
        tables: vec!["classes".to_owned(), "ports".to_owned()],
    }
}

fn point(number: u64, changes: &[(&str, &str)]) -> Point {
    let changes = changes.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Point { number, changes }
}

/// All points, by number.
fn ended(plan: BatchPlan, threads: usize, points: Vec<Point>) -> Vec<Ended> {
    let batch = Batch::new(plan, threads).unwrap();
    batch.submit(points, f64::INFINITY);
    let mut found = Vec::new();
    while batch.unfinished() > 0 {
        found.extend(batch.take(Duration::from_millis(20)));
    }
    found.extend(batch.take(Duration::ZERO));
    found.sort_by_key(|outcome| outcome.number);
    found
}

fn shown(tables: &[Table]) -> String {
    format!("{tables:?}")
}

#[test]
fn a_point_is_a_run_by_itself() {
    let rates = ["1Mb/s", "2Mb/s", "3Mb/s"];
    let points: Vec<Point> =
        (0..).zip(rates).map(|(number, rate)| point(number, &[("links.1.rate", rate)])).collect();
    for threads in [1, 2, 5] {
        let found = ended(plan(None), threads, points.clone());
        assert_eq!(found.len(), 3);
        for (one, rate) in found.iter().zip(rates) {
            let mut document = document();
            document.set("links.1.rate", rate).unwrap();
            let loaded = Loader::default().load_document(&document, PathBuf::new()).unwrap();
            let options = RunOptions { seed: 7, replications: 3, threads: 1, engine: EngineChoice::Fast };
            let alone = run(&loaded.resolved, &loaded.base, &options, &Progress::new()).unwrap();
            let kept: Vec<Table> =
                alone.tables.into_iter().filter(|table| ["classes", "ports"].contains(&table.name)).collect();
            let outcome = one.outcome.as_ref().unwrap();
            assert_eq!(outcome.replications, 3);
            assert_eq!(shown(&outcome.tables), shown(&kept));
        }
    }
}

#[test]
fn a_failed_point_has_a_reason_and_does_not_stop_others() {
    let points = vec![
        point(0, &[("links.1.rate", "1Mb/s")]),
        point(1, &[("links.1.rate", "-1")]),
        point(2, &[("nothing.here", "1")]),
        point(3, &[("links.1.rate", "2Mb/s")]),
    ];
    let found = ended(plan(None), 2, points);
    let failed: Vec<bool> = found.iter().map(|outcome| outcome.outcome.is_err()).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert!(found[1].outcome.as_ref().unwrap_err().contains("links.1.rate"));
    assert!(found[2].outcome.as_ref().unwrap_err().contains("nothing"));
}

#[test]
fn a_stop_rule_ends_at_the_same_replication_by_any_number_of_threads() {
    let until = |most| Until {
        class: "random".to_owned(),
        column: "throughput_bps".to_owned(),
        half_width: HalfWidth::Relative(0.01),
        most,
    };
    let counts = |threads, most| -> Vec<u32> {
        let points = (0..3).map(|number| point(number, &[("seed", "1")])).collect();
        let found = ended(plan(Some(until(most))), threads, points);
        found.iter().map(|outcome| outcome.outcome.as_ref().unwrap().replications).collect()
    };
    let alone = counts(1, 200);
    assert!(alone[0] > 3 && alone[0] < 200, "{alone:?}");
    assert_eq!(counts(4, 200), alone);
    assert_eq!(counts(2, 4), [4, 4, 4]);
}

#[test]
fn a_cancelled_batch_starts_no_further_points() {
    let batch = Batch::new(plan(None), 1).unwrap();
    let points = (0..1000).map(|number| point(number, &[("duration", "100s")])).collect();
    batch.submit(points, f64::INFINITY);
    batch.cancel();
    assert!(batch.take(Duration::from_secs(30)).len() < 10);
    assert_eq!(batch.unfinished(), 0);
}

#[test]
fn runs_above_the_memory_limit_are_refused() {
    let batch = Batch::new(plan(None), 1).unwrap();
    batch.submit(vec![point(0, &[])], 1000.0);
    let found = batch.take(Duration::from_secs(30));
    assert!(found[0].outcome.as_ref().unwrap_err().contains("of memory"));
}
