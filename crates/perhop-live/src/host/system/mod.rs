//! System calls for host traffic: clocks, sleep, sockets, polling.
//!
//! The only module of [`host`](crate::host) with `unsafe`: every block is one call into the C library, whose
//! arguments outlive the call.

#![allow(unsafe_code)] // the C library's calls; each block states why it is sound

mod address;
mod clock;
mod packet;
mod poll;
mod socket;

pub(super) use address::interfaces_of;
pub(super) use clock::{monotonic, sleep_until, timestamps_ahead};
pub(super) use packet::{Received, packet_socket, receive, send};
pub(super) use poll::{Poll, Ready};
pub(super) use socket::{Next, accept, bind, connect, domain, finish, listen, pending_error, read, write};

pub(super) use crate::socket::system::{open_socket, option, packets_lost, set_option, sharpen_timers};
