//! [`SchedulerTree`]: the nested schedulers and shapers of one port. Its leaves are the queues.

mod dropped;
mod nested;
mod paused;
#[cfg(test)]
mod tests;
mod timed;

use super::any_scheduler::AnyScheduler;
use super::contract::{Scheduler, Selection};
use super::shaper::Shaper;

use crate::accounting::Accounting;
use crate::policy::{ClassConfig, PauseMode, QueueingConfig};
use crate::queue::{Queue, QueueId};
use crate::{ConfigError, Rate, Time};

/// The schedulers of one port.
///
/// A class with a shaper is visible to the scheduler above it only while its head may leave. The shaper
/// spends tokens when the packet leaves the queue, so the packets that enter the transmit ring conform in
/// every interval.
#[derive(Clone, Debug)]
pub struct SchedulerTree {
    layout: Layout,
    /// The nodes. Each scheduler precedes its inner schedulers, and the first one is the root.
    nodes: Vec<Node>,
    /// The place of each queue.
    leaves: Vec<Place>,
    /// Whether a choice may have changed since it was made. Not used with [`Layout::Timed`].
    is_stale: bool,
    /// The time before which all choices are valid. It is 0 if a choice may have changed. Only for
    /// [`Layout::Timed`].
    valid_until: Time,
    /// The accounting of packets. It is used only with [`Layout::Counting`] and [`Layout::Timed`]. All other
    /// layouts count IP bytes.
    accounting: Accounting,
}

/// The complexity of the tree.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// The port has one queue, so there is no choice.
    Single,
    /// One scheduler of queues, without shapers. Heads change only when packets join and leave. It counts IP
    /// bytes.
    Flat,
    /// Like `Flat`, but with the configured accounting.
    Counting,
    /// Nested schedulers whose choices change only when packets join and leave. They count IP bytes.
    Nested,
    /// Shapers, or nested schedulers whose choices depend on time or that do not count IP bytes.
    Timed,
}

#[derive(Clone, Debug)]
struct Node {
    scheduler: AnyScheduler,
    /// The queue or the inner scheduler of each child.
    children: Vec<Below>,
    /// The length of the packet that each child would send now, or 0 if the child has no such packet.
    heads: Vec<u32>,
    /// The children with a shaper or an inner scheduler. The heads of all other children change only when
    /// packets join and leave.
    watched: Vec<Watched>,
    /// The position of the node in its parent. `None` for the root.
    parent: Option<Place>,
    /// Whether the scheduler counts arrivals.
    counts_arrivals: bool,
    /// The nearest outer position whose scheduler counts arrivals, or `None` if there is no such scheduler or
    /// a shaper is in between.
    informs: Option<Place>,
    /// The child that the node would serve now.
    choice: Option<usize>,
    /// Whether the choice of the node may have changed since it was made.
    is_stale: bool,
    /// Whether the choice of the node can change with time.
    depends_on_time: bool,
}

/// A child with a shaper or an inner scheduler.
#[derive(Clone, Debug)]
struct Watched {
    child: usize,
    below: Below,
    shaping: Shaping,
}

#[derive(Clone, Debug, Default)]
struct Shaping {
    shaper: Option<Shaper>,
    /// Whether the scheduler above has been notified of a packet that the shaper allows to leave.
    released: bool,
    /// The length up to which a head may leave the shaper without another check, or 0 if unknown. It is valid
    /// until a packet is sent, because only sending reduces the credit. Without a shaper, it is the largest
    /// number.
    covered: u32,
    /// Whether a pause delays all packets, in addition to the shaper.
    is_paused: bool,
}

#[derive(Clone, Copy, Debug)]
enum Below {
    Queue(QueueId),
    Node(u16),
}

/// The position of a child: its node, and its index in this node.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: usize,
    child: usize,
    /// The index of the child among the watched children, if it has a shaper.
    shaped: Option<u32>,
}

