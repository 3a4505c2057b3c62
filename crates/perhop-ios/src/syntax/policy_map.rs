//! Commands of the block `policy-map`.

use super::command::{Command, irrelevant, modelled};
use crate::ast::{PolicyClass, PolicyMap};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyMap>] =
    &[modelled("class", class), irrelevant("description"), irrelevant("sequence-interval")];

fn class(policy: &mut PolicyMap, reader: &mut Reader) -> Reading {
    if reader.eat("type") && reader.keyword(&["qos", "queueing", "lan-queueing"]).is_none() {
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(OTHER_TYPE));
        return Ok(Finding::not_modelled(OTHER_TYPE));
    }
    let name = reader.word("a class-map")?;
    let before = reader.eat("insert-before").then(|| reader.word("a class")).transpose()?;
    reader.end()?;
    let classes = &mut policy.classes;
    let known = classes.iter().position(|class| class.name == name);
    if reader.negated() {
        classes.retain(|class| class.name != name);
        return Ok(Finding::MODELLED);
    }
    let index = known.unwrap_or_else(|| {
        let class = PolicyClass { name: name.to_owned(), line: reader.line, ..PolicyClass::default() };
        let before = before.and_then(|name| classes.iter().position(|class| class.name == name));
        let index = before.unwrap_or(classes.len());
        classes.insert(index, class);
        index
    });
    if let Mode::PolicyMap(map) = reader.mode {
        reader.opens = Some(Mode::Class(map, index));
    }
    Ok(Finding::MODELLED)
}

const OTHER_TYPE: &str = "the class has a type other than quality of service";
