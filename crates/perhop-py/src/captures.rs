//! Capture files of a run.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use perhop_capture::SnapLength;
use perhop_measure::results::Results;
use perhop_scenario::Scenario;
use perhop_sim::capture::{Captured, Captures, MOST_PACKETS};
use perhop_sim::run::{Progress, RunError, RunOptions, run_captured};
use serde_json::json;

/// A folder for captures.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) snap_length: Option<u32>,
    pub(crate) most_packets: Option<u64>,
}

impl Folder {
    /// Runs `scenario` and writes its captures.
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        base: &Path,
        options: &RunOptions,
        progress: &Progress,
    ) -> Result<(Results, Vec<Captured>), RunError> {
        let captures = Captures {
            create: &|name| self.create(name),
            snap_length: self.snap_length.map_or(SnapLength::Headers, SnapLength::Bytes),
            most_packets: self.most_packets.unwrap_or(MOST_PACKETS),
        };
        run_captured(scenario, base, options, progress, Some(&captures))
    }
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(BufWriter::new(File::create(self.path.join(name))?)))
    }
}

/// Returns the list of files: names, interfaces, packets, dropped packets, and the time at which a file
/// reached its limit.
pub(crate) fn to_json(captured: &[Captured]) -> String {
    let file = |file: &Captured| {
        json!({
            "file": file.name,
            "interfaces": file.interfaces,
            "packets": file.packets,
            "dropped": file.dropped,
            "full_at_s": file.full_at.map(perhop_qos::units::Time::as_seconds),
        })
    };
    json!(captured.iter().map(file).collect::<Vec<_>>()).to_string()
}
