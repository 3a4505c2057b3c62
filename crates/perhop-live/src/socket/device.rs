//! [`Device`]: one interface, however its frames are had, and what was counted of it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use serde::Serialize;

use super::OpenError;
use super::clock::Clock;
use super::express_device::ExpressDevice;
use super::packet_device::PacketDevice;
use super::packet_ring::Received;
use super::system;
use super::tunnel_device::TunnelDevice;
use crate::config::SocketKind;

/// What may precede an IP packet in a frame: Ethernet addresses and type, and two VLAN tags.
const HEADER_BYTES: usize = 14 + 2 * 4;

const NO_EXPRESS: &str = "cannot be opened for AF_XDP (\"socket\": \"af-packet\" works everywhere)";

/// Whether an interface can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceState {
    /// It can.
    #[default]
    Up,
    /// It is there, but switched off; it may come back.
    Down,
    /// It was removed, and does not come back.
    Lost,
}

/// What was counted at one interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DeviceCounters {
    /// The interface.
    pub device: String,
    /// Whether it can be used.
    pub state: DeviceState,
    /// When it was found to be gone, in seconds since the start.
    pub lost_at_s: Option<f64>,
    /// Frames that were taken from it.
    pub received_frames: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that the kernel has taken for it.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that arrived while the ring was full: the forwarder was too slow, or did not get the processor.
    pub lost_frames: u64,
    /// Frames that the kernel did not take: no room before the wire, or the interface was down or gone.
    pub refused_frames: u64,
    /// Frames longer than the interface carries, dropped: several packets that were glued together (TSO,
    /// GRO).
    pub oversized_frames: u64,
    /// Packets whose sender left the transport checksum to a network card; forwarded without one.
    pub unfinished_checksums: u64,
}

/// One interface.
pub(super) struct Device {
    index: libc::c_int,
    socket: Socket,
    frame_bytes: usize,
    /// To ask about interfaces, in the network namespace that this process began in.
    probe: OwnedFd,
    pub(super) counters: DeviceCounters,
}

/// How its frames are had.
enum Socket {
    Packet(PacketDevice),
    Express(ExpressDevice),
    Tunnel(TunnelDevice),
}

impl Device {
    /// The interface called `name`, its frames had by a socket of `kind`.
    pub(super) fn open(name: &str, kind: SocketKind) -> Result<Device, OpenError> {
        let failed = |what| move |error| OpenError::new(name, what, error);
        let probe =
            system::open_socket(libc::AF_INET, libc::SOCK_DGRAM).map_err(failed("cannot be asked"))?;
        let tunnel = matches!(kind, SocketKind::Tun).then(|| TunnelDevice::open(name));
        let tunnel = tunnel.transpose().map_err(failed("cannot be opened as a TUN interface"))?;
        let index = system::interface_index(probe.as_fd(), name).map_err(failed("is not to be found"))?;
        let mtu =
            system::interface_mtu(probe.as_fd(), name).map_err(failed("does not tell its MTU"))? as usize;
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
        Ok(Device { index, socket, frame_bytes, probe, counters })
    }
    /// The descriptor that becomes readable when a frame arrives.
    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Packet(device) => device.descriptor(),
            Socket::Express(device) => device.descriptor(),
            Socket::Tunnel(device) => device.descriptor(),
        }
    }
    /// Fetches its oldest frame, where frames do not come by themselves.
    #[inline]
    pub(super) fn fetch(&mut self, clock: &Clock) {
        if let Socket::Tunnel(device) = &mut self.socket {
            device.fetch(clock);
        }
    }
    /// When its oldest frame arrived, in nanoseconds since the start.
    #[inline]
    pub(super) fn head(&self, clock: &Clock) -> Option<u64> {
        match &self.socket {
            Socket::Packet(device) => device.head().map(|stamp| clock.by_the_wall(stamp)),
            Socket::Express(device) => device.head(clock),
            Socket::Tunnel(device) => device.head(),
        }
    }
    /// Hands its oldest frame to `each`, unless it is longer than the interface carries.
    #[inline]
    pub(super) fn take(&mut self, each: impl FnOnce(&[u8])) {
        let Device { socket, frame_bytes, counters, .. } = self;
        let receive = |received: Received| {
            counters.received_frames += 1;
            counters.received_bytes += received.length as u64;
            counters.unfinished_checksums += u64::from(received.checksum_is_missing);
            if received.length <= *frame_bytes && received.length == received.frame.len() {
                each(received.frame);
            } else {
                counters.oversized_frames += 1;
            }
        };
        match socket {
            Socket::Packet(device) => device.take(receive),
            Socket::Express(device) => device.take(receive),
            Socket::Tunnel(device) => device.take(receive),
        }
    }
    /// Puts `frame` into the batch that goes out next.
    ///
    /// # Errors
    /// When the interface is gone, or does not carry frames of this length.
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
            Socket::Packet(device) => device.batch().is_full(),
            Socket::Express(device) => device.is_full(),
            Socket::Tunnel(_) => false,
        };
        if is_full {
            self.flush_batch();
        }
        match &mut self.socket {
            Socket::Packet(device) => device.batch().push(frame),
            Socket::Express(device) => device.push(frame),
            Socket::Tunnel(device) => device.push(frame),
        }
        Ok(())
    }
    /// Sends the batch.
    #[inline]
    pub(super) fn flush(&mut self) {
        let is_empty = match &mut self.socket {
            Socket::Packet(device) => device.batch().is_empty(),
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
            self.counters.state = DeviceState::Down; // until it was looked at
        } else if outcome.sent > 0 {
            self.counters.state = DeviceState::Up;
        }
    }
    /// Finds out whether the interface is still there, when something is wrong with it at `now_ns`.
    #[cold]
    pub(super) fn look(&mut self, now_ns: u64) {
        // Takes the error off the socket, or `poll` would return at once for ever.
        let _ = system::option::<libc::c_int>(self.descriptor(), libc::SOL_SOCKET, libc::SO_ERROR, 0);
        if self.is_there() {
            self.counters.state = DeviceState::Down;
        } else {
            self.lose(now_ns);
        }
    }
    /// Finds out whether the interface is still there, where nobody says so when it goes: an express socket
    /// never, and a packet socket not of an interface that was switched off before, as it is on its way to
    /// being removed.
    pub(super) fn look_unasked(&mut self, now_ns: u64) {
        let is_told = !matches!(self.socket, Socket::Express(_)) && self.counters.state != DeviceState::Down;
        if !is_told && !self.is_there() {
            self.lose(now_ns);
        }
    }
    fn is_there(&self) -> bool {
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
            Socket::Packet(device) => device.batch().discard(),
            Socket::Express(device) => device.discard(),
            Socket::Tunnel(_) => 0,
        };
    }
    /// What to ask `poll` about it.
    pub(super) fn interest(&self) -> libc::pollfd {
        let gone = self.counters.state == DeviceState::Lost;
        system::interest(if gone { -1 } else { self.descriptor().as_raw_fd() }, libc::POLLIN)
    }
    /// Its counters, those that the kernel keeps brought up to date.
    pub(super) fn counted(&mut self) -> &DeviceCounters {
        self.counters.lost_frames = match &mut self.socket {
            Socket::Packet(device) => device.lost(),
            Socket::Express(device) => device.lost(),
            Socket::Tunnel(_) => 0,
        };
        &self.counters
    }
}
