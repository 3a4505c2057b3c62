//! [`SchedulerTree`]: the schedulers and shapers of one port, one inside the other, with the queues as leaves.

use super::shaper::Shaper;
use super::{AnyScheduler, Scheduler, Selection};
use crate::error::ConfigError;
use crate::packet::Packet;
use crate::policy::{ClassConfig, QueueingConfig};
use crate::queue::{Queue, QueueId};
use crate::units::{Rate, Time};

/// The schedulers of one port.
///
/// A class with a shaper is told to the scheduler above it when its head may leave, and as long as
/// it may: a packet that is held back does not exist up there. Its tokens are spent when the packet
/// leaves the queue, so that what enters the transmit ring conforms on every interval.
#[derive(Clone, Debug)]
pub struct SchedulerTree {
    layout: Layout,
    /// Every scheduler stands before those inside it; the root is the first.
    nodes: Vec<Node>,
    /// Where each queue hangs.
    leaves: Vec<Place>,
}

/// How much there is to decide.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// One queue, nothing to decide.
    Single,
    /// One scheduler over queues, no shaper: heads are known when packets join and leave.
    Flat,
    /// Schedulers inside schedulers, or shapers: heads that depend on time or on a choice are found at every choice.
    Nested,
}

#[derive(Clone, Debug)]
struct Node {
    scheduler: AnyScheduler,
    children: Vec<Child>,
    /// The length each child would send now, 0 where it has nothing to send.
    heads: Vec<u32>,
    /// The children with a shaper or a scheduler inside. The heads of the others change when packets join and leave.
    watched: Vec<usize>,
    parent: Option<Place>,
    /// The child it would serve now.
    choice: Option<usize>,
}

#[derive(Clone, Debug)]
struct Child {
    below: Below,
    shaper: Option<Shaper>,
    /// Where there is a shaper: whether the scheduler has been told of a packet.
    released: bool,
}

#[derive(Clone, Copy, Debug)]
enum Below {
    Queue(QueueId),
    Node(usize),
}

/// A child of a node.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: usize,
    child: usize,
}

impl SchedulerTree {
    /// One queue and nothing to decide.
    pub fn single() -> SchedulerTree {
        SchedulerTree { layout: Layout::Single, nodes: Vec::new(), leaves: Vec::new() }
    }

    /// The schedulers of `config` on a wire of `rate`; queues are the leaf classes, depth first.
    ///
    /// # Errors
    /// Where a class asks for a share that its scheduler cannot give, or has a shaper that cannot be built.
    pub fn build(config: &QueueingConfig, rate: Rate) -> Result<SchedulerTree, ConfigError> {
        let mut tree = SchedulerTree { layout: Layout::Nested, ..SchedulerTree::single() };
        tree.add(config, None, rate)?;
        let shaped = tree.nodes.iter().flat_map(|node| &node.children).any(|child| child.shaper.is_some());
        if !shaped && tree.nodes.len() == 1 {
            tree.layout = if tree.leaves.len() == 1 { Layout::Single } else { Layout::Flat };
        }
        Ok(tree)
    }

    fn add(
        &mut self,
        config: &QueueingConfig,
        parent: Option<Place>,
        rate: Rate,
    ) -> Result<usize, ConfigError> {
        let node = self.nodes.len();
        let scheduler = config.scheduler.build(&config.classes, rate)?;
        let count = config.classes.len();
        let (children, heads) = (Vec::with_capacity(count), vec![0; count]);
        self.nodes.push(Node { scheduler, children, heads, watched: Vec::new(), parent, choice: None });
        for (index, class) in config.classes.iter().enumerate() {
            let child = self
                .add_class(class, Place { node, child: index }, rate)
                .map_err(|error| error.within(index).within("classes"))?;
            if child.shaper.is_some() || matches!(child.below, Below::Node(_)) {
                self.nodes[node].watched.push(index);
            }
            self.nodes[node].children.push(child);
        }
        Ok(node)
    }

    fn add_class(&mut self, class: &ClassConfig, place: Place, rate: Rate) -> Result<Child, ConfigError> {
        let shaper = class.shape.map(|shape| shape.build()).transpose().map_err(|e| e.within("shape"))?;
        let below = if let Some(inner) = &class.queueing {
            Below::Node(self.add(inner, Some(place), rate).map_err(|e| e.within("queueing"))?)
        } else {
            self.leaves.push(place);
            Below::Queue(QueueId((self.leaves.len() - 1) as u16))
        };
        Ok(Child { below, shaper, released: false })
    }

    /// Whether there is one queue and nothing to decide: then this tree keeps no state at all.
    pub fn is_single(&self) -> bool {
        matches!(self.layout, Layout::Single)
    }

