//! The stages at one side of a port: access lists, classes, conditioners and queues.

use perhop_analysis::{Conditioned, conditioned, queue_of};
use perhop_device::intent::{Direction, VisibleHeader};
use perhop_device::lower::Links;
use perhop_device::{AccessDecision, AttachedPolicy, Port};
use perhop_qos::framing::IpVersion;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::{HTB_RATE_TO_QUANTUM, SchedulerConfig, htb_quantum, htb_rate_quantum};
use perhop_qos::{ByteSize, ConfigError, Packet};

use super::labels;
use super::{Cause, End, LineText, Place, QueueClass, Stage, Tracer, Turn, Way, written};

/// Limit on the number of paths: all combinations of three colors at five meters.
const MOST_PATHS: usize = 243;

/// A function that returns a packet with its outer header; `None` if the packet receives no outer header.
type OuterHeader<'a> = dyn Fn(&Packet) -> Option<Packet> + 'a;

/// The policy at one side of a port, with its configuration lines.
pub(super) struct PolicySide<'a> {
    pub(super) place: Place,
    pub(super) port: &'a Port,
    pub(super) config: &'a PolicyConfig,
    pub(super) links: &'a Links,
    pub(super) attached: Option<&'a AttachedPolicy>,
}

impl<'a> PolicySide<'a> {
    pub(super) fn input(port: &'a Port) -> PolicySide<'a> {
        let (config, links, attached) = (&port.input, &port.links.input, port.input_policy());
        PolicySide { place: Place::Input, port, config, links, attached }
    }

    pub(super) fn output(port: &'a Port) -> PolicySide<'a> {
        let (config, links, attached) = (&port.output, &port.links.output, port.output_policy());
        PolicySide { place: Place::Output, port, config, links, attached }
    }

    /// Returns the policy of the control plane, which conditions packets to the device itself.
    pub(super) fn control_plane(port: &'a Port) -> PolicySide<'a> {
        let (config, links, attached) = (&port.output, &port.links.output, port.input_policy());
        PolicySide { place: Place::ControlPlane, port, config, links, attached }
    }
}

impl Way {
    /// Restores the fields of the IP header, because a device cannot write a header that is behind labels.
    fn restore_hidden(&self, packet: &mut Packet) {
        if self.visible == VisibleHeader::Labels {
            packet.dscp = self.packet.dscp;
        }
    }
}

impl<'a> Tracer<'a> {
    /// Follows packets that arrive on `port`.
    pub(super) fn arrive(&mut self, ways: Vec<Way>, port: &'a Port) -> Result<Vec<Way>, ConfigError> {
        self.cross(port);
        let ways = self.access_lists(ways, port, Direction::Input);
        self.condition(ways, &PolicySide::input(port), None)
    }

    /// Applies the access lists of one direction.
    pub(super) fn access_lists(&self, mut ways: Vec<Way>, port: &Port, direction: Direction) -> Vec<Way> {
        let side = if direction == Direction::Input { Place::Input } else { Place::Output };
        for group in port.forwarding.access_groups.iter().filter(|group| group.direction == direction) {
            let Some(list) = self.device.router.forwarding.access_lists.get(&group.list) else { continue };
            let is_plain = |way: &&mut Way| way.end.is_none() && way.visible == VisibleHeader::Ip;
            for way in ways.iter_mut().filter(is_plain) {
                let is_ipv4 = way.packet.source.to_ip().is_ipv4();
                if is_ipv4 != (group.version == IpVersion::Ipv4) {
                    continue;
                }
                let (decision, entry) = list.decide(&self.interfaces, &way.packet);
                way.stages.push(Stage::AccessList {
                    side,
                    interface: port.name.clone(),
                    list: group.list.clone(),
                    decision,
                    lines: self.lines(std::iter::once(group.line).chain(entry)),
                });
                if decision == AccessDecision::Deny {
                    way.drop(Cause::AccessList);
                }
            }
        }
        ways
    }

    /// Classifies and conditions packets. `outer` returns the outer header of packets that the port encrypts.
    /// The search for class lines uses this header.
    pub(super) fn condition(
        &self,
        ways: Vec<Way>,
        side: &PolicySide,
        outer: Option<&OuterHeader>,
    ) -> Result<Vec<Way>, ConfigError> {
        let mut after = Vec::new();
        for mut way in ways {
            if way.end.is_some() {
                after.push(way);
                continue;
            }
            let seen = outer.and_then(|outer| outer(&way.packet)).unwrap_or(way.packet);
            way.stages.extend(self.classes(side, &seen, way.visible));
            let config = labels::seen(side.config, way.visible);
            let found = conditioned(&config, &self.interfaces, &way.packet)?;
            after.extend(found.into_iter().map(|effect| self.conditioned_way(&way, side, effect)));
        }
        after.truncate(MOST_PATHS);
        Ok(after)
    }

    fn conditioned_way(&self, before: &Way, side: &PolicySide, found: Conditioned) -> Way {
        let mut way = Way { packet: found.packet, ..before.clone() };
        before.restore_hidden(&mut way.packet);
        for mut step in found.steps {
            before.restore_hidden(&mut step.packet);
            let config = &side.config.conditioners[step.index];
            way.stages.push(Stage::Conditioner {
                side: side.place,
                interface: side.port.name.clone(),
                name: config.name.clone().unwrap_or_else(|| step.index.to_string()),
                meter: config.meter.clone(),
                color: step.color.map(|color| color.to_string()),
                actions: step.actions,
                packet: written(&step.packet),
                lines: self.lines(side.links.lines_of_conditioner(step.index)),
                dscp: step.packet.dscp,
                exp: step.packet.exp(),
            });
        }
        if found.dropped {
            way.drop(Cause::Conditioner);
        }
        way
    }

    /// Returns the classes to which a packet belongs, the outermost first.
    fn classes(&self, side: &PolicySide, packet: &Packet, visible: VisibleHeader) -> Vec<Stage> {
        let (Some(class_lines), Some(policy)) = (self.device.class_lines, side.attached) else {
            return Vec::new();
        };
        let found = class_lines.matched(&policy.name, &self.interfaces, packet, visible);
        let stage = |class: perhop_device::MatchedLines| Stage::Class {
            side: side.place,
            interface: side.port.name.clone(),
            policy: class.policy,
            class: class.class,
            line: class.line,
            criteria: self.lines(class.criteria),
        };
        found.into_iter().map(stage).collect()
    }

    /// Adds packets to the queues of a port.
    pub(super) fn queue(&mut self, mut ways: Vec<Way>, side: &PolicySide) -> Result<Vec<Way>, ConfigError> {
        for way in ways.iter_mut().filter(|way| way.end.is_none()) {
            let config = labels::seen(side.config, way.visible);
            let place = match &config.queueing {
                Some(queueing) => queue_of(queueing, &self.interfaces, &way.packet)?,
                None => None,
            };
            let mut classes = match (&side.config.queueing, &place) {
                (Some(queueing), Some(place)) => classes_at(queueing, &place.path),
                _ => Vec::new(),
            };
            if let Some(reason) = &side.port.unmodeled_queues {
                for level in &mut classes {
                    level.class.buffer = None;
                }
                self.not_looked_at
                    .insert(format!("the limits of the queues of {}: {reason}", side.port.name));
            }
            let names = classes.iter().map(|class| class.class.name.as_str());
            let tin = place.as_ref().and_then(|place| place.tin);
            let queue = names.chain(tin).collect::<Vec<_>>().join("/");
            let queue = (!queue.is_empty()).then_some(queue);
            let is_taken = queue.is_some() || side.config.queueing.is_none();
            way.end = Some(if is_taken { End::Queued } else { End::NoQueue });
            way.queue.clone_from(&queue);
            let lines = place.map_or_else(Vec::new, |place| self.lines_of_queue(side.links, &place.path));
            let interface = side.port.name.clone();
            way.stages.push(Stage::Queue { side: side.place, interface, queue, classes, lines });
        }
        Ok(ways)
    }

    fn lines_of_queue(&self, links: &Links, path: &[usize]) -> Vec<LineText> {
        links.class_of_queue(path).map_or_else(Vec::new, |class| self.lines(class.lines.iter().copied()))
    }
}

/// Returns the classes on the path to the queue whose indexes are `path`.
fn classes_at(queueing: &QueueingConfig, path: &[usize]) -> Vec<QueueClass> {
    let mut found = Vec::new();
    let mut rate_to_quantum = None;
    let mut queueing = Some(queueing);
    for index in path {
        let Some(around) = queueing else { break };
        let Some(class) = around.classes.get(*index) else { break };
        let own = ClassConfig { matches: None, queueing: None, ..class.clone() };
        // Only the outermost HTB of a tree has an r2q. It applies to all classes of the tree.
        let outer = rate_to_quantum.filter(|_| around.scheduler == SchedulerConfig::Htb);
        rate_to_quantum = around.rate_to_quantum.or(outer);
        let turn = turn(around.scheduler, class, rate_to_quantum);
        found.push(QueueClass { scheduler: around.scheduler, turn, class: own });
        queueing = class.queueing.as_ref();
    }
    found
}

/// Returns the quantum of a class, if it is a class of HTB with a queue.
fn turn(scheduler: SchedulerConfig, class: &ClassConfig, rate_to_quantum: Option<u32>) -> Option<Turn> {
    let share = &class.share;
    let takes_turns = scheduler == SchedulerConfig::Htb && share.direct != Some(true);
    (takes_turns && class.link_shared(SchedulerConfig::Htb).is_none()).then(|| Turn {
        quantum: htb_quantum(share, rate_to_quantum),
        of_rate: share
            .rate
            .filter(|_| share.quantum.is_none())
            .map(|rate| ByteSize::from_bytes(htb_rate_quantum(rate, rate_to_quantum))),
        rate_to_quantum: rate_to_quantum.unwrap_or(HTB_RATE_TO_QUANTUM),
    })
}
