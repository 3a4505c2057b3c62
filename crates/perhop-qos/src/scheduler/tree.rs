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
    /// Schedulers inside schedulers, or shapers: heads that depend on time or on a choice are found before a choice.
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
    /// Whether something joined since it chose.
    is_stale: bool,
    /// Whether time alone may change its choice: by its scheduler, a shaper, or a node inside.
    heeds_time: bool,
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
        tree.note_who_heeds_time();
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
        self.nodes.push(Node {
            heeds_time: scheduler.heeds_time(),
            scheduler,
            children,
            heads,
            watched: Vec::new(),
            parent,
            choice: None,
            is_stale: false,
        });
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

    /// A choice heeds time where one inside it does.
    fn note_who_heeds_time(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            let heeds_time = |child: &Child| {
                child.shaper.is_some()
                    || matches!(child.below, Below::Node(inner) if self.nodes[inner].heeds_time)
            };
            if self.nodes[index].children.iter().any(heeds_time) {
                self.nodes[index].heeds_time = true;
            }
        }
    }

    /// Whether there is one queue and nothing to decide: then this tree keeps no state at all.
    pub fn is_single(&self) -> bool {
        matches!(self.layout, Layout::Single)
    }

    /// A packet of `length` IP bytes joined `queue`.
    #[inline]
    pub fn enqueued(&mut self, now: Time, queue: QueueId, length: u32, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => {
                let node = &mut self.nodes[0];
                node.scheduler.enqueued(now, queue.index(), length);
                node.note_tail(queue.index(), length, &queues[queue.index()]);
            }
            Layout::Nested => {
                let place = self.leaves[queue.index()];
                if self.child(place).shaper.is_none() {
                    self.nodes[place.node].note_tail(place.child, length, &queues[queue.index()]);
                    self.announce(now, place, length);
                }
            }
        }
    }

    /// A packet joined `queue` in place of another that was given up: as many wait as before, and that is
    /// all that schedulers count.
    #[inline(never)]
    pub fn replaced(&mut self, queue: QueueId, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => self.nodes[0].set_head(queue.index(), head_of(&queues[queue.index()])),
            Layout::Nested => {
                let place = self.leaves[queue.index()];
                if self.child(place).shaper.is_none() {
                    self.nodes[place.node].set_head(place.child, head_of(&queues[queue.index()]));
                    self.mark_stale(place);
                }
            }
        }
    }

    /// The queue to serve now. Asked again before anything else happens, the answer is the same.
    #[inline]
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
    #[inline]
    pub fn dequeued(&mut self, now: Time, queue: QueueId, packet: &Packet, queues: &[Queue]) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => {
                let head = head_of(&queues[queue.index()]);
                self.nodes[0].sent(now, queue.index(), packet.length, head);
            }
            Layout::Nested => self.dequeued_nested(now, queue, packet.length, queues),
        }
    }

    /// Lets every scheduler choose whose choice may have changed, those inside before those around them, then follows
    /// the choices.
    #[inline(never)]
    fn select_nested(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        let mut release = Time::MAX;
        for index in (0..self.nodes.len()).rev() {
            if self.nodes[index].is_stale || self.nodes[index].heeds_time {
                release = release.min(self.choose(now, index, queues));
            }
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

    /// Lets node `index` choose; where shapers hold children of it back, returns until when.
    #[inline(never)]
    fn choose(&mut self, now: Time, index: usize, queues: &[Queue]) -> Time {
        let mut release = Time::MAX;
        for watched in 0..self.nodes[index].watched.len() {
            let child = self.nodes[index].watched[watched];
            let ready_at = self.look_at(now, Place { node: index, child }, queues);
            release = release.min(ready_at.unwrap_or(Time::MAX));
        }
        self.nodes[index].choose(now);
        release
    }

    /// Notes the head of the child at `place`; where its shaper holds it back, returns until when.
    #[inline(never)]
    fn look_at(&mut self, now: Time, place: Place, queues: &[Queue]) -> Option<Time> {
        let length = match self.child(place).below {
            Below::Queue(queue) => head_of(&queues[queue.index()]),
            Below::Node(node) => self.nodes[node].head(),
        };
        let child = self.child(place);
        let ready_at = child.shaper.as_ref().map_or(now, |shaper| shaper.ready_at(now, length));
        if length > 0 && ready_at > now {
            self.nodes[place.node].set_head(place.child, 0);
            return Some(ready_at);
        }
        if length > 0 && child.shaper.is_some() && !child.released {
            self.announce(now, place, length);
        }
        self.nodes[place.node].set_head(place.child, length);
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
            node.is_stale = true;
            next = node.parent.filter(|parent| self.child(*parent).shaper.is_none());
        }
    }

    /// The scheduler above `place`, and those around it, are to choose afresh.
    fn mark_stale(&mut self, place: Place) {
        let mut next = Some(place);
        while let Some(place) = next {
            self.nodes[place.node].is_stale = true;
            next = self.nodes[place.node].parent;
        }
    }

    #[inline(never)]
    fn dequeued_nested(&mut self, now: Time, queue: QueueId, length: u32, queues: &[Queue]) {
        let mut next = Some(self.leaves[queue.index()]);
        // What the child at `place` would send next, were there no shaper.
        let mut head = head_of(&queues[queue.index()]);
        while let Some(place) = next {
            if self.child(place).shaper.is_some() {
                head = self.spend(now, place, length, head);
            }
            let node = &mut self.nodes[place.node];
            node.sent(now, place.child, length, head);
            node.choose(now);
            head = node.head();
            next = node.parent;
        }
    }

    /// The shaped child at `place` has sent `length` bytes; returns its head if that may follow at once.
    ///
    /// A head that may is announced before its predecessor is gone: the scheduler above sees no gap,
    /// and the child keeps its place there.
    #[inline(never)]
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
    /// The head of `child` has `length` bytes from now on; 0 for none.
    #[inline]
    fn set_head(&mut self, child: usize, length: u32) {
        if self.heads[child] != length {
            self.heads[child] = length;
            self.scheduler.head_changed(child, length);
        }
    }
    /// A packet of `length` bytes joined `queue`, which is `child`: behind its head, unless it serves flows fairly.
    #[inline]
    fn note_tail(&mut self, child: usize, length: u32, queue: &Queue) {
        if self.heads[child] == 0 {
            self.heads[child] = counted(length);
            self.scheduler.head_changed(child, counted(length));
        } else if !queue.is_fifo() {
            self.set_head(child, head_of(queue));
        }
    }
    /// `child` has sent a packet of `length` bytes, and its next head has `head`; 0 for none.
    #[inline]
    fn sent(&mut self, now: Time, child: usize, length: u32, head: u32) {
        self.heads[child] = head;
        self.scheduler.dequeued(now, child, length, head);
    }
    #[inline]
    fn choose(&mut self, now: Time) {
        self.choice = self.scheduler.select(now, &self.heads);
        self.is_stale = false;
    }
}

/// The length of the packet at the head of `queue`, 0 for none.
#[inline]
fn head_of(queue: &Queue) -> u32 {
    queue.head().map_or(0, |packet| counted(packet.length))
}

/// A packet without a byte counts as one, or it would never be seen.
#[inline]
fn counted(length: u32) -> u32 {
    length.max(1)
}