impl SchedulerTree {
    /// Creates the tree of a port with one queue, which needs no choice.
    pub fn single() -> SchedulerTree {
        SchedulerTree {
            layout: Layout::Single,
            nodes: Vec::new(),
            leaves: Vec::new(),
            is_stale: false,
            valid_until: Time::ZERO,
            accounting: Accounting::IP,
        }
    }

    /// Builds the schedulers of `config` for a wire of `rate`. The queues are the leaf classes, depth first.
    ///
    /// # Errors
    /// A class has a share that its scheduler does not support, or its shaper is invalid.
    pub fn build(config: &QueueingConfig, rate: Rate) -> Result<SchedulerTree, ConfigError> {
        let mut tree = SchedulerTree::single();
        tree.add(config, None, rate)?;
        let nodes = &tree.nodes;
        let is_shaped =
            nodes.iter().flat_map(|node| &node.watched).any(|child| child.shaping.shaper.is_some());
        let depends_on_time = is_shaped || nodes.iter().any(|node| node.depends_on_time);
        tree.layout = match (is_shaped, nodes.len(), tree.leaves.len()) {
            (false, 1, 1) if !nodes[0].scheduler.holds_back() => Layout::Single,
            (false, 1, _) => Layout::Flat,
            _ if depends_on_time => Layout::Timed,
            _ => Layout::Nested,
        };
        tree.find_informed();
        Ok(tree)
    }
    /// Finds the schedulers that each node notifies of arrivals. Each node comes after the nodes that contain
    /// it.
    fn find_informed(&mut self) {
        for index in 0..self.nodes.len() {
            let visible = self.nodes[index].parent.filter(|parent| parent.shaped.is_none());
            self.nodes[index].informs = visible.and_then(|parent| {
                let outer = &self.nodes[parent.node];
                if outer.counts_arrivals { Some(parent) } else { outer.informs }
            });
        }
    }

    fn add(
        &mut self,
        config: &QueueingConfig,
        parent: Option<Place>,
        rate: Rate,
    ) -> Result<usize, ConfigError> {
        let node = self.nodes.len();
        let scheduler = config.build_scheduler(rate)?;
        let (depends_on_time, counts_arrivals) = (scheduler.depends_on_time(), scheduler.counts_arrivals());
        let count = members(config);
        self.nodes.push(Node {
            scheduler,
            children: Vec::with_capacity(count),
            heads: vec![0; count],
            watched: Vec::new(),
            parent,
            counts_arrivals,
            informs: None,
            choice: None,
            is_stale: false,
            depends_on_time,
        });
        self.add_members(config, node, rate)?;
        Ok(node)
    }

    /// Adds the children of `node`: the classes of `config`. A class that the scheduler handles in its own
    /// tree is replaced by its inner classes.
    fn add_members(&mut self, config: &QueueingConfig, node: usize, rate: Rate) -> Result<(), ConfigError> {
        for (index, class) in config.classes.iter().enumerate() {
            let within = |error: ConfigError| error.within(index).within("classes");
            if let Some(inner) = class.link_shared(config.scheduler) {
                self.add_members(inner, node, rate).map_err(|error| within(error.within("queueing")))?;
                continue;
            }
            let below = self.add_class(class, node, rate).map_err(within)?;
            self.nodes[node].children.push(below);
        }
        Ok(())
    }

