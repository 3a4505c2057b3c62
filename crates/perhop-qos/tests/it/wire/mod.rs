//! A wire that polls a scheduler tree. It sends one packet after the other and checks the properties of all
//! schedulers at each step.

use perhop_qos::accounting::Accounting;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::queue::{PrecedenceSource, Queue, QueueId};
use perhop_qos::scheduler::{SchedulerTree, Selection};
use perhop_qos::{FlowKey, Packet, Rate, Time};

/// An arriving packet: time, queue, IP bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    pub(crate) queue: usize,
    pub(crate) length: u32,
}

/// A packet that was sent. `arrival` is its index among the arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) arrival: usize,
    pub(crate) queue: usize,
    pub(crate) length: u32,
    pub(crate) starts: Time,
    pub(crate) ends: Time,
}

/// Sends all `arrivals` (in order of time) through the schedulers of `config` on a wire of `rate`.
///
/// Checks that a repeated choice is the same, that each queue sends in order of arrival, that each packet is
/// sent once, and that the wire is idle only if no packet waits or shapers hold back all packets.
pub(crate) fn send(config: &QueueingConfig, rate: Rate, arrivals: &[Arrival]) -> Vec<Departure> {
    send_counted(config, rate, arrivals, Accounting::IP)
}

/// Sends all `arrivals` like [`send`], with schedulers and a wire that count bytes by `accounting`.
pub(crate) fn send_counted(
    config: &QueueingConfig,
    rate: Rate,
    arrivals: &[Arrival],
    accounting: Accounting,
) -> Vec<Departure> {
    let shaped = shaped_leaves(config);
    let mut tree = SchedulerTree::build(config, rate).unwrap().counting(accounting);
    let mut queues: Vec<Queue> = shaped.iter().map(|_| Queue::new(&PrecedenceSource::default())).collect();
    let mut departures: Vec<Departure> = Vec::with_capacity(arrivals.len());
    let (mut now, mut next, mut free_at) = (Time::ZERO, 0, Time::ZERO);
    loop {
        while next < arrivals.len() && arrivals[next].at <= now {
            let Arrival { at, queue, length } = arrivals[next];
            assert_eq!(at, now, "arrivals are in order of time");
            queues[queue].push(Packet { payload: next as u64, ..Packet::new(FlowKey::default(), length) });
            tree.enqueued(now, QueueId(queue as u16), length, &queues[queue]);
            next += 1;
        }
        let mut wake = free_at;
        if now >= free_at {
            let selection = tree.select(now, &queues);
            assert_eq!(selection, tree.select(now, &queues), "a repeated query gives the same choice");
            match selection {
                Selection::Serve(id) => {
                    let packet = queues[id.index()].pop().expect("a selected queue has a packet");
                    tree.dequeued(now, id, packet.length, &queues[id.index()]);
                    free_at = now + rate.transmission_time(u64::from(accounting.counted(packet.length)));
                    departures.push(Departure {
                        arrival: packet.payload as usize,
                        queue: id.index(),
                        length: packet.length,
                        starts: now,
                        ends: free_at,
                    });
                    wake = free_at;
                }
                Selection::WaitUntil(until) => {
                    assert!(until > now, "a shaper waits for the future");
                    let mut unshaped = queues.iter().zip(&shaped).filter(|(_, shaped)| !**shaped);
                    assert!(
                        unshaped.all(|(queue, _)| queue.head().is_none()),
                        "the wire is idle while a packet waits"
                    );
                    wake = until;
                }
                Selection::Idle => {
                    assert!(queues.iter().all(|queue| queue.head().is_none()), "idle with packets waiting");
                    wake = Time::MAX;
                }
            }
        }
        let arrival = arrivals.get(next).map_or(Time::MAX, |arrival| arrival.at);
        now = wake.min(arrival);
        if now == Time::MAX {
            break;
        }
    }
    check(arrivals, &departures, queues.len());
    departures
}

fn check(arrivals: &[Arrival], departures: &[Departure], queues: usize) {
    let mut sent: Vec<usize> = departures.iter().map(|departure| departure.arrival).collect();
    for queue in 0..queues {
        let of_queue = departures.iter().filter(|departure| departure.queue == queue);
        let order: Vec<usize> = of_queue.map(|departure| departure.arrival).collect();
        assert!(order.is_sorted(), "queue {queue} is not first in, first out: {order:?}");
    }
    sent.sort_unstable();
    assert_eq!(sent, (0..arrivals.len()).collect::<Vec<_>>(), "every packet is sent once");
}

/// For each leaf class, depth first: whether something can hold it or a class that contains it back. This is
/// a shaper, an upper limit, a rate, a real-time curve without a link-share curve, or `borrow: false`.
fn shaped_leaves(config: &QueueingConfig) -> Vec<bool> {
    fn collect(config: &QueueingConfig, above: Option<()>, leaves: &mut Vec<bool>) {
        for class in &config.classes {
            let shaped = above.or(class.shape.map(|_| ()));
            let share = &class.share;
            let held_to_allotment = share.borrow == Some(false) || share.upper_limit.is_some();
            let claims_alone = share.real_time.is_some() && share.link_share.is_none();
            let shaped = shaped.or((held_to_allotment || claims_alone || share.rate.is_some()).then_some(()));
            match &class.queueing {
                Some(inner) => collect(inner, shaped, leaves),
                None => leaves.push(shaped.is_some()),
            }
        }
    }
    let mut leaves = Vec::new();
    collect(config, None, &mut leaves);
    leaves
}
