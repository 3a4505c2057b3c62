//! The tables of IOS XR. The modular quality of service of IOS XR has the classes and actions of IOS, but
//! different units, blocks and defaults.
//!
//! Source of the syntax: Cisco, "Modular Quality of Service Command Reference" for NCS 540 and for CRS, and
//! the configurations of the design guides at xrdocs.io.

mod access_list;
mod class;
mod class_map;
mod global;
mod interface;
mod irrelevant;
mod police;
mod queue;
mod router;
mod routes;
pub(super) mod units;

use super::command::Command;
use super::lookup::{CommandReference, Spelling, list, longest, run};
use super::{labels, object_group, policy_map};
use crate::ast::Configuration;
use crate::mode::Mode;
use crate::words::{Reader, Reading};

/// Reads a line of IOS XR in the block `mode`; `None` if it is not a command of that block.
pub(super) fn read(
    configuration: &mut Configuration,
    mode: Mode,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    match mode {
        Mode::Global => run(&[global::COMMANDS, irrelevant::COMMANDS], configuration, spelling, reader),
        Mode::ClassMap(map) => {
            run(&[class_map::COMMANDS], configuration.class_maps.at_mut(map)?, spelling, reader)
        }
        Mode::PolicyMap(map) => {
            run(&[policy_map::COMMANDS], configuration.policy_maps.at_mut(map)?, spelling, reader)
        }
        Mode::Class(map, class) => {
            let class = configuration.policy_maps.at_mut(map)?.classes.get_mut(class)?;
            run(&[class::COMMANDS], class, spelling, reader)
        }
        Mode::Police(map, class) => {
            let class = configuration.policy_maps.at_mut(map)?.classes.get_mut(class)?;
            run(&[police::COMMANDS], class, spelling, reader)
        }
        Mode::AccessList(list) => {
            let list = configuration.access_lists.at_mut(list)?;
            access_list::sequenced(list, reader)
                .or_else(|| run(&[access_list::COMMANDS], list, spelling, reader))
        }
        Mode::Interface(interface) => {
            let interface = configuration.interfaces.at_mut(interface)?;
            run(&[interface::COMMANDS], interface, spelling, reader)
        }
        Mode::StaticRoutes | Mode::VrfStaticRoutes(_) => routes::read(configuration, reader)
            .or_else(|| run(&[routes::COMMANDS], configuration, spelling, reader)),
        Mode::RouterProcess(_) | Mode::RouterArea(..) | Mode::RouterPort(..) => {
            router::read(configuration, mode, spelling, reader)
        }
        Mode::Labels => run(&[labels::BLOCK], configuration, spelling, reader),
        Mode::OpticalController => run(&[global::CONTROLLER], configuration, spelling, reader),
        Mode::ObjectGroup(group) => {
            let group = configuration.object_groups.at_mut(group)?;
            object_group::with_length(group, reader)
                .or_else(|| object_group::unnamed(group, reader))
                .or_else(|| run(&[object_group::COMMANDS], group, spelling, reader))
        }
        _ => None,
    }
}

/// Whether `words` begin with a global command of several words, such as `ipv4 access-list`, that is not
/// a command of the block `interface`.
pub(super) fn is_only_global(words: &[&str]) -> bool {
    let row = longest(&[global::COMMANDS], words).filter(|row| row.contains(' '));
    row.is_some_and(|row| !interface::COMMANDS.iter().any(|own| own.words == row))
}

/// Returns the first words of the commands in a block.
pub(super) fn first_words(mode: Mode) -> Vec<&'static str> {
    fn words_of<T>(table: &'static [Command<T>]) -> Vec<&'static str> {
        table.iter().filter_map(|command| command.words.split(' ').next()).collect()
    }
    match mode {
        Mode::Global => words_of(global::COMMANDS),
        Mode::ClassMap(_) => words_of(class_map::COMMANDS),
        Mode::PolicyMap(_) => words_of(policy_map::COMMANDS),
        Mode::Class(..) => [words_of(class::COMMANDS), words_of(policy_map::COMMANDS)].concat(),
        Mode::Police(..) => words_of(police::COMMANDS),
        Mode::Interface(_) => words_of(interface::COMMANDS),
        _ => Vec::new(),
    }
}

/// Returns the commands of IOS XR, block by block.
pub(super) fn commands() -> Vec<CommandReference> {
    let mut all = Vec::new();
    list("global", global::COMMANDS, &mut all);
    list("global", irrelevant::COMMANDS, &mut all);
    list("class-map", class_map::COMMANDS, &mut all);
    list("policy-map", policy_map::COMMANDS, &mut all);
    list("class in a policy-map", class::COMMANDS, &mut all);
    list("police", police::COMMANDS, &mut all);
    list("ipv4 access-list", access_list::COMMANDS, &mut all);
    list("interface", interface::COMMANDS, &mut all);
    list("router", router::COMMANDS, &mut all);
    list("router static", routes::COMMANDS, &mut all);
    list("mpls ldp", labels::BLOCK, &mut all);
    list("controller", global::CONTROLLER, &mut all);
    all
}
