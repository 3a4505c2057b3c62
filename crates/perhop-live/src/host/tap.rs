//! [`Tap`]: observation of TCP packets that leave and enter the host.
//!
//! A packet socket sees each packet with a kernel timestamp. The headers of a packet identify it at the other
//! host: sequence numbers, options and, for IPv4, the identification. No two packets of a run have the same
//! headers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};

use perhop_qos::packet::{FlowKey, Protocol};

use super::error::{HostError, trying};
use super::flows::Flows;
use super::record::{Record, Recorder};
use super::run::{HostRun, LINGER};
use super::system;

/// Observer of the TCP packets of one host.
pub(super) struct Tap {
    sockets: Vec<OwnedFd>,
    flows: Flows,
}

/// Maximum length of IP and TCP headers with options, bytes.
const SNAP: usize = 128;
/// Size of the receive buffer, for packets while this process is not running.
const RECEIVE_BUFFER: i32 = 16 << 20;

/// Filter for TCP over both versions of IP.
const FILTER: [libc::sock_filter; 9] = {
    const fn step(code: u32, yes: u8, no: u8, k: u32) -> libc::sock_filter {
        libc::sock_filter { code: code as u16, jt: yes, jf: no, k }
    }
    const LOAD: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    [
        step(LOAD, 0, 0, 0),
        step(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 0, 0, 4),
        step(EQUAL, 0, 2, 4),
        step(LOAD, 0, 0, 9),
        step(EQUAL, 3, 2, libc::IPPROTO_TCP as u32),
        step(LOAD, 0, 0, 6),
        step(EQUAL, 1, 0, libc::IPPROTO_TCP as u32),
        step(RETURN, 0, 0, 0),
        step(RETURN, 0, 0, SNAP as u32),
    ]
};

impl Tap {
    /// Opens a packet socket on every interface with the address of `run`'s host, if the host has TCP
    /// traffic.
    pub(super) fn open(run: &HostRun, flows: &Flows) -> Result<Option<Tap>, HostError> {
        let speaks = flows.ids().iter().any(|id| {
            let config = &run.scenario.traffic[id.traffic];
            id.key.protocol == Protocol::TCP && [&config.from, &config.to].iter().any(|end| *end == run.host)
        });
        let Some(address) = run.address().filter(|_| speaks) else { return Ok(None) };
        let what = || format!("cannot observe packets of {address}");
        let mut sockets = Vec::new();
        for interface in trying(what, system::interfaces_of(address))? {
            let socket = trying(what, system::packet_socket(interface, &FILTER))?;
            trying(what, system::set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1))?;
            let forced = system::set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BUFFER);
            let allowed = || system::set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &RECEIVE_BUFFER);
            trying(what, forced.or_else(|_| allowed()))?;
            sockets.push(socket);
        }
        Ok(Some(Tap { sockets, flows: flows.clone() }))
    }

    /// Records packets until none can be in flight. Returns the number of packets that the socket did not
    /// receive, because its buffer was full.
    pub(super) fn run(self, run: &HostRun) -> Result<u32, HostError> {
        let what = || "cannot observe packets".to_owned();
        let poll = trying(what, system::Poll::new())?;
        for (token, socket) in (0..).zip(&self.sockets) {
            trying(what, poll.add(socket.as_fd(), token))?;
        }
        let mut records = [run.recorder("tcp-sent")?, run.recorder("tcp-arrived")?];
        let ahead = system::timestamps_ahead();
        let mut bytes = [0; SNAP];
        let until = run.ends() + LINGER;
        while let Some(left) = until.checked_sub(system::monotonic()) {
            for ready in trying(what, poll.wait(left.div_ceil(1_000_000)))? {
                let socket = &self.sockets[ready.token as usize];
                while let Some(received) = trying(what, system::receive(socket.as_fd(), &mut bytes))? {
                    let seen = &bytes[..received.length.min(SNAP)];
                    let at = received.at.map_or_else(system::monotonic, |at| at.saturating_sub(ahead));
                    trying(what, self.take(run, seen, received.outgoing, run.elapsed(at), &mut records))?;
                }
            }
        }
        for recorder in records {
            trying(what, recorder.finish())?;
        }
        Ok(self.sockets.iter().map(|socket| system::packets_lost(socket.as_fd())).sum())
    }

    /// Records the packet at the beginning of `bytes`, if it belongs to a flow of the scenario and to this
    /// host.
    fn take(
        &self,
        run: &HostRun,
        bytes: &[u8],
        outgoing: bool,
        at: u64,
        [sent, arrived]: &mut [Recorder; 2],
    ) -> std::io::Result<()> {
        let Some(Segment { key, length, identity, class }) = Segment::read(bytes) else { return Ok(()) };
        let Some(flow) = self.flows.find(&key) else { return Ok(()) };
        let record = Record { flow: flow as u32, length, at, identity, class };
        match outgoing {
            true if run.is_own(key.source) => sent.add(record),
            false if run.is_own(key.destination) => arrived.add(record),
            _ => Ok(()),
        }
    }
}

