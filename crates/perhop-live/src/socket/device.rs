//! [`Device`]: one interface with any kind of socket, and its counters.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use serde::Serialize;

use super::clock::Clock;
use super::express_device::ExpressDevice;
use super::open_error::OpenError;
use super::packet_device::PacketDevice;
use super::packet_ring::Received;
use super::system;
use super::tunnel_device::TunnelDevice;
use crate::config::SocketKind;
use crate::frame::{LinkLayer, finish_checksum};

/// Maximum length of headers before an IP packet: Ethernet header and two VLAN tags, bytes.
const HEADER_BYTES: usize = 14 + 2 * 4;

const NO_EXPRESS: &str = "cannot be opened for AF_XDP (\"socket\": \"af-packet\" works everywhere)";

/// State of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceState {
    /// The interface is usable.
    #[default]
    Up,
    /// The interface is administratively down. It may be up again later.
    Down,
    /// The interface was removed. This state is final.
    Lost,
}

/// Counters of one interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DeviceCounters {
    /// Name of the interface.
    pub device: String,
    /// State of the interface.
    pub state: DeviceState,
    /// Time at which the removal of the interface was detected, seconds since the start.
    pub lost_at_s: Option<f64>,
    /// Received frames.
    pub received_frames: u64,
    /// Bytes of these frames.
    pub received_bytes: u64,
    /// Frames that the kernel accepted for sending.
    pub sent_frames: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Frames lost because the ring was full: the forwarder was too slow or was not scheduled.
    pub lost_frames: u64,
    /// Frames that the kernel did not accept: its queue was full, or the interface was down or removed.
    pub refused_frames: u64,
    /// Dropped frames that were longer than the MTU permits. They contain several packets (TSO, GRO).
    pub oversized_frames: u64,
    /// Packets without a transport checksum, because their sender expected a network card to compute it. The
    /// forwarder completed the checksum.
    pub finished_checksums: u64,
    /// Packets that were forwarded without a valid transport checksum, because the forwarder found no
    /// checksum to complete.
    pub unfinished_checksums: u64,
}

impl DeviceCounters {
    /// Returns `frame` with its transport checksum. `rewritten` is the memory for a changed frame.
    ///
    /// A packet socket does not add checksums, and the receiver drops segments without a checksum, so a TCP
    /// connection would stall without this function.
    #[cold]
    fn complete<'a>(&mut self, frame: &[u8], rewritten: &'a mut Vec<u8>) -> &'a [u8] {
        rewritten.clear();
        rewritten.extend_from_slice(frame);
        let is_finished = finish_checksum(LinkLayer::Ethernet, rewritten);
        self.finished_checksums += u64::from(is_finished);
        self.unfinished_checksums += u64::from(!is_finished);
        rewritten
    }
}

/// One interface.
pub(super) struct Device {
    index: libc::c_int,
    socket: Socket,
    frame_bytes: usize,
    /// A buffer for a frame whose checksum is to be completed.
    rewritten: Vec<u8>,
    /// Socket for queries about interfaces, in the initial network namespace of this process.
    probe: OwnedFd,
    pub(super) counters: DeviceCounters,
}

/// Kind of socket.
enum Socket {
    Packet(PacketDevice),
    Express(ExpressDevice),
    Tunnel(TunnelDevice),
}

