//! [`Mapping`]: memory that is shared with the kernel.
#![allow(unsafe_code)]
#![allow(clippy::cast_ptr_alignment)] // `place` checks the alignment

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use super::system::Plain;

/// Memory shared with the kernel, unmapped on drop.
///
/// Words in the memory ([`word`](Mapping::word)) determine which side may access a part of the memory. The
/// code that uses these words must guarantee exclusive access.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes of `descriptor` from `offset` on.
    pub(super) fn shared(descriptor: BorrowedFd, offset: libc::off_t, length: usize) -> io::Result<Mapping> {
        Mapping::map(descriptor.as_raw_fd(), libc::MAP_SHARED | libc::MAP_POPULATE, offset, length)
    }
    /// Maps `length` zero bytes without a file. The kernel provides the memory immediately.
    pub(super) fn anonymous(length: usize) -> io::Result<Mapping> {
        Mapping::map(-1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, 0, length)
    }

    fn map(descriptor: i32, flags: i32, offset: libc::off_t, length: usize) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so no memory of Rust is affected.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, descriptor, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, length })
    }

    /// The length of the memory, bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
    /// The address of the memory, for the kernel.
    pub(super) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// The address of `length` bytes from `offset` on, for a type of alignment `alignment`.
    #[inline]
    fn place(&self, offset: usize, length: usize, alignment: usize) -> *mut u8 {
        let within = offset.checked_add(length).is_some_and(|end| end <= self.length);
        assert!(within && offset.is_multiple_of(alignment), "{length} bytes at {offset} of {}", self.length);
        // SAFETY: the place is within the mapping, as asserted above.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The word at `offset`, which the kernel also reads and writes.
    #[inline]
    pub(super) fn word(&self, offset: usize) -> &AtomicU32 {
        let place = self.place(offset, size_of::<AtomicU32>(), align_of::<AtomicU32>());
        // SAFETY: the word is in bounds and aligned, because a mapping begins at a page boundary; an atomic
        // may be shared.
        unsafe { &*place.cast::<AtomicU32>() }
    }
    /// A copy of the structure at `offset`.
    #[inline]
    pub(super) fn read<T: Plain>(&self, offset: usize) -> T {
        let place = self.place(offset, size_of::<T>(), align_of::<T>());
        // SAFETY: the structure is in bounds and aligned, and any bytes are a value of it (`Plain`). The read
        // is volatile, so the compiler makes no assumption about other writers.
        unsafe { place.cast::<T>().read_volatile() }
    }
    /// Writes a structure at `offset`.
    #[inline]
    pub(super) fn write<T: Plain>(&mut self, offset: usize, value: T) {
        let place = self.place(offset, size_of::<T>(), align_of::<T>());
        // SAFETY: as in `read`.
        unsafe { place.cast::<T>().write_volatile(value) }
    }
    /// `length` bytes from `offset` on.
    ///
    /// # Safety
    /// While the slice exists, the kernel must not read or write these bytes.
    #[inline]
    pub(super) unsafe fn bytes(&mut self, offset: usize, length: usize) -> &mut [u8] {
        let place = self.place(offset, length, 1);
        // SAFETY: the bytes are in bounds. Access is exclusive by this function's contract and by the
        // exclusive borrow.
        unsafe { std::slice::from_raw_parts_mut(place, length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this type mapped the memory with this length, and no borrow outlives the mapping.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