    /// A packet of `length` IP bytes joined `queue`, at its tail.
    pub fn enqueued(&mut self, now: Time, queue: QueueId, length: u32, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => {
                let node = &mut self.nodes[0];
                node.heads[queue.index()] = head_of(queue, queues);
                node.scheduler.enqueued(now, queue.index(), length);
            }
            Layout::Nested => {
                let place = self.leaves[queue.index()];
                if self.child(place).shaper.is_none() {
                    self.nodes[place.node].heads[place.child] = head_of(queue, queues);
                    self.announce(now, place, length);
                }
            }
        }
    }

    /// A packet joined `queue` in place of another that was given up: as many wait as before, and that is
    /// all that schedulers count.
    pub fn replaced(&mut self, queue: QueueId, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => self.nodes[0].heads[queue.index()] = head_of(queue, queues),
            Layout::Nested => {
                let place = self.leaves[queue.index()];
                if self.child(place).shaper.is_none() {
                    self.nodes[place.node].heads[place.child] = head_of(queue, queues);
                }
            }
        }
    }

    /// The queue to serve now. Asked again before anything else happens, the answer is the same.
    pub fn select(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        match self.layout {
            Layout::Single => match queues[0].head() {
                Some(_) => Selection::Serve(QueueId(0)),
                None => Selection::Idle,
            },
            Layout::Flat => {
                let node = &mut self.nodes[0];
                let choice = node.scheduler.select(now, &node.heads);
                choice.map_or(Selection::Idle, |child| Selection::Serve(QueueId(child as u16)))
            }
            Layout::Nested => self.select_nested(now, queues),
        }
    }

    /// `packet`, the head of the queue that was selected, has left it.
    pub fn dequeued(&mut self, now: Time, queue: QueueId, packet: &Packet, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => {
                let node = &mut self.nodes[0];
                node.heads[queue.index()] = head_of(queue, queues);
                node.scheduler.dequeued(now, queue.index(), packet.length);
            }
            Layout::Nested => self.dequeued_nested(now, queue, packet.length, queues),
        }
    }

    /// Lets every scheduler choose, those inside before those around them, then follows the choices.
    fn select_nested(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        let mut release = Time::MAX;
        for node in (0..self.nodes.len()).rev() {
            for watched in 0..self.nodes[node].watched.len() {
                let child = self.nodes[node].watched[watched];
                let ready_at = self.look_at(now, Place { node, child }, queues);
                release = release.min(ready_at.unwrap_or(Time::MAX));
            }
            let node = &mut self.nodes[node];
            node.choice = node.scheduler.select(now, &node.heads);
        }
        let mut below = Below::Node(0);
        loop {
            match below {
                Below::Queue(queue) => return Selection::Serve(queue),
                Below::Node(index) => match self.nodes[index].choice {
                    Some(child) => below = self.nodes[index].children[child].below,
                    None if release < Time::MAX => return Selection::WaitUntil(release),
                    None => return Selection::Idle,
                },
            }
        }
    }

    /// Notes the head of the child at `place`; where its shaper holds it back, returns until when.
    fn look_at(&mut self, now: Time, place: Place, queues: &[Queue]) -> Option<Time> {
        let length = match self.child(place).below {
            Below::Queue(queue) => head_of(queue, queues),
            Below::Node(node) => self.nodes[node].head(),
        };
        let child = self.child(place);
        let ready_at = child.shaper.as_ref().map_or(now, |shaper| shaper.ready_at(now, length));
        if length > 0 && ready_at > now {
            self.nodes[place.node].heads[place.child] = 0;
            return Some(ready_at);
        }
        if length > 0 && child.shaper.is_some() && !child.released {
            self.announce(now, place, length);
        }
        self.nodes[place.node].heads[place.child] = length;
        None
    }

    /// Tells the scheduler above `place`, and those around it, of a packet: up to the next shaper,
    /// which tells of it in its own time.
    fn announce(&mut self, now: Time, place: Place, length: u32) {
        let mut next = Some(place);
        while let Some(place) = next {
            let node = &mut self.nodes[place.node];
            node.children[place.child].released = true;
            node.scheduler.enqueued(now, place.child, length);
            next = node.parent.filter(|parent| self.child(*parent).shaper.is_none());
        }
    }

    fn dequeued_nested(&mut self, now: Time, queue: QueueId, length: u32, queues: &[Queue]) {
        let mut next = Some(self.leaves[queue.index()]);
        // What the child at `place` would send next, were there no shaper.
        let mut head = head_of(queue, queues);
        while let Some(place) = next {
            if self.child(place).shaper.is_some() {
                head = self.spend(now, place, length, head);
            }
            let node = &mut self.nodes[place.node];
            node.scheduler.dequeued(now, place.child, length);
            node.heads[place.child] = head;
            node.choice = node.scheduler.select(now, &node.heads);
            head = node.head();
            next = node.parent;
        }
    }

    /// The shaped child at `place` has sent `length` bytes; returns its head if that may follow at once.
    ///
    /// A head that may is announced before its predecessor is gone: the scheduler above sees no gap,
    /// and the child keeps its place there.
    fn spend(&mut self, now: Time, place: Place, length: u32, head: u32) -> u32 {
        let child = &mut self.nodes[place.node].children[place.child];
        child.released = false;
        let Some(shaper) = &mut child.shaper else { return head };
        shaper.sent(now, length);
        if head == 0 || shaper.ready_at(now, head) > now {
            return 0;
        }
        self.announce(now, place, head);
        head
    }

    fn child(&self, place: Place) -> &Child {
        &self.nodes[place.node].children[place.child]
    }
}

impl Node {
    /// The length of the packet it would send now, 0 for none.
    fn head(&self) -> u32 {
        self.choice.map_or(0, |child| self.heads[child])
    }
}

/// The length of the packet at the head of `queue`, 0 for none: a packet without a byte counts as one,
/// or it would never be seen.
fn head_of(queue: QueueId, queues: &[Queue]) -> u32 {
    queues[queue.index()].head().map_or(0, |packet| packet.length.max(1))
}