    /// Adds a class as the next child of `node`.
    fn add_class(&mut self, class: &ClassConfig, node: usize, rate: Rate) -> Result<Below, ConfigError> {
        let shaper = class.shape.map(|shape| shape.build()).transpose().map_err(|e| e.within("shape"))?;
        // A child that can be paused gets a shaper without a rate, so that the tree checks the child before
        // each choice.
        let is_pausable = class.pause.is_some_and(|pause| pause.mode == PauseMode::On);
        let shaper = shaper.or_else(|| is_pausable.then_some(Shaper::UNLIMITED));
        let (child, watched) = (self.nodes[node].children.len(), self.nodes[node].watched.len());
        let place = Place { node, child, shaped: shaper.is_some().then_some(watched as u32) };
        let below = if let Some(inner) = &class.queueing {
            Below::Node(self.add(inner, Some(place), rate).map_err(|e| e.within("queueing"))? as u16)
        } else {
            self.leaves.push(place);
            Below::Queue(QueueId((self.leaves.len() - 1) as u16))
        };
        if shaper.is_some() || matches!(below, Below::Node(_)) {
            let covered = if shaper.is_some() { 0 } else { u32::MAX };
            let shaping = Shaping { shaper, covered, ..Shaping::default() };
            self.nodes[node].watched.push(Watched { child, below, shaping });
        }
        Ok(below)
    }

    /// Sets the accounting that schedulers and shapers use. The tree must be empty.
    ///
    /// If the accounting counts only IP bytes, the tree keeps its layout, which may ignore the accounting.
    #[must_use]
    pub fn counting(mut self, accounting: Accounting) -> SchedulerTree {
        if !accounting.is_ip() {
            self.accounting = accounting;
            self.layout = match self.layout {
                Layout::Single => Layout::Single,
                Layout::Flat | Layout::Counting => Layout::Counting,
                Layout::Nested | Layout::Timed => Layout::Timed,
            };
        }
        self
    }

    /// Whether the tree has one queue, which needs no choice. The tree then has no state.
    pub fn is_single(&self) -> bool {
        matches!(self.layout, Layout::Single)
    }

    /// Records that a packet of `length` IP bytes has joined `queue`, which has the number `id`.
    #[inline]
    pub fn enqueued(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => self.enqueued_flat(now, id, length, queue),
            Layout::Counting => self.enqueued_counting(now, id, length, queue),
            Layout::Timed => self.enqueued_timed(now, id, length, queue),
            Layout::Nested => self.enqueued_nested(now, id, length, queue),
        }
    }

    /// Records that a packet has joined `queue`, which has the number `id`, and that another packet of the
    /// queue was discarded. Schedulers count only the number of packets, which does not change.
    #[inline(never)]
    pub fn replaced(&mut self, id: QueueId, queue: &Queue) {
        let head = head_of(queue, self.accounting);
        match self.layout {
            Layout::Single => {}
            Layout::Flat | Layout::Counting => {
                self.nodes[0].set_head(id.index(), head);
            }
            Layout::Nested | Layout::Timed => {
                let place = self.leaves[id.index()];
                self.valid_until = Time::ZERO;
                if place.shaped.is_none() {
                    self.nodes[place.node].set_head(place.child, head);
                    self.mark_stale(place);
                }
            }
        }
    }

    /// Returns the queue to serve now. A second call before any other event returns the same queue.
    #[expect(clippy::inline_always, reason = "every waiting packet calls it")]
    #[inline(always)]
    pub fn select(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        match self.layout {
            Layout::Single if queues[0].occupancy().packets > 0 => Selection::Serve(QueueId(0)),
            Layout::Single => Selection::Idle,
            Layout::Flat | Layout::Counting => {
                let node = &mut self.nodes[0];
                match node.scheduler.select(now, &node.heads) {
                    Some(child) => Selection::Serve(QueueId(child as u16)),
                    None => node.held_back(),
                }
            }
            Layout::Timed => self.select_timed(now, queues),
            Layout::Nested => self.select_nested(now).map_or(Selection::Idle, Selection::Serve),
        }
    }

    /// Records that the head of `queue`, a packet of `length` IP bytes, has left. `id` is the number of the
    /// queue, which [`select`](SchedulerTree::select) has returned.
    #[inline]
    pub fn dequeued(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        match self.layout {
            Layout::Single => {}
            Layout::Flat => self.dequeued_flat(now, id, length, head_of(queue, Accounting::IP)),
            Layout::Counting => self.dequeued_counting(now, id, length, queue),
            Layout::Timed => self.dequeued_timed(now, id, length, queue),
            Layout::Nested => self.dequeued_nested(now, id, length, queue),
        }
    }

    #[inline]
    fn enqueued_flat(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let node = &mut self.nodes[0];
        node.scheduler.enqueued(now, id.index(), length);
        node.update_tail(id.index(), length, queue, Accounting::IP);
    }
    #[inline(never)]
    fn enqueued_counting(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let node = &mut self.nodes[0];
        node.scheduler.enqueued(now, id.index(), self.accounting.counted(length));
        node.update_tail(id.index(), length, queue, self.accounting);
    }
    #[inline]
    fn dequeued_flat(&mut self, now: Time, id: QueueId, length: u32, head: u32) {
        let node = &mut self.nodes[0];
        node.heads[id.index()] = head;
        node.scheduler.dequeued(now, id.index(), length, head);
    }
    #[inline(never)]
    fn dequeued_counting(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        self.dequeued_flat(now, id, self.accounting.counted(length), head_of(queue, self.accounting));
    }

    /// The queue that results from the choices of all nodes, beginning at the root.
    #[inline]
    fn chosen(&self) -> Option<QueueId> {
        let mut node = &self.nodes[0];
        loop {
            match node.children[node.choice?] {
                Below::Queue(queue) => return Some(queue),
                Below::Node(index) => node = &self.nodes[usize::from(index)],
            }
        }
    }
}

