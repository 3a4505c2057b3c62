//! [`SocketWire`]: all interfaces of a forwarder.
#![allow(clippy::disallowed_methods)] // it reads the clock

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use perhop_qos::units::Time;

use super::bell::Bell;
use super::clock::{Clock, nanoseconds};
use super::device::{Device, DeviceCounters, DeviceState};
use super::open_error::OpenError;
use super::system;
use super::wait::{WaitReport, Waiter, Woken};
use crate::config::SocketKind;
use crate::wire::{DeviceId, Wire, WireError};

/// Limit on frames in one call of `receive`, so that due frames are sent between two calls.
const BATCH_FRAMES: usize = 64;
/// The longest wait. It limits the time until the forwarder copies its counters for a client.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// Polled descriptors other than devices: the bell, and standard input.
const OTHERS: usize = 2;

/// A wire of real interfaces.
pub struct SocketWire {
    devices: Vec<Device>,
    clock: Clock,
    waiter: Waiter,
    bell: Bell,
    /// Whether standard input is a pipe or a socket.
    had_parent: bool,
    /// Whether the other end of standard input is still open.
    parent_is_open: bool,
    interests: Vec<libc::pollfd>,
    /// Last check of the existence of interfaces.
    looked_ns: u64,
}

impl SocketWire {
    /// Opens the interfaces `devices`. `bell` wakes the wire.
    ///
    /// # Errors
    /// An interface cannot be opened.
    pub fn open(devices: &[&str], kind: SocketKind, bell: &Bell) -> Result<SocketWire, OpenError> {
        let opened = devices.iter().map(|name| Device::open(name, kind)).collect::<Result<Vec<_>, _>>()?;
        // Without this permission, sleeps end up to 50 µs later, and the waiter increases its margin.
        let _ = system::sharpen_timers();
        let interests = Vec::with_capacity(opened.len() + OTHERS);
        let had_parent = system::has_other_end(io::stdin().as_fd());
        Ok(SocketWire {
            devices: opened,
            clock: Clock::start(),
            waiter: Waiter::new(),
            bell: bell.clone(),
            had_parent,
            parent_is_open: had_parent,
            interests,
            looked_ns: 0,
        })
    }
    /// Counters of the interfaces, in their order.
    pub fn devices(&mut self) -> Vec<DeviceCounters> {
        self.devices.iter_mut().map(|device| device.counted().clone()).collect()
    }
    /// Statistics of waiting.
    pub fn waiting(&self) -> WaitReport {
        self.waiter.report()
    }
    /// Reading of the machine's monotonic clock at [`Time::ZERO`], nanoseconds.
    pub fn started_at_ns(&self) -> u64 {
        self.clock.origin_ns
    }
    /// Whether the other end of standard input was closed.
    pub fn is_orphaned(&self) -> bool {
        self.had_parent && !self.parent_is_open
    }

    /// The device with the oldest frame.
    #[inline]
    fn first(&mut self) -> Option<(usize, u64)> {
        self.devices.iter_mut().for_each(|device| device.fetch(&self.clock));
        let heads = self.devices.iter().enumerate();
        heads.filter_map(|(place, device)| Some((place, device.head(&self.clock)?))).min_by_key(|head| head.1)
    }
    /// Polls the clock and the rings until `deadline_ns`.
    fn busy_wait_until(&mut self, deadline_ns: u64) {
        let before = self.clock.now_ns();
        let mut now = before;
        while now < deadline_ns && self.first().is_none() {
            std::hint::spin_loop();
            now = self.clock.now_ns();
        }
        self.waiter.looked(Duration::from_nanos(now - before));
    }
    /// Sleeps for `sleep` or until an event.
    fn sleep(&mut self, sleep: Duration) -> Result<Woken, WireError> {
        self.interests.clear();
        self.interests.push(system::interest(self.bell.descriptor().as_raw_fd(), libc::POLLIN));
        let standard_input = if self.parent_is_open { libc::STDIN_FILENO } else { -1 };
        self.interests.push(system::interest(standard_input, 0)); // no events: only the end is reported
        self.interests.extend(self.devices.iter().map(Device::interest));
        let before = Instant::now();
        let ready = system::poll(&mut self.interests, sleep)?;
        let slept = before.elapsed();
        // A signal may end a sleep early, although no descriptor is ready.
        let woken = if ready == 0 && slept >= sleep { Woken::ByDeadline } else { Woken::ByEvent };
        self.waiter.slept(sleep, slept, woken);
        if ready > 0 {
            self.handle_other_events();
        }
        Ok(woken)
    }
    /// Checks periodically whether all interfaces exist, because some kinds of sockets do not report the
    /// removal of an interface.
    fn check_interfaces(&mut self) {
        let now_ns = self.clock.now_ns();
        if now_ns - self.looked_ns > LONGEST_SLEEP.as_nanos() as u64 {
            self.looked_ns = now_ns;
            self.devices.iter_mut().for_each(|device| device.check_existence(now_ns));
        }
    }
    /// Handles events other than frames.
    fn handle_other_events(&mut self) {
        let now_ns = self.clock.now_ns();
        if self.interests[0].revents != 0 {
            self.bell.reset();
        }
        self.parent_is_open &= self.interests[1].revents == 0;
        for (device, interest) in self.devices.iter_mut().zip(&self.interests[OTHERS..]) {
            if interest.revents & !libc::POLLIN != 0 {
                device.look(now_ns);
            }
        }
    }
}

impl Wire for SocketWire {
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError> {
        if self.first().is_none() {
            return Ok(0);
        }
        self.clock.measure_wall_offset();
        let mut taken = 0;
        while taken < BATCH_FRAMES
            && let Some((place, arrived_ns)) = self.first()
        {
            let device = DeviceId(place as u16);
            self.devices[place].take(|frame| each(device, Time::from_nanoseconds(arrived_ns), frame));
            taken += 1;
        }
        Ok(taken)
    }
    #[inline]
    fn send(&mut self, device: DeviceId, frame: &[u8]) -> Result<(), WireError> {
        let failed = |error| WireError { device: Some(device), error };
        self.devices[device.index()].send(frame).map_err(failed)
    }
    fn flush(&mut self) -> Result<(), WireError> {
        self.devices.iter_mut().for_each(Device::flush);
        Ok(())
    }
    fn wait(&mut self, deadline: Option<Time>) -> Result<(), WireError> {
        self.check_interfaces();
        if self.devices.iter().all(|device| device.counters.state == DeviceState::Lost) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV).into());
        }
        if self.first().is_some() {
            return Ok(());
        }
        let Some(deadline) = deadline else { return self.sleep(LONGEST_SLEEP).map(drop) };
        let deadline_ns = nanoseconds(deadline);
        match self.waiter.sleep_for(deadline_ns.saturating_sub(self.clock.now_ns())) {
            Some(sleep) if sleep > LONGEST_SLEEP => self.sleep(LONGEST_SLEEP).map(drop),
            Some(sleep) if self.sleep(sleep)? == Woken::ByEvent => Ok(()),
            _ => {
                self.busy_wait_until(deadline_ns);
                Ok(())
            }
        }
    }
    fn now(&self) -> Time {
        Time::from_nanoseconds(self.clock.now_ns())
    }
}
