//! [`Ask`]: the requests of the page.

use std::collections::BTreeMap;

use perhop_inference::LoadLevel;
use perhop_measure::exercise::Exercise;
use perhop_measure::places::Place;
use perhop_scenario::Codec;
use serde::Deserialize;

/// A request of the page.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The version of the engine, and the JSON Schema of scenarios.
    About,
    /// The diagnostics of a text, a scenario or a router configuration.
    Check {
        /// The scenario or the router configuration to check.
        text: String,
    },
    /// The scenario inferred from a router configuration.
    Around(Around),
    /// The start of a run.
    Start {
        /// A scenario as YAML or JSON.
        text: String,
        /// Seed of every random stream; by default the scenario's seed.
        seed: Option<u64>,
        /// Number of intervals of the measured time in charts.
        intervals: u32,
    },
    /// The next step of the run.
    Advance {
        /// The end of the step as a fraction of the run, 0 to 1.
        fraction: f64,
    },
    /// The end of the run, and its summary.
    Finish,
    /// A table of the completed run, as CSV.
    Table {
        /// Name of the table in results.
        name: String,
    },
    /// The judgment of the completed run by the goals of an exercise.
    Judge {
        /// The exercise.
        exercise: Exercise,
        /// The scenario that the exercise starts from.
        start: String,
        /// The scenario of the run.
        text: String,
    },
    /// The bounds that the scenario of the run guarantees to queues and classes.
    Bounds,
    /// The ratings of calls through the classes of the completed run (ITU-T G.107), and whether each class is
    /// fit for its role.
    Calls {
        /// The speech coder for classes without their own calls.
        codec: Codec,
        /// The queues of classes in an inferred scenario, as `around` returns them.
        #[serde(default)]
        queues: BTreeMap<String, Place>,
    },
    /// The fates of the packets at a port in a span of the run.
    Packets {
        /// Number of the port.
        port: usize,
        /// The start of the span, seconds.
        from: f64,
        /// The end of the span, seconds.
        until: f64,
        /// Number of packets after which the span ends early.
        enough: usize,
    },
    /// The packet memory of a port, with all ports that share it, in a span of the run.
    Memory {
        /// Number of the port.
        port: usize,
        /// The start of the span, seconds.
        from: f64,
        /// The end of the span, seconds.
        until: f64,
        /// Number of samples.
        samples: u32,
    },
}

/// A configuration from which a scenario is inferred, and the choices of the user.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Around {
    /// The configuration.
    pub text: String,
    /// The output interface; by default the interface whose policy has most classes.
    pub interface: Option<String>,
    /// The line rate of the interface; by default the rate in the configuration.
    pub rate: Option<String>,
    /// Size of the tx-ring, packets; by default the size in the configuration.
    pub ring: Option<u32>,
    /// The offered load of a class that is not in `loads`, relative to its guaranteed rate.
    pub load: LoadLevel,
    /// The offered loads of queues, bits per second; by default estimated. Zero omits a class.
    pub loads: BTreeMap<String, f64>,
}