/// The number of children of the scheduler of `config`.
fn members(config: &QueueingConfig) -> usize {
    config.classes.iter().map(|class| class.link_shared(config.scheduler).map_or(1, members)).sum()
}

impl Node {
    /// Returns the result for a node that serves no child: the time at which its first child may send, or
    /// idle.
    #[cold]
    fn held_back(&self) -> Selection<QueueId> {
        self.scheduler.held_until().map_or(Selection::Idle, Selection::WaitUntil)
    }
    /// The length of the packet that the node would send now, or 0 if there is none.
    #[inline]
    fn head(&self) -> u32 {
        self.choice.map_or(0, |child| self.heads[child])
    }
    /// Sets the length of the head of `child` to `length`, or to 0 if it has no head. Returns whether the
    /// length has changed.
    #[inline(never)]
    fn set_head(&mut self, child: usize, length: u32) -> bool {
        let is_another = self.heads[child] != length;
        if is_another {
            self.heads[child] = length;
            self.scheduler.head_changed(child, length);
        }
        is_another
    }
    /// Records that a packet of `length` IP bytes has joined `queue`, which is `child`. In a FIFO with other
    /// packets, the head stays the same. Returns whether the head has changed.
    #[inline]
    fn update_tail(&mut self, child: usize, length: u32, queue: &Queue, accounting: Accounting) -> bool {
        match (queue.occupancy().packets, queue.is_fifo()) {
            (1, _) => self.set_head(child, accounting.counted(length)),
            (_, true) => false,
            (_, false) => self.set_head(child, head_of(queue, accounting)),
        }
    }
    /// Records that `child` has sent a packet of `length` bytes. Its next head has `next` bytes, or there is
    /// no next head if `next` is 0. Makes a new choice.
    #[expect(clippy::inline_always, reason = "every departure calls it at each level")]
    #[inline(always)]
    fn sent(&mut self, now: Time, child: usize, length: u32, next: u32) {
        self.heads[child] = next;
        self.choice = self.scheduler.dequeued_then_select(now, child, length, next, &self.heads);
    }
    #[expect(clippy::inline_always, reason = "every departure calls it at each level")]
    #[inline(always)]
    fn choose(&mut self, now: Time) {
        self.choice = self.scheduler.select(now, &self.heads);
        self.is_stale = false;
    }
}

/// The counted length of the head of `queue`, or 0 if there is none.
#[inline]
fn head_of(queue: &Queue, accounting: Accounting) -> u32 {
    queue.head().map_or(0, |packet| accounting.counted(packet.length))
}
