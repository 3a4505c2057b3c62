//! The tables of known commands, one file per block.
//!
//! A row of a table has the first words of a command and the function that reads its lines. For a line that
//! matches several rows, the row with the most words is used.

mod access_entry;
mod access_list;
mod access_option;
mod action;
pub(crate) mod application;
mod class_map;
mod command;
mod control_plane;
mod controller;
mod criterion;
mod crypto;
mod global;
mod interface;
mod interface_link;
mod interface_name;
mod interface_others;
mod interface_range;
mod interface_routing;
mod irrelevant;
mod labels;
mod lookup;
mod marking;
mod mls;
mod numbers;
mod nx;
mod object_group;
mod police;
mod policy_class;
mod policy_map;
mod ports;
mod pvc;
mod queueing;
mod random_detect;
mod rate_limit;
mod route;
mod router;
mod service_instance;
mod table_map;
mod xr;

use command::Command;
use lookup::{list, run};

use crate::ast::{Configuration, Interface};
use crate::grammar::Grammar;
use crate::mode::Mode;
use crate::words::{Reader, Reading};

pub(crate) use labels::LABELS;
pub use lookup::CommandReference;
pub(crate) use lookup::Spelling;
pub(crate) use router::levels_in;

/// The commands of `interface`.
const INTERFACE: &[&[Command<Interface>]] = &[
    interface::COMMANDS,
    interface_link::COMMANDS,
    interface_routing::COMMANDS,
    interface_others::COMMANDS,
    mls::PORT_COMMANDS,
];

/// Reads a line as a command of the block `mode`; `None` if the block has no such command.
pub(crate) fn read(
    configuration: &mut Configuration,
    mode: Mode,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    reader.mode = mode;
    if let Mode::InterfaceRange(range) = mode {
        return interface_range::read(configuration, range, spelling, reader, read);
    }
    match configuration.grammar {
        Grammar::Ios => {}
        Grammar::IosXr => return xr::read(configuration, mode, spelling, reader),
        Grammar::NxOs => return nx::read(configuration, mode, spelling, reader),
    }
    match mode {
        Mode::Global => {
            let tables = [global::COMMANDS, irrelevant::COMMANDS, labels::COMMANDS, mls::COMMANDS];
            run(&tables, configuration, spelling, reader)
        }
        Mode::ClassMap(map) => {
            run(&[class_map::COMMANDS], configuration.class_maps.at_mut(map)?, spelling, reader)
        }
        Mode::PolicyMap(map) => {
            run(&[policy_map::COMMANDS], configuration.policy_maps.at_mut(map)?, spelling, reader)
        }
        Mode::Class(map, class) => {
            let class = configuration.policy_maps.at_mut(map)?.classes.get_mut(class)?;
            run(&[policy_class::COMMANDS], class, spelling, reader)
        }
        Mode::Police(map, class) => {
            let class = configuration.policy_maps.at_mut(map)?.classes.get_mut(class)?;
            run(&[police::COMMANDS], class, spelling, reader)
        }
        Mode::AccessList(list) => {
            let list = configuration.access_lists.at_mut(list)?;
            if let Some(sequence) = reader.maybe_number() {
                return Some(access_list::sequenced(list, sequence, reader));
            }
            run(&[access_list::COMMANDS], list, spelling, reader)
        }
        Mode::Interface(interface) => {
            let interface = configuration.interfaces.at_mut(interface)?;
            run(INTERFACE, interface, spelling, reader)
        }
        Mode::Pvc(interface, pvc) => {
            let pvc = configuration.interfaces.at_mut(interface)?.pvcs.get_mut(pvc)?;
            run(&[pvc::COMMANDS], pvc, spelling, reader)
        }
        Mode::ServiceInstance(interface, instance) => {
            let interface = configuration.interfaces.at_mut(interface)?;
            let instance = interface.service_instances.get_mut(instance)?;
            run(&[service_instance::COMMANDS], instance, spelling, reader)
        }
        other => read_other(configuration, other, spelling, reader),
    }
}

/// Reads lines of blocks other than classes, policies and interfaces.
fn read_other(
    configuration: &mut Configuration,
    mode: Mode,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    match mode {
        Mode::ObjectGroup(group) => {
            let group = configuration.object_groups.at_mut(group)?;
            object_group::unnamed(group, reader)
                .or_else(|| run(&[object_group::COMMANDS], group, spelling, reader))
        }
        Mode::TableMap(map) => {
            run(&[table_map::COMMANDS], configuration.table_maps.at_mut(map)?, spelling, reader)
        }
        Mode::Controller(line) => {
            run(&[controller::COMMANDS], configuration.controllers.at_mut(line)?, spelling, reader)
        }
        Mode::ControlPlane => {
            run(&[control_plane::COMMANDS], configuration.control_plane.as_mut()?, spelling, reader)
        }
        Mode::TransformSet(set) => {
            run(&[crypto::TRANSFORM_SET], configuration.transform_sets.at_mut(set)?, spelling, reader)
        }
        Mode::IpsecProfile(profile) => {
            run(&[crypto::PROFILE], configuration.ipsec_profiles.at_mut(profile)?, spelling, reader)
        }
        Mode::CryptoMap(map) => {
            run(&[crypto::PROFILE], configuration.crypto_maps.at_mut(map)?, spelling, reader)
        }
        Mode::RouterProcess(process) => {
            run(&[router::COMMANDS], configuration.processes.get_mut(process)?, spelling, reader)
        }
        _ => None,
    }
}

