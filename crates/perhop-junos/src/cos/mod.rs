//! The hierarchy `[edit class-of-service]`.

mod attachments;
mod classes;
mod classifiers;
mod code_points;
pub(crate) mod drop_profiles;
mod others;
mod profiles;
mod rewrites;
mod schedulers;
mod shared_buffer;

pub(crate) use attachments::{Attached, Attachments};
pub(crate) use classes::{Classes, LossPriority, NETWORK_CONTROL};
pub(crate) use classifiers::{Classifiers, Treatment};
pub(crate) use code_points::{Aliases, CodePoints};
pub(crate) use drop_profiles::{DropProfile, Form};
pub(crate) use profiles::{Overhead, Profile};
pub(crate) use rewrites::Rewrites;
pub(crate) use schedulers::{
    Amount, Buffer, DropMap, ExcessPriority, ExcessRate, Limit, Priority, Scheduler, SchedulerMap, Schedulers,
};
pub(crate) use shared_buffer::{Partition, SharedBuffer};

use std::collections::BTreeMap;

use perhop_device::intent::At;

use crate::context::Context;
use crate::families::Family;
use crate::tree::NodeId;

/// The class of service of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassOfService {
    pub(crate) classes: Classes,
    pub(crate) aliases: Aliases,
    pub(crate) classifiers: Classifiers,
    pub(crate) rewrites: Rewrites,
    pub(crate) drop_profiles: BTreeMap<String, DropProfile>,
    pub(crate) schedulers: Schedulers,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) attachments: Attachments,
    pub(crate) shared_buffer: SharedBuffer,
    /// The classifier of MPLS of all interfaces.
    pub(crate) system_exp: Option<At<String>>,
}

/// Reads `[edit class-of-service]`. Without this hierarchy, the defaults of the family apply.
pub(crate) fn read(context: &mut Context, family: Family) -> ClassOfService {
    let Some(node) = context.tree.child(NodeId::ROOT, "class-of-service") else {
        return ClassOfService { classes: Classes::defaults(family), ..ClassOfService::default() };
    };
    context.modeled(node);
    let classes = classes::read(context, node, family);
    let aliases = code_points::read(context, node);
    let classifiers = classifiers::read(context, node, &classes, &aliases);
    let rewrites = rewrites::read(context, node, &classes, &aliases);
    let drop_profiles = drop_profiles::read(context, node);
    let schedulers = schedulers::read(context, node, &classes, &drop_profiles);
    let profiles = profiles::read(context, node, &schedulers);
    let defined = attachments::Defined {
        classes: &classes,
        classifiers: &classifiers,
        rewrites: &rewrites,
        schedulers: &schedulers,
        profiles: &profiles,
    };
    let attachments = attachments::read(context, node, defined);
    let shared_buffer = shared_buffer::read(context, node, &classes);
    let system_exp = others::system_exp(context, node, &classifiers);
    others::mark(context, node);
    ClassOfService {
        classes,
        aliases,
        classifiers,
        rewrites,
        drop_profiles,
        schedulers,
        profiles,
        attachments,
        shared_buffer,
        system_exp,
    }
}