/// A parsed TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    key: FlowKey,
    length: u32,
    identity: u64,
    class: u8,
}

impl Segment {
    /// Parses the headers at the beginning of `bytes`; `None` if `bytes` does not begin with the headers of a
    /// complete TCP packet.
    fn read(bytes: &[u8]) -> Option<Segment> {
        let first = *bytes.first()?;
        if first >> 4 == 4 { Segment::read_ipv4(bytes, first) } else { Segment::read_ipv6(bytes) }
    }
    fn read_ipv4(bytes: &[u8], first: u8) -> Option<Segment> {
        let address = |from: usize| -> Option<IpAddr> {
            let octets: [u8; 4] = bytes.get(from..from + 4)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        };
        let (source, destination) = (address(12)?, address(16)?);
        let length = u32::from(number(bytes, 2)?);
        let fragment = number(bytes, 6)? & 0x1fff;
        let tcp = bytes.get(usize::from(first & 15) * 4..).filter(|_| fragment == 0)?;
        Segment::from_headers(tcp, source, destination, length, number(bytes, 4)?, bytes[1])
    }
    fn read_ipv6(bytes: &[u8]) -> Option<Segment> {
        let address = |from: usize| -> Option<IpAddr> {
            let octets: [u8; 16] = bytes.get(from..from + 16)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        };
        let (source, destination) = (address(8)?, address(24)?);
        let class = bytes[0] << 4 | bytes[1] >> 4;
        let length = 40 + u32::from(number(bytes, 4)?);
        Segment::from_headers(bytes.get(40..)?, source, destination, length, 0, class)
    }
    fn from_headers(
        tcp: &[u8],
        source: IpAddr,
        destination: IpAddr,
        length: u32,
        identification: u16,
        class: u8,
    ) -> Option<Segment> {
        let header = tcp.get(..usize::from(tcp.get(12)? >> 4) * 4).filter(|header| header.len() >= 20)?;
        let key = FlowKey {
            source: source.into(),
            destination: destination.into(),
            source_port: number(tcp, 0)?,
            destination_port: number(tcp, 2)?,
            protocol: Protocol::TCP,
        };
        // The digest does not cover the checksum, because a device may fill it in after the tap.
        let stable = header[4..16].iter().chain(&header[18..]);
        let rest = identification.to_be_bytes().into_iter().chain(length.to_be_bytes());
        let identity = stable
            .copied()
            .chain(rest)
            .fold(FNV_OFFSET, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        Some(Segment { key, length, identity, class })
    }
}

/// Constants of FNV-1a with 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn number(bytes: &[u8], from: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(from..from + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(identification: u8, sequence: u8) -> Vec<u8> {
        let mut bytes =
            vec![0x45, 0x28, 0, 44, 0, identification, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([0xc0, 0, 0, 9, 0, 0, 0, sequence, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 7, 7, 0, 0]);
        bytes
    }

    #[test]
    fn a_segment_is_known_by_its_headers() {
        let segment = Segment::read(&packet(1, 1)).unwrap();
        assert_eq!(segment.key.to_string(), "tcp 10.0.0.1 port 49152 to 10.0.0.2 port 9");
        assert_eq!((segment.length, segment.class), (44, 0x28));
        assert_ne!(segment.identity, Segment::read(&packet(2, 1)).unwrap().identity, "retransmitted");
        assert_ne!(segment.identity, Segment::read(&packet(1, 2)).unwrap().identity, "another part");
        let mut marked = packet(1, 1);
        (marked[1], marked[8], marked[10], marked[37]) = (0x2b, 63, 9, 9);
        assert_eq!(segment.identity, Segment::read(&marked).unwrap().identity, "with another mark");
    }

    #[test]
    fn a_truncated_segment_is_ignored() {
        let whole = packet(1, 1);
        for length in 0..whole.len() {
            assert_eq!(Segment::read(&whole[..length]), None, "{length} bytes");
        }
    }
}
