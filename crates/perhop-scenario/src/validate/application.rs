//! Checks of applications on TCP.

use perhop_qos::units::{ByteSize, Time};

use super::findings::Findings;
use crate::SourceConfig;
use crate::path::ValuePath;
use crate::plan::{Connections, Plan};
use crate::tcp::{Handshake, TcpConfig};

/// Checks the source at `path`, if it is an application on TCP.
pub(super) fn check(path: &ValuePath, source: &SourceConfig, findings: &mut Findings) {
    let (key, sizes): (&str, &[(&str, ByteSize)]) = match source {
        SourceConfig::Bulk(_) => ("bulk", &[]),
        SourceConfig::RequestResponse(config) => ("request-response", &[("request", config.request)]),
        SourceConfig::ConnectRequestResponse(config) => {
            ("connect-request-response", &[("request", config.request)])
        }
        SourceConfig::FileTransfer(config) => {
            ("file-transfer", &[("size", config.size), ("confirmation", config.confirmation)])
        }
        SourceConfig::Web(config) => {
            let path = path.join("web");
            if config.mean_gap == Time::ZERO {
                findings.error(&path.join("mean-gap"), "`mean-gap` must be above 0").help =
                    Some("for example 100ms".into());
            }
            if !(config.shape > 1.0 && config.shape.is_finite()) {
                let message = format!("`shape` must be above 1, got {}", config.shape);
                findings.error(&path.join("shape"), message).help =
                    Some("at most 1, a Pareto distribution has no mean; 1.2 is usual for web traffic".into());
            }
            ("web", &[("mean-size", config.mean_size)])
        }
        SourceConfig::Cbr(_)
        | SourceConfig::OnOff(_)
        | SourceConfig::Poisson(_)
        | SourceConfig::Trace(_)
        | SourceConfig::Pcap(_) => return,
    };
    let path = path.join(key);
    for (size, bytes) in sizes {
        if bytes.as_bytes() == 0 {
            findings.error(&path.join(size), format!("`{size}` must be above 0")).help =
                Some("at least 1B".into());
        }
    }
    if let Some((plan, tcp)) = Plan::of(source) {
        check_tcp(&path.join("tcp"), tcp, plan, findings);
    }
}

fn check_tcp(path: &ValuePath, tcp: &TcpConfig, plan: Plan, findings: &mut Findings) {
    match tcp.build() {
        Err(error) => findings.error(&path.extend(&error.path), error.message).help = error.help,
        Ok(parameters)
            if parameters.handshake == Handshake::None && plan.connections == Connections::PerTransaction =>
        {
            let message = "one connection per transaction needs a handshake";
            let at = if tcp.handshake.is_some() { path.join("handshake") } else { path.join("profile") };
            findings.error(&at, message).help =
                Some("set `handshake: three-way`, or choose an application that keeps its connection".into());
        }
        Ok(_) => {}
    }
}
