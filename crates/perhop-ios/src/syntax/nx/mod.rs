//! The tables of NX-OS. NX-OS has three types of policies: `type qos` has the classes and policers of IOS,
//! `type queuing` has the queues of a port, and `type network-qos` has frame lengths and pause frames.
//!
//! Sources of the syntax: Cisco, "Nexus 9000 Series NX-OS Quality of Service Configuration Guide" 10.x, and
//! public configurations and outputs of NX-OS 9 and 10 (microsoft/arc-switch, batfish).

mod access_list;
mod class_map;
mod classification;
mod global;
mod interface;
mod interface_routing;
mod irrelevant;
mod network_qos;
mod police;
mod policy_map;
mod queuing;
mod router;
mod system;
mod vrf;

use super::command::Command;
use super::lookup::{CommandReference, Spelling, list, run};
use crate::ast::{Configuration, Interface, PolicyType};
use crate::mode::Mode;
use crate::words::{Reader, Reading};

/// The commands of `interface`.
const INTERFACE: &[&[Command<Interface>]] =
    &[interface::COMMANDS, interface_routing::COMMANDS, interface::OTHERS];

/// Reads a line of NX-OS in the block `mode`; `None` if it is not a command of that block.
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
            let policy = configuration.policy_maps.at_mut(map)?;
            let table = match configuration.nx_os.policy_type(&policy.name) {
                PolicyType::Qos => classification::COMMANDS,
                PolicyType::Queuing => queuing::COMMANDS,
            };
            run(&[table], policy.classes.get_mut(class)?, spelling, reader)
        }
        Mode::NetworkPolicy(map) => {
            let policy = configuration.nx_os.network_policies.at_mut(map)?;
            run(&[network_qos::POLICY], policy, spelling, reader)
        }
        Mode::NetworkClass(map, class) => {
            let policy = configuration.nx_os.network_policies.at_mut(map)?;
            run(&[network_qos::CLASS], policy.classes.get_mut(class)?, spelling, reader)
        }
        Mode::SystemQos => run(&[system::COMMANDS], &mut configuration.nx_os.system, spelling, reader),
        Mode::AccessList(list) => {
            let list = configuration.access_lists.at_mut(list)?;
            access_list::entry(list, reader).or_else(|| run(&[access_list::COMMANDS], list, spelling, reader))
        }
        Mode::ObjectGroup(group) => {
            access_list::group_member(configuration.object_groups.at_mut(group)?, reader)
        }
        Mode::Interface(interface) => {
            let interface = configuration.interfaces.at_mut(interface)?;
            run(INTERFACE, interface, spelling, reader)
        }
        Mode::RouterProcess(process) => router::read(configuration, process, spelling, reader),
        Mode::VrfContext(_) => run(&[vrf::COMMANDS], configuration, spelling, reader),
        _ => None,
    }
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
        Mode::Class(..) => {
            let classes = [words_of(classification::COMMANDS), words_of(queuing::COMMANDS)].concat();
            [classes, words_of(policy_map::COMMANDS)].concat()
        }
        Mode::NetworkClass(..) => words_of(network_qos::CLASS),
        Mode::SystemQos => words_of(system::COMMANDS),
        Mode::Interface(_) | Mode::InterfaceRange(_) => words_of(interface::COMMANDS),
        _ => Vec::new(),
    }
}

/// Returns the commands of NX-OS, block by block.
pub(super) fn commands() -> Vec<CommandReference> {
    let mut all = Vec::new();
    list("global", global::COMMANDS, &mut all);
    list("global", irrelevant::COMMANDS, &mut all);
    list("class-map", class_map::COMMANDS, &mut all);
    list("policy-map", policy_map::COMMANDS, &mut all);
    list("class of type qos", classification::COMMANDS, &mut all);
    list("class type queuing", queuing::COMMANDS, &mut all);
    list("policy-map type network-qos", network_qos::POLICY, &mut all);
    list("class type network-qos", network_qos::CLASS, &mut all);
    list("system qos", system::COMMANDS, &mut all);
    list("ip access-list", access_list::COMMANDS, &mut all);
    list("vrf context", vrf::COMMANDS, &mut all);
    list("interface", interface::COMMANDS, &mut all);
    list("interface", interface_routing::COMMANDS, &mut all);
    list("interface", interface::OTHERS, &mut all);
    list("router", super::router::COMMANDS, &mut all);
    list("router", router::COMMANDS, &mut all);
    all
}
