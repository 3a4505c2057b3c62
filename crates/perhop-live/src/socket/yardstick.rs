//! Tools for measurements of the forwarder: a loop that only copies frames, and the two ends of the wire.
//!
//! These tools are not on a packet's path through a forwarder.
#![allow(clippy::disallowed_methods)] // it reads the clock

use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::bell::StopSignals;
use super::clock::Clock;
use super::open_error::OpenError;
use super::packet_device::PacketDevice;
use super::send_batch::BATCH_FRAMES;
use super::system;
use crate::frame::internet_checksum;

/// The maximum length of frames, bytes: the MTU of Ethernet.
const FRAME_BYTES: usize = 1522;
/// The length of the Ethernet, IPv4 and UDP headers.
const HEADERS_BYTES: usize = 14 + 20 + 8;
/// The length of the payload of a test frame, which is the number of the frame.
const NUMBER_BYTES: usize = 8;
const PATIENCE: Duration = Duration::from_millis(100);

/// The counters of a loop or an end of the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// Frames copied, sent or received.
    pub frames: u64,
    /// Frames lost because a ring was full or the kernel did not accept them.
    pub lost: u64,
    /// Processor time of the process, seconds.
    pub processor_s: f64,
    /// Time from the first frame to the end, seconds.
    pub elapsed_s: f64,
    /// Arrivals by the kernel's timestamps, as `[number, nanoseconds]`. Only the receiving end has arrivals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<[u64; 2]>,
}

/// Copies frames between two interfaces, in both directions, until a signal requests the end.
///
/// # Errors
/// An interface cannot be used.
pub fn copy(names: [&str; 2], stop: &StopSignals) -> Result<Tally, OpenError> {
    let mut devices = [open(names[0])?, open(names[1])?];
    let mut tally = Tally::default();
    let (started, used) = (Instant::now(), system::processor_time());
    while !stop.is_requested() {
        let mut copied = 0;
        for from in 0..2 {
            let [first, second] = &mut devices;
            let (device, to) = if from == 0 { (first, second) } else { (second, first) };
            while !to.batch.is_full() && device.ring.head().is_some() {
                device.ring.take(|received| to.batch.push(received.frame));
                copied += 1;
            }
            tally.lost += to.send().refused;
        }
        tally.frames += copied;
        if copied == 0 {
            pause(&devices)?;
        }
    }
    tally.lost += devices.iter_mut().map(PacketDevice::lost).sum::<u64>();
    tally.processor_s = system::processor_time().saturating_sub(used).as_secs_f64();
    tally.elapsed_s = started.elapsed().as_secs_f64();
    Ok(tally)
}

/// Frames to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The number of frames. With `None`, frames are sent until a signal requests the end.
    pub frames: Option<u64>,
    /// Frames per second. With `None`, frames are sent as fast as possible.
    pub rate: Option<f64>,
    /// The length of the frames with the Ethernet header, bytes.
    pub length: usize,
    /// The codepoints of the frames, used in turn.
    pub codepoints: Vec<u8>,
}

