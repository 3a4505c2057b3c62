//! [`Ask`]: the questions.

use std::collections::BTreeMap;

use perhop_inference::LoadLevel;
use perhop_measure::exercise::Exercise;
use perhop_scenario::Codec;
use serde::Deserialize;

/// A question of the page.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The version of the engine, and the JSON Schema of scenarios.
    About,
    /// What is to be said of a text: a scenario, or a router's configuration.
    Check {
        /// The text.
        text: String,
    },
    /// The scenario that is inferred from a router's configuration.
    Around(Around),
    /// The beginning of a run.
    Start {
        /// A scenario as YAML or JSON.
        text: String,
        /// Seed of every random stream; by default the scenario's.
        seed: Option<u64>,
        /// Into how many intervals the measured time is divided for charts.
        intervals: u32,
    },
    /// The next step of the run, up to this part of it.
    Advance {
        /// 0 to 1.
        fraction: f64,
    },
    /// The end of the run, and its summary.
    Finish,
    /// A table of the run that has ended, as CSV.
    Table {
        /// Its name in results.
        name: String,
    },
    /// What is to be said of a scenario and the run that has ended, by an exercise.
    Judge {
        /// What is asked for.
        exercise: Exercise,
        /// The scenario that the exercise starts from.
        start: String,
        /// The scenario that was run.
        text: String,
    },
    /// What the scenario that is run guarantees to queues and classes.
    Bounds,
    /// The ratings of calls through the classes of the run that has ended (ITU-T G.107), and whether each
    /// class is fit for its role.
    Calls {
        /// The coder of speech in classes without calls of their own.
        codec: Codec,
    },
    /// What became of the packets at a port of the run in a span of time.
    Packets {
        /// Number of the port.
        port: usize,
        /// The beginning of the span, seconds.
        from: f64,
        /// Its end.
        until: f64,
        /// With at least so many packets it ends earlier.
        enough: usize,
    },
}

/// A configuration to infer a scenario from, and the choices of the page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Around {
    /// The configuration.
    pub text: String,
    /// The interface that packets leave by; by default the one whose policy has most classes.
    pub interface: Option<String>,
    /// The rate of its wire; by default what the configuration says.
    pub rate: Option<String>,
    /// Packets of its transmit ring; by default what the configuration says.
    pub ring: Option<u32>,
    /// The part of its promise that each class is offered where `loads` does not give its load.
    pub load: LoadLevel,
    /// The offered loads of queues in bits per second, in place of a guess. Zero leaves a class out.
    pub loads: BTreeMap<String, f64>,
}
