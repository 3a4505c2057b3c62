//! [`Applied`]: the class of service of a device, read again for its outputs.

use perhop_device::DeviceModel;

use super::layout::Layout;
use crate::context::Context;
use crate::cos::{self, ClassOfService};
use crate::families::Family;
use crate::firewall::{self, Firewall};
use crate::groups::inherit;
use crate::interfaces::{self, Interface};
use crate::read::read;
use crate::tree::{NodeId, Tree};

/// The class of service, the filters and the interfaces of a device.
pub(super) struct Applied {
    pub(super) layout: &'static Layout,
    pub(super) cos: ClassOfService,
    pub(super) firewall: Firewall,
    pub(super) interfaces: Vec<Interface>,
    /// Whether an interface has a profile of priority flow control, which perhop does not read.
    pub(super) has_flow_control: bool,
}

impl Applied {
    pub(super) fn of_model(model: &DeviceModel) -> Applied {
        let lines: Vec<&str> = model.lines.iter().map(|line| line.text.as_str()).collect();
        let mut read = read(&lines.join("\n"));
        let mut tree = std::mem::replace(&mut read.tree, Tree::new());
        inherit(&mut tree);
        let family = Family::named(&model.platform.name).unwrap_or(Family::Mx);
        let mut context = Context::new(tree);
        let cos = cos::read(&mut context, family);
        let firewall = firewall::read(&mut context, &cos);
        let interfaces = interfaces::read(&mut context, &firewall);
        Applied {
            layout: Layout::of_family(family),
            cos,
            firewall,
            interfaces,
            has_flow_control: has_flow_control(&context.tree),
        }
    }

    /// Returns the names of the classes of a queue.
    pub(super) fn classes_of(&self, queue: u8) -> Vec<&str> {
        self.cos.classes.of_queue(queue).into_iter().map(|(_, class)| class.name.as_str()).collect()
    }

    /// Returns the interface called `name`.
    pub(super) fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }
}

fn has_flow_control(tree: &Tree) -> bool {
    let interfaces = tree.at(NodeId::ROOT, &["class-of-service", "interfaces"]);
    let interfaces = interfaces.map(|node| tree.children(node)).unwrap_or_default();
    interfaces.iter().any(|node| tree.child(*node, "congestion-notification-profile").is_some())
}
