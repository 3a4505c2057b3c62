//! Addresses in the form of the C library, and the interfaces with an address.

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr::{from_mut, from_ref};

use libc::socklen_t;

use crate::socket::system::checked;

/// An address in the form of the C library.
pub(super) struct RawAddress {
    storage: libc::sockaddr_storage,
    pub(super) length: socklen_t,
}

impl RawAddress {
    pub(super) fn new(address: SocketAddr) -> RawAddress {
        // SAFETY: all-zero bytes are a valid value of this plain structure.
        let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
        let length = match address {
            SocketAddr::V4(v4) => {
                let raw = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage is large enough and aligned for every kind of address.
                unsafe { from_mut(&mut storage).cast::<libc::sockaddr_in>().write(raw) };
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(v6) => {
                let raw = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                // SAFETY: the storage is large enough and aligned for every kind of address.
                unsafe { from_mut(&mut storage).cast::<libc::sockaddr_in6>().write(raw) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        RawAddress { storage, length: length as socklen_t }
    }
    pub(super) fn pointer(&self) -> *const libc::sockaddr {
        from_ref(&self.storage).cast()
    }
}

/// The address in `storage`, if it is an IP address.
pub(super) fn to_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    // SAFETY: the storage has room for every kind of address.
    unsafe { address_at(from_ref(storage).cast()) }
}

/// Numbers of the interfaces that have `address`.
pub(in crate::host) fn interfaces_of(address: IpAddr) -> io::Result<Vec<u32>> {
    let mut list = MaybeUninit::<*mut libc::ifaddrs>::uninit();
    // SAFETY: the call fills `list` or fails. The list is read before it is freed; until then its pointers
    // are null or valid, and names end with a zero byte.
    unsafe {
        checked(libc::getifaddrs(list.as_mut_ptr()))?;
        let first = list.assume_init();
        let (mut entry, mut found) = (first, Vec::new());
        while let Some(interface) = entry.as_ref() {
            let storage = interface.ifa_addr.cast::<libc::sockaddr>();
            if !storage.is_null() && address_at(storage).is_some_and(|found| found.ip() == address) {
                found.push(libc::if_nametoindex(interface.ifa_name));
            }
            entry = interface.ifa_next;
        }
        libc::freeifaddrs(first);
        Ok(found)
    }
}

/// The address at `pointer`, if it is an IP address.
///
/// # Safety
/// `pointer` must point to an address with the length of its family.
unsafe fn address_at(pointer: *const libc::sockaddr) -> Option<SocketAddr> {
    // SAFETY: the caller guarantees a valid address; only the structure of its family is read.
    unsafe {
        match i32::from((*pointer).sa_family) {
            libc::AF_INET => {
                let raw = pointer.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddr::new(ip.into(), u16::from_be(raw.sin_port)))
            }
            libc::AF_INET6 => {
                let raw = pointer.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(raw.sin6_addr.s6_addr);
                Some(SocketAddr::new(ip.into(), u16::from_be(raw.sin6_port)))
            }
            _ => None,
        }
    }
}
