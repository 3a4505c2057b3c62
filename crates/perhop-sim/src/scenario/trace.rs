//! Trace files.
use perhop_qos::packet::Dscp;
use perhop_qos::units::Time;

/// One packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Since the flow's start.
    pub time: Time,
    /// IP bytes.
    pub length: u32,
    /// Codepoint, where the trace has one.
    pub dscp: Option<Dscp>,
}

/// Reads a trace.
pub fn read_trace(_: &std::path::Path, _: &str) -> Result<Vec<TraceEntry>, String> {
    Ok(Vec::new())
}
