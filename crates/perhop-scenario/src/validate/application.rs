//! Applications on TCP.

use perhop_qos::units::{ByteSize, Time};

use super::Findings;
use crate::SourceConfig;
use crate::path::ValuePath;
use crate::plan::{Connections, Plan};
use crate::tcp::{Handshake, TcpConfig};

/// Checks `source`, which stands at `path`; datagrams are none of its business.
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
                findings.error(&path.join("mean-gap"), "transfers without gaps all begin at once").help =
                    Some("for example 100ms".into());
            }
            if !(config.shape > 1.0 && config.shape.is_finite()) {
                let message = format!("a Pareto law of shape {} has no mean", config.shape);
                findings.error(&path.join("shape"), message).help =
                    Some("the shape is above 1; 1.2 is usual for the web".into());
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
            findings.error(&path.join(size), "0 bytes tell the other end nothing").help =
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
            let message = "connections that neither open nor close cannot follow one another";
            let at = if tcp.handshake.is_some() { path.join("handshake") } else { path.join("profile") };
            findings.error(&at, message).help =
                Some("set `handshake: three-way`, or choose an application that keeps its connection".into());
        }
        Ok(_) => {}
    }
}
