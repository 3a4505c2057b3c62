//! Headers of links in a live testbed: which headers are supported, and the length that they add to frames.

use perhop_qos::error::ConfigError;
use perhop_qos::framing::{Header, HeaderStack};
use perhop_scenario::Scenario;

use crate::frame::{MOST_LABELS, MOST_TAGS, envelope_bytes};

/// Rejects links with unsupported headers. A header is unsupported if frames between forwarders cannot have
/// it and if it does more than add a constant number of bytes to the transmission time.
///
/// # Errors
/// A link has an unsupported header. The error names the first one.
pub fn check_headers(scenario: &Scenario) -> Result<(), ConfigError> {
    for (index, link) in scenario.links.iter().enumerate() {
        check(&link.headers).map_err(|error| error.within("headers").within(index).within("links"))?;
    }
    Ok(())
}

fn check(stack: &HeaderStack) -> Result<(), ConfigError> {
    for (index, header) in stack.headers().iter().enumerate() {
        let reason = match header {
            // Frames contain tags and labels. The other headers only add a constant number of bytes to the
            // transmission time, like the framing.
            Header::Vlan(_)
            | Header::Mpls(_)
            | Header::Gre(_)
            | Header::IpIp(_)
            | Header::Vxlan(_)
            | Header::Ethernet => continue,
            Header::Esp(_) => "a live run does not encrypt packets",
            Header::Pppoe | Header::Ppp | Header::Mlppp(_) | Header::L2tp(_) => {
                "a live run does not negotiate sessions"
            }
            Header::FrameRelay | Header::Bridged => "frames of a live run are sent over Ethernet",
        };
        let message =
            format!("the frames of a live run cannot have the header `{}`: {reason}", header.name());
        return Err(ConfigError::new("", message)
            .help("remove the header, or use `perhop run`; frames of a live run can have `vlan` and `mpls`")
            .within(index));
    }
    let tags = stack.headers().iter().filter(|header| matches!(header, Header::Vlan(_))).count();
    let labels = stack.headers().iter().map(|header| match header {
        Header::Mpls(mpls) => usize::from(mpls.labels),
        _ => 0,
    });
    let labels: usize = labels.sum();
    if tags > MOST_TAGS || labels > MOST_LABELS {
        let message = format!("{tags} tags and {labels} labels");
        let help = format!("a live run reads {MOST_TAGS} tags and {MOST_LABELS} labels");
        return Err(ConfigError::new("", message).help(&help));
    }
    Ok(())
}

/// The maximum number of bytes in a frame between two forwarders in addition to Ethernet header and IP
/// packet.
pub(super) fn most_envelope_bytes(scenario: &Scenario) -> u32 {
    let between_routers = scenario
        .links
        .iter()
        .filter(|link| link.between.iter().all(|end| scenario.routers.contains_key(end)));
    between_routers.map(|link| envelope_bytes(&link.headers)).max().unwrap_or_default()
}
