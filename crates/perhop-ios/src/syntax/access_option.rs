//! Options after the addresses of an access list entry.

use perhop_qos::packet::Protocol;

use super::numbers::{dscp, precedence};
use crate::ast::AclEntry;
use crate::words::{Finding, Reader};

/// Options for properties that packets in perhop never have.
const UNSEEN: &[&str] = &[
    "ack",
    "fin",
    "psh",
    "rst",
    "syn",
    "urg",
    "match-all",
    "match-any",
    "ttl",
    "option",
    "auth",
    "dest-option",
    "dest-option-type",
    "flow-label",
    "hbh",
    "mobility",
    "mobility-type",
    "routing",
    "routing-type",
    "undetermined-transport",
];

/// Parses one option. Returns its finding for the line, if any.
pub(super) fn option(entry: &mut AclEntry, reader: &mut Reader) -> Result<Option<Finding>, Finding> {
    let keywords = [
        "precedence",
        "dscp",
        "tos",
        "log",
        "log-input",
        "established",
        "fragments",
        "time-range",
        "reflect",
        "sequence",
    ];
    Ok(match reader.keyword(&keywords) {
        Some("precedence") => {
            entry.precedence = Some(precedence(reader)?);
            None
        }
        Some("dscp") => {
            entry.dscp = Some(dscp(reader)?);
            None
        }
        Some("tos") => {
            entry.type_of_service = Some(type_of_service(reader)?);
            None
        }
        // A tag of the log message may follow.
        Some("log" | "log-input") => {
            if !reader.peek().is_some_and(|word| word == "time-range" || word == "sequence") {
                reader.next();
            }
            None
        }
        Some("sequence") => {
            entry.sequence = reader.number("the number of an entry", 1..=u64::from(u32::MAX))?;
            None
        }
        Some("established") => {
            Some(Finding::not_modelled("perhop ignores `established`: connection requests match, too"))
        }
        Some("fragments") => {
            entry.unseen = Some("fragments".to_owned());
            Some(Finding::modelled("perhop's packets are never fragments: no packet matches this entry"))
        }
        Some("time-range") => {
            reader.word("a time range")?;
            Some(Finding::not_modelled("perhop treats the entry as always active"))
        }
        Some(_) => {
            while reader.next().is_some() {}
            Some(Finding::not_modelled("perhop does not model the list that this entry fills"))
        }
        None => Some(unseen(entry, reader)?),
    })
}

fn unseen(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    let word = reader.peek().unwrap_or_default();
    let message = matches!(entry.protocol, Some(Protocol::ICMP | Protocol(2 | 58 | 103)));
    if !message && !UNSEEN.contains(&word) {
        return Err(reader.unexpected("an option of an access list"));
    }
    entry.unseen = Some(reader.rest().join(" "));
    while reader.next().is_some() {}
    Ok(Finding::not_modelled("perhop's packets do not have this field: no packet matches this entry"))
}

/// Parses the four bits of RFC 1349, by number or name.
fn type_of_service(reader: &mut Reader) -> Result<u8, Finding> {
    let names = [
        ("normal", 0),
        ("min-monetary-cost", 1),
        ("max-reliability", 2),
        ("max-throughput", 4),
        ("min-delay", 8),
    ];
    let word = reader.word("a type of service")?;
    let named = names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    named.or_else(|| word.parse().ok().filter(|value| *value < 16)).ok_or_else(|| {
        Finding::not_recognized(format!("`{word}` is not a type of service (0 to 15 or a name)"))
    })
}
