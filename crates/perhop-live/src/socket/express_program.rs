//! [`Redirection`]: the program in the kernel that redirects an interface's frames to an `AF_XDP` socket.
//!
//! ```text
//! r2 = context->rx_queue_index
//! r1 = map of sockets, by queue
//! r3 = XDP_PASS                     // if no socket has this queue
//! return redirect_map(r1, r2, r3)
//! ```
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

// linux/bpf.h: commands, types, and numbers of functions.
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE_ELEMENT: libc::c_long = 2;
const PROGRAM_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_OF_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const REDIRECT_MAP: i32 = 51;
const XDP_PASS: i32 = 2;
/// `offsetof(struct xdp_md, rx_queue_index)`: the place of the queue number in the context of the program.
const QUEUE_INDEX_OFFSET: i16 = 16;
/// The number of queues in the map.
const QUEUES: u32 = 64;

/// An instruction of the kernel's virtual machine.
#[derive(Clone, Copy)]
#[repr(C)]
struct Instruction {
    code: u8,
    /// Destination in the lower half, source in the upper one.
    registers: u8,
    offset: i16,
    immediate: i32,
}

impl Instruction {
    const fn new(code: u8, registers: u8, offset: i16, immediate: i32) -> Instruction {
        Instruction { code, registers, offset, immediate }
    }
}

/// The arguments of `MAP_CREATE`.
#[repr(C)]
struct MapCreation {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
}

/// The arguments of `MAP_UPDATE_ELEMENT`.
#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The arguments of `PROGRAM_LOAD`.
#[repr(C)]
struct ProgramLoading {
    kind: u32,
    instructions: u32,
    first: u64,
    license: u64,
}

/// The arguments of `LINK_CREATE`.
#[repr(C)]
struct LinkCreation {
    program: u32,
    interface: u32,
    attachment: u32,
    flags: u32,
}

/// A program on an interface. It is removed on drop, and also if the process is killed.
#[derive(Debug)]
pub(super) struct Redirection {
    map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

impl Redirection {
    /// Installs the program on interface `index`. No queue is redirected yet.
    pub(super) fn install(index: libc::c_int) -> io::Result<Redirection> {
        let map = MapCreation { kind: MAP_OF_SOCKETS, key_bytes: 4, value_bytes: 4, entries: QUEUES };
        let map = descriptor(MAP_CREATE, &map)?;
        let instructions = [
            Instruction::new(0x61, 0x12, QUEUE_INDEX_OFFSET, 0), // r2 = *(u32 *)(r1 + offset)
            Instruction::new(0x18, 0x11, 0, map.as_raw_fd()),    // r1 = map (of two instructions' length)
            Instruction::new(0x00, 0x00, 0, 0),
            Instruction::new(0xb7, 0x03, 0, XDP_PASS), // r3 = XDP_PASS
            Instruction::new(0x85, 0x00, 0, REDIRECT_MAP), // r0 = bpf_redirect_map(r1, r2, r3)
            Instruction::new(0x95, 0x00, 0, 0),        // exit
        ];
        let license = c"MIT";
        let program = ProgramLoading {
            kind: PROGRAM_OF_XDP,
            instructions: instructions.len() as u32,
            first: instructions.as_ptr() as u64,
            license: license.as_ptr() as u64,
        };
        let program = descriptor(PROGRAM_LOAD, &program)?;
        let link = LinkCreation {
            program: number(program.as_fd()),
            interface: index as u32,
            attachment: ATTACH_XDP,
            flags: 0,
        };
        let link = descriptor(LINK_CREATE, &link)?;
        Ok(Redirection { map, _program: program, _link: link })
    }
    /// Redirects the frames of the first queue to `socket`.
    pub(super) fn redirect_to(&self, socket: BorrowedFd) -> io::Result<()> {
        let (queue, socket) = (0_u32, number(socket));
        let update = MapUpdate {
            map: number(self.map.as_fd()),
            padding: 0,
            key: (&raw const queue) as u64,
            value: (&raw const socket) as u64,
            flags: 0,
        };
        call(MAP_UPDATE_ELEMENT, &update).map(drop)
    }
}

/// The number of a descriptor, as in the arguments of these calls.
fn number(descriptor: BorrowedFd) -> u32 {
    descriptor.as_raw_fd().cast_unsigned()
}

/// Makes a call that returns a new descriptor.
fn descriptor<T>(command: libc::c_long, arguments: &T) -> io::Result<OwnedFd> {
    let descriptor = call(command, arguments)?;
    // SAFETY: the descriptor was just opened, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as libc::c_int) })
}

fn call<T>(command: libc::c_long, arguments: &T) -> io::Result<libc::c_long> {
    let length: libc::c_uint = size_of::<T>() as libc::c_uint;
    // SAFETY: `arguments`, and the memory that its addresses point to, outlive the call; the kernel reads the
    // given number of bytes and takes the rest of its structure as zero.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(arguments), length) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
