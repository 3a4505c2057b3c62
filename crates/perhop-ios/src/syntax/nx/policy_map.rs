//! Commands of the block `policy-map` of types qos and queuing.

use crate::ast::{PolicyClass, PolicyMap};
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, modelled};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyMap>] = &[modelled("class", class), irrelevant("description")];

/// Reads `class [type qos|queuing] NAME [insert-before NAME]`.
fn class(policy: &mut PolicyMap, reader: &mut Reader) -> Reading {
    if reader.rest().first() == Some(&"type") {
        reader.next();
        reader.one_of(&["qos", "queuing"])?;
    }
    let name = reader.word("a class-map")?;
    let before = reader.eat("insert-before").then(|| reader.word("a class")).transpose()?;
    reader.end()?;
    let classes = &mut policy.classes;
    if reader.negated() {
        classes.retain(|class| class.name != name);
        return Ok(Finding::MODELLED);
    }
    let known = classes.iter().position(|class| class.name == name);
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