/// Sends numbered UDP datagrams on an interface.
///
/// # Errors
/// The interface cannot be used.
pub fn generate(name: &str, load: &Load, stop: &StopSignals) -> Result<Tally, OpenError> {
    let mut device = open(name)?;
    let mut templates: Vec<Vec<u8>> =
        load.codepoints.iter().map(|codepoint| datagram(load.length, *codepoint)).collect();
    let mut tally = Tally::default();
    let (started, used) = (Instant::now(), system::processor_time());
    let mut number = 0;
    while load.frames.is_none_or(|frames| number < frames) && !stop.is_requested() {
        let due = load.rate.map_or(u64::MAX, |rate| (started.elapsed().as_secs_f64() * rate) as u64 + 1);
        let left = load.frames.unwrap_or(u64::MAX).min(due) - number.min(due);
        if left == 0 {
            std::hint::spin_loop();
            continue;
        }
        for _ in 0..left.min(BATCH_FRAMES as u64) {
            let kinds = templates.len() as u64;
            let template = &mut templates[(number % kinds) as usize];
            template[HEADERS_BYTES..HEADERS_BYTES + NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
            device.batch.push(template);
            number += 1;
        }
        let outcome = device.send();
        tally.frames += outcome.sent;
        tally.lost += outcome.refused;
    }
    tally.processor_s = system::processor_time().saturating_sub(used).as_secs_f64();
    tally.elapsed_s = started.elapsed().as_secs_f64();
    Ok(tally)
}

/// Records the arrivals of numbered datagrams on an interface, until a signal requests the end.
///
/// # Errors
/// The interface cannot be used.
pub fn listen(name: &str, stop: &StopSignals) -> Result<Tally, OpenError> {
    let mut device = open(name)?;
    let mut clock = Clock::start();
    let mut tally = Tally::default();
    while !stop.is_requested() {
        clock.measure_wall_offset();
        let Some(stamp) = device.ring.head() else {
            pause(std::slice::from_ref(&device))?;
            continue;
        };
        let number = device.ring.take(|received| number_of(received.frame));
        tally.frames += u64::from(number.is_some());
        tally.arrivals.extend(number.map(|number| [number, clock.at_wall_clock(stamp)]));
    }
    tally.lost = device.lost();
    Ok(tally)
}

fn open(name: &str) -> Result<PacketDevice, OpenError> {
    let index = system::open_socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
        .and_then(|probe| system::interface_index(probe.as_fd(), name))
        .map_err(|error| OpenError::new(name, "was not found", error))?;
    PacketDevice::open(index, FRAME_BYTES).map_err(|error| OpenError::new(name, "cannot be opened", error))
}

/// Waits until a frame arrives, but at most for a short time.
fn pause(devices: &[PacketDevice]) -> Result<(), OpenError> {
    let mut interests: Vec<_> = devices
        .iter()
        .map(|device| system::interest(device.descriptor().as_raw_fd(), libc::POLLIN))
        .collect();
    system::poll(&mut interests, PATIENCE).map_err(|error| OpenError::new("", "cannot be polled", error))?;
    Ok(())
}

/// A UDP datagram from 10.0.0.1 to 10.0.1.1 in an Ethernet frame of `length` bytes.
fn datagram(length: usize, codepoint: u8) -> Vec<u8> {
    let length = length.clamp(HEADERS_BYTES + NUMBER_BYTES, FRAME_BYTES);
    let (ip_length, udp_length) = ((length - 14) as u16, (length - 34) as u16);
    let mut frame = vec![0; length];
    frame[0..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    let header = &mut frame[14..34];
    header[0] = 0x45;
    header[1] = codepoint << 2;
    header[2..4].copy_from_slice(&ip_length.to_be_bytes());
    (header[8], header[9]) = (64, 17);
    header[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 1, 1]);
    let checksum = internet_checksum(header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    frame[34..38].copy_from_slice(&[0x10, 0x00, 0x20, 0x00]); // ports 4096 and 8192
    frame[38..40].copy_from_slice(&udp_length.to_be_bytes()); // a checksum of 0 means none
    frame
}

/// The number of a frame that [`generate`] sent; `None` for any other frame.
fn number_of(frame: &[u8]) -> Option<u64> {
    let is_ours = frame.get(12..14)? == [0x08, 0x00] && frame.get(34..38)? == [0x10, 0x00, 0x20, 0x00];
    let number = frame.get(HEADERS_BYTES..HEADERS_BYTES + NUMBER_BYTES)?;
    is_ours.then(|| u64::from_be_bytes(number.try_into().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_frame_is_a_valid_datagram_and_keeps_its_number() {
        let mut frame = datagram(64, 46);
        frame[HEADERS_BYTES..HEADERS_BYTES + NUMBER_BYTES].copy_from_slice(&7_u64.to_be_bytes());
        assert_eq!((frame.len(), number_of(&frame)), (64, Some(7)));
        assert_eq!(frame[15] >> 2, 46);
        assert_eq!(internet_checksum(&frame[14..34]), 0);
    }
    #[test]
    fn other_frames_have_no_number() {
        assert_eq!(number_of(&[0; 60]), None);
        assert_eq!(number_of(&[]), None);
    }
}