impl Device {
    /// Opens the interface `name` with a socket of `kind`.
    pub(super) fn open(name: &str, kind: SocketKind) -> Result<Device, OpenError> {
        let failed = |what| move |error| OpenError::new(name, what, error);
        let probe =
            system::open_socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map_err(failed("cannot be queried"))?;
        let tunnel = matches!(kind, SocketKind::Tun).then(|| TunnelDevice::open(name));
        let tunnel = tunnel.transpose().map_err(failed("cannot be opened as a TUN interface"))?;
        let index = system::interface_index(probe.as_fd(), name).map_err(failed("was not found"))?;
        let mtu = system::interface_mtu(probe.as_fd(), name).map_err(failed("has no readable MTU"))? as usize;
        let (socket, frame_bytes) = match (tunnel, kind) {
            (Some(tunnel), _) => (Socket::Tunnel(tunnel.with_room_for(mtu)), mtu),
            (None, SocketKind::AfXdp) => {
                let device = ExpressDevice::open(index, mtu + HEADER_BYTES);
                (Socket::Express(device.map_err(failed(NO_EXPRESS))?), mtu + HEADER_BYTES)
            }
            (None, _) => {
                let device = PacketDevice::open(index, mtu + HEADER_BYTES);
                (Socket::Packet(device.map_err(failed("cannot be opened"))?), mtu + HEADER_BYTES)
            }
        };
        let counters = DeviceCounters { device: name.to_owned(), ..DeviceCounters::default() };
        let rewritten = Vec::with_capacity(frame_bytes);
        Ok(Device { index, socket, frame_bytes, rewritten, probe, counters })
    }
    /// The descriptor that becomes readable when a frame arrives.
    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Packet(device) => device.descriptor(),
            Socket::Express(device) => device.descriptor(),
            Socket::Tunnel(device) => device.descriptor(),
        }
    }
    /// Reads the oldest frame, for sockets without a ring.
    #[inline]
    pub(super) fn fetch(&mut self, clock: &Clock) {
        if let Socket::Tunnel(device) = &mut self.socket {
            device.fetch(clock);
        }
    }
    /// Arrival of the oldest frame, nanoseconds since the start.
    #[inline]
    pub(super) fn head(&self, clock: &Clock) -> Option<u64> {
        match &self.socket {
            Socket::Packet(device) => device.ring.head().map(|stamp| clock.at_wall_clock(stamp)),
            Socket::Express(device) => device.head(clock),
            Socket::Tunnel(device) => device.head(),
        }
    }
    /// Passes the oldest frame to `each`, unless it is longer than the MTU permits.
    #[inline]
    pub(super) fn take(&mut self, each: impl FnOnce(&[u8])) {
        let Device { socket, frame_bytes, rewritten, counters, .. } = self;
        let receive = |received: Received| {
            counters.received_frames += 1;
            counters.received_bytes += received.length as u64;
            if received.length > *frame_bytes || received.length != received.frame.len() {
                counters.oversized_frames += 1;
            } else if received.checksum_is_missing {
                each(counters.complete(received.frame, rewritten));
            } else {
                each(received.frame);
            }
        };
        match socket {
            Socket::Packet(device) => device.ring.take(receive),
            Socket::Express(device) => device.take(receive),
            Socket::Tunnel(device) => device.take(receive),
        }
    }
    /// Adds `frame` to the next batch.
    ///
    /// # Errors
    /// The interface was removed, or the frame is longer than its MTU permits.
    #[inline]
    pub(super) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if self.counters.state == DeviceState::Lost {
            self.counters.refused_frames += 1;
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        if frame.len() > self.frame_bytes {
            self.counters.oversized_frames += 1;
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        let is_full = match &mut self.socket {
            Socket::Packet(device) => device.batch.is_full(),
            Socket::Express(device) => device.is_full(),
            Socket::Tunnel(_) => false,
        };
        if is_full {
            self.flush_batch();
        }
        match &mut self.socket {
            Socket::Packet(device) => device.batch.push(frame),
            Socket::Express(device) => device.push(frame),
            Socket::Tunnel(device) => device.push(frame),
        }
        Ok(())
    }
    /// Sends the batch.
    #[inline]
    pub(super) fn flush(&mut self) {
        let is_empty = match &mut self.socket {
            Socket::Packet(device) => device.batch.is_empty(),
            Socket::Express(device) => device.is_empty(),
            Socket::Tunnel(device) => device.is_empty(),
        };
        if !is_empty {
            self.flush_batch();
        }
    }
    fn flush_batch(&mut self) {
        let outcome = match &mut self.socket {
            Socket::Packet(device) => device.send(),
            Socket::Express(device) => device.send(),
            Socket::Tunnel(device) => device.send(),
        };
        self.counters.sent_frames += outcome.sent;
        self.counters.sent_bytes += outcome.sent_bytes;
        self.counters.refused_frames += outcome.refused;
        if matches!(outcome.error, libc::ENXIO | libc::ENODEV | libc::ENETDOWN) {
            self.counters.state = DeviceState::Down; // until its state is checked
        } else if outcome.sent > 0 {
            self.counters.state = DeviceState::Up;
        }
    }
    /// Checks, after an error at `now_ns`, whether the interface still exists.
    #[cold]
    pub(super) fn look(&mut self, now_ns: u64) {
        // The error of the socket must be cleared, because otherwise `poll` would always return immediately.
        let _ = system::option::<libc::c_int>(self.descriptor(), libc::SOL_SOCKET, libc::SO_ERROR, 0);
        if self.exists() {
            self.counters.state = DeviceState::Down;
        } else {
            self.lose(now_ns);
        }
    }
    /// Checks whether the interface still exists, if the socket does not report its removal. `AF_XDP` sockets
    /// never report it. Packet sockets do not report it if the interface was already down.
    pub(super) fn check_existence(&mut self, now_ns: u64) {
        let reports_removal =
            !matches!(self.socket, Socket::Express(_)) && self.counters.state != DeviceState::Down;
        if !reports_removal && !self.exists() {
            self.lose(now_ns);
        }
    }
    fn exists(&self) -> bool {
        system::interface_index(self.probe.as_fd(), &self.counters.device)
            .is_ok_and(|index| index == self.index)
    }
    fn lose(&mut self, now_ns: u64) {
        if self.counters.state == DeviceState::Lost {
            return;
        }
        self.counters.state = DeviceState::Lost;
        self.counters.lost_at_s = Some(now_ns as f64 / 1e9);
        self.counters.refused_frames += match &mut self.socket {
            Socket::Packet(device) => device.batch.discard(),
            Socket::Express(device) => device.discard(),
            Socket::Tunnel(_) => 0,
        };
    }
    /// The descriptor and the events for `poll`.
    pub(super) fn interest(&self) -> libc::pollfd {
        let gone = self.counters.state == DeviceState::Lost;
        system::interest(if gone { -1 } else { self.descriptor().as_raw_fd() }, libc::POLLIN)
    }
    /// The counters, including the kernel's counters.
    pub(super) fn counted(&mut self) -> &DeviceCounters {
        self.counters.lost_frames = match &mut self.socket {
            Socket::Packet(device) => device.lost(),
            Socket::Express(device) => device.lost(),
            Socket::Tunnel(_) => 0,
        };
        &self.counters
    }
}
