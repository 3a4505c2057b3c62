//! `ipv4 access-list` and `ipv6 access-list` of IOS XR, whose entries have numbers.

use crate::ast::{AccessList, AclKind, Configuration};
use crate::mode::Mode;
use crate::syntax::access_list::{self, open};
use crate::syntax::command::{Command, irrelevant, not_modelled};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<AccessList>] = &[
    irrelevant("remark"),
    irrelevant("acl-base"),
    not_modelled("permit", "an entry without a number: IOS XR numbers its entries"),
    not_modelled("deny", "an entry without a number: IOS XR numbers its entries"),
];

/// `ipv4 access-list NAME`
pub(super) fn ipv4(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Extended, reader)
}

/// `ipv6 access-list NAME`
pub(super) fn ipv6(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Ipv6, reader)
}

fn list(configuration: &mut Configuration, kind: AclKind, reader: &mut Reader) -> Reading {
    if reader.keyword(&["log-update", "maximum"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    let name = reader.word("the list's name")?;
    reader.end()?;
    if reader.negated() {
        configuration.access_lists.remove(name);
        return Ok(Finding::MODELLED);
    }
    reader.opens = Some(open(configuration, name, kind, reader).map_or(Mode::Irrelevant, Mode::AccessList));
    Ok(Finding::MODELLED)
}

/// `10 permit ipv4 any any`; `None` if the line does not begin with a number.
pub(super) fn sequenced(list: &mut AccessList, reader: &mut Reader) -> Option<Reading> {
    let sequence = reader.maybe_number()?;
    Some(access_list::sequenced(list, sequence, reader))
}
