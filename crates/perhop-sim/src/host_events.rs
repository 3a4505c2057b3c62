//! [`HostEvents`]: the reactions of hosts to events of the agenda.

use perhop_measure::counters::QueueSample;
use perhop_net::source::ReplayedPacket;
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::port::Peak;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use crate::engine::Engine;
use crate::event::HostEvent;
use crate::flow::{Template, flow_of, payload, sequence_of};
use crate::hosts::{FlowSource, QueueProbe};
use crate::session::{Carried, Sessions, sample_speed};

/// The events at hosts, for both engines.
pub(crate) trait HostEvents: Sessions {
    /// Handles `event`.
    #[inline]
    fn handle_host_event(&mut self, now: Time, event: HostEvent) {
        match event {
            HostEvent::Emission(source) => self.emit(now, source as usize),
            HostEvent::Replay(replay) => self.replay(now, replay as usize),
            HostEvent::QueueSample(probe) => self.sample_queues(now, probe as usize),
            HostEvent::SessionDue(session) => self.session_due(now, session as usize),
            HostEvent::ConnectionTimer(end) => self.connection_timer(now, end as usize),
            HostEvent::ConnectionSample(probe) => {
                let (hosts, agenda) = self.split();
                let (slot, next) = hosts.transport.sample(now, probe as usize);
                agenda.schedule(slot, next);
            }
            HostEvent::SpeedSample(test) => sample_speed(self, test as usize),
            HostEvent::WarmupEnds => self.hosts_mut().transport.end_warmup(),
        }
    }

    /// Sends the due packet of a source and schedules the packet after it.
    fn emit(&mut self, now: Time, source: usize) {
        let (hosts, agenda) = self.split();
        let mut packet = hosts.sources[source].template;
        hosts.take_packet(source, &mut packet);
        let FlowSource { flow, due, slot, .. } = hosts.sources[source];
        if let Some(slot) = slot.filter(|_| due.at < Time::MAX) {
            agenda.schedule(slot, due.at);
        }
        let link = hosts.link_of(flow, 0);
        self.forward(now, link, &mut packet);
    }

    /// Sends the due packet of a recording and schedules the packet after it.
    fn replay(&mut self, now: Time, replay: usize) {
        let (hosts, agenda) = self.split();
        let replay = &mut hosts.replays[replay];
        let Some(ReplayedPacket { flow, recorded }) = replay.next_packet() else { return };
        if let Some(due) = replay.due_at() {
            agenda.schedule(replay.slot, due);
        }
        let counters = &mut hosts.measurements.counters[flow];
        let number = counters.next_sequence;
        counters.next_sequence = number.wrapping_add(1);
        let Template(mut packet) = hosts.templates[flow];
        packet.length = recorded.length;
        packet.sent_at = now;
        packet.dscp = recorded.dscp;
        packet.marks = recorded.marks;
        packet.input = recorded.input;
        packet.color = packet.dscp.color();
        if now >= hosts.measurements.warmup {
            counters.offered.add(packet.length);
        }
        let place = if packet.protocol == Protocol::TCP {
            hosts.transport.segments.hold(Carried::replayed(&recorded, number))
        } else {
            number
        };
        packet.payload = payload(flow, place);
        let link = hosts.link_of(flow, 0);
        self.forward(now, link, &mut packet);
    }

    /// Takes a sample of a queue probe and schedules the next sample.
    fn sample_queues(&mut self, now: Time, probe: usize) {
        let (hosts, agenda) = self.split();
        let QueueProbe { link, every, slot, samples, .. } = &mut hosts.queue_probes[probe];
        agenda.schedule(*slot, now + *every);
        let (link, mut samples) = (*link, std::mem::take(samples));
        self.catch_up(now, link);
        let port = &mut self.direction_mut(link).port;
        port.release_departed(now);
        let peaks = port.take_peaks(now);
        // `take_peaks` resets the peaks of the port. Other probes of the port have other intervals, so they
        // also record these peaks.
        for other in self.hosts_mut().queue_probes.iter_mut().filter(|other| other.link == link) {
            other.most.resize(peaks.len(), Peak::default());
            other.most.iter_mut().zip(&peaks).for_each(|(most, peak)| *most = most.or(*peak));
        }
        let most = std::mem::take(&mut self.hosts_mut().queue_probes[probe].most);
        QueueSample::take(&self.direction(link).port, &most, now, &mut samples);
        self.hosts_mut().queue_probes[probe].samples = samples;
    }

    /// Delivers `packet` to its host. If the host answers at once, replaces `packet` with the answer and
    /// returns the link over which the answer leaves.
    #[inline]
    fn deliver(&mut self, now: Time, packet: &mut Packet) -> Option<LinkId> {
        if packet.protocol == Protocol::TCP {
            return self.receive_segment(now, packet);
        }
        let (flow, number) = (flow_of(packet), sequence_of(packet));
        let hosts = self.hosts_mut();
        if flow >= hosts.measurements.counters.len() {
            hosts.receive_fragment(now, packet);
        } else {
            hosts.measurements.deliver(now, flow, packet, number);
        }
        None
    }
}

impl<E: Engine> HostEvents for E {}