/// Whether `words` begin with a global command of several words that the block `mode` lacks.
pub(crate) fn is_only_global(grammar: Grammar, mode: Mode, words: &[&str]) -> bool {
    let many = |row: &&str| row.contains(' ');
    let longest = |tables| lookup::longest(tables, words).filter(many);
    let is_interface =
        matches!(mode, Mode::Interface(_) | Mode::InterfaceRange(_) | Mode::ServiceInstance(..));
    match (grammar, mode) {
        (Grammar::Ios, _) if is_interface => {
            let own = |row| INTERFACE.iter().copied().flatten().any(|own| own.words == row);
            longest(&[global::COMMANDS]).is_some_and(|row| !own(row))
        }
        (Grammar::IosXr, _) if is_interface => xr::is_only_global(words),
        // Without indentation, it is unknown whether a port belongs to the block of the process.
        (Grammar::IosXr, Mode::RouterProcess(_) | Mode::RouterArea(..) | Mode::RouterPort(..)) => {
            words.first() == Some(&"interface")
        }
        (Grammar::Ios, Mode::ControlPlane) => {
            longest(&[global::COMMANDS]).or_else(|| longest(&[irrelevant::COMMANDS])).is_some()
        }
        _ => false,
    }
}

/// Returns the first words of the commands in a block; an empty list for blocks without a table.
pub(crate) fn first_words(grammar: Grammar, mode: Mode) -> Vec<&'static str> {
    fn words_of<T>(tables: &[&'static [Command<T>]]) -> Vec<&'static str> {
        let all = tables.iter().copied().flatten();
        all.filter_map(|command| command.words.split(' ').next()).collect()
    }
    match grammar {
        Grammar::Ios => {}
        Grammar::IosXr => return xr::first_words(mode),
        Grammar::NxOs => return nx::first_words(mode),
    }
    match mode {
        Mode::Global => words_of(&[global::COMMANDS, mls::COMMANDS]),
        Mode::ClassMap(_) => words_of(&[class_map::COMMANDS]),
        Mode::PolicyMap(_) => words_of(&[policy_map::COMMANDS]),
        // The commands of a policy-map are included, because the line of the next class ends a class.
        Mode::Class(..) => [words_of(&[policy_class::COMMANDS]), words_of(&[policy_map::COMMANDS])].concat(),
        Mode::Police(..) => words_of(&[police::COMMANDS]),
        Mode::AccessList(_) => words_of(&[access_list::COMMANDS]),
        Mode::Interface(_) | Mode::InterfaceRange(_) => words_of(INTERFACE),
        Mode::Pvc(..) => words_of(&[pvc::COMMANDS]),
        _ => Vec::new(),
    }
}

/// Returns the full name of an interface: `FastEthernet0/0` for `fa0/0`.
pub fn interface_name(written: &str) -> String {
    interface_name::full_name(written).full
}

/// Returns the commands of IOS XR, block by block, in the order of the tables.
pub fn commands_of_ios_xr() -> Vec<CommandReference> {
    xr::commands()
}

/// Returns the commands of NX-OS, block by block, in the order of the tables.
pub fn commands_of_nx_os() -> Vec<CommandReference> {
    nx::commands()
}

/// Returns all known commands of IOS, block by block, in the order of the tables.
pub fn commands() -> Vec<CommandReference> {
    let mut all = Vec::new();
    list("global", global::COMMANDS, &mut all);
    list("global", irrelevant::COMMANDS, &mut all);
    list("global", labels::COMMANDS, &mut all);
    list("global", mls::COMMANDS, &mut all);
    list("class-map", class_map::COMMANDS, &mut all);
    list("policy-map", policy_map::COMMANDS, &mut all);
    list("class in a policy-map", policy_class::COMMANDS, &mut all);
    list("police", police::COMMANDS, &mut all);
    list("ip access-list", access_list::COMMANDS, &mut all);
    list("object-group", object_group::COMMANDS, &mut all);
    list("table-map", table_map::COMMANDS, &mut all);
    list("interface", interface::COMMANDS, &mut all);
    list("interface", interface_link::COMMANDS, &mut all);
    list("interface", interface_routing::COMMANDS, &mut all);
    list("interface", interface_others::COMMANDS, &mut all);
    list("interface", mls::PORT_COMMANDS, &mut all);
    list("router", router::COMMANDS, &mut all);
    list("pvc", pvc::COMMANDS, &mut all);
    list("service instance", service_instance::COMMANDS, &mut all);
    list("controller", controller::COMMANDS, &mut all);
    list("control-plane", control_plane::COMMANDS, &mut all);
    list("crypto ipsec transform-set", crypto::TRANSFORM_SET, &mut all);
    list("crypto ipsec profile", crypto::PROFILE, &mut all);
    all
}
