//! `perhop._core`: the only crate that depends on Python.
//!
//! The interface is deliberately small: the input is text and JSON, and the output is a running experiment
//! and columns of numbers. Scenarios and their checks are in `perhop-scenario`; the Python package selects
//! experiments and evaluates results.

mod batch;
mod bounds;
mod bursts;
mod calls;
mod captures;
mod columns;
mod diagnostics;
mod differing;
mod drawing;
mod inferring;
mod live;
#[cfg_attr(not(target_os = "linux"), path = "live_processes_unsupported.rs")]
mod live_processes;
mod loading;
mod memory;
mod network;
mod playback;
mod proving;
mod python_json;
mod rates;
mod router;
mod running;
mod show;
mod switch;
mod threads;
mod tracing;
mod writing;

use perhop_measure::exercise::Exercise;
use perhop_measure::statistics;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the mean and the 95 % confidence interval of the mean of independent samples, by Student's t:
/// `(mean, low, high)`, or `None` for fewer than two samples.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over a new list
fn confidence_95(samples: Vec<f64>) -> Option<(f64, f64, f64)> {
    statistics::confidence_95(&samples).map(|interval| (interval.mean, interval.low, interval.high))
}

/// Judges a scenario and the summary of its run by an exercise. Returns JSON: `met`, `changed`, `conditions`,
/// `goals`.
#[pyfunction]
fn judge(exercise_json: &str, start_json: &str, scenario_json: &str, summary_json: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).map_err(wrong);
    let exercise: Exercise = serde_json::from_str(exercise_json).map_err(wrong)?;
    let judgment = exercise.judge(&value(start_json)?, &value(scenario_json)?, &value(summary_json)?);
    serde_json::to_string(&judgment).map_err(wrong)
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{
        batch::Batch,
        bounds::{bounds, waits},
        bursts::{calls_burst, tcp_burst},
        calls::{codecs, judge_roles, rate_calls, speech_category},
        columns::TableColumns,
        confidence_95,
        differing::{compare_configurations, compare_policies},
        drawing::{drop_curves, envelope, quantity, queue_descriptions},
        inferring::{added_interface, infer_scenario, named_role, require_way},
        judge,
        live::live_plan,
        live_processes::{live_bridge, live_forward, live_host, live_results},
        loading::{
            Loaded, Warnings, cake_tins, check, findings, load, load_json, packet_hops, policies, resolve,
            schema,
        },
        network::{Network, is_device_output},
        playback::Playback,
        proving::prove,
        rates::{class_rates, policers},
        router::{
            check_router, interface_for, is_router_configuration, open_thresholds, platform_rules,
            reading_platform, router_text, rules, unattached_policies,
        },
        running::{Run, start},
        show::{compare_shown, is_counter_output, print_configured, print_show, read_show, shown_links},
        switch::switch_memory,
        tracing::{Device, distinct_packets, moved_packets, reach_queues},
        writing::{policy_differences, write_policies, written_languages},
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
