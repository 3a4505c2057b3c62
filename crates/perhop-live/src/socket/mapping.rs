//! [`Mapping`]: memory that is shared with the kernel.
#![allow(unsafe_code)]
#![allow(clippy::cast_ptr_alignment)] // `place` sees to it

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use super::system::Plain;

/// Memory that is shared with the kernel, unmapped when it goes.
///
/// Which of the two may touch which part of it when is a matter of words in it ([`word`](Mapping::word)) that
/// the one hands the other; who knows that protocol vouches for the rest.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// `length` bytes of what `descriptor` offers at `offset`.
    pub(super) fn of(descriptor: BorrowedFd, offset: libc::off_t, length: usize) -> io::Result<Mapping> {
        Mapping::map(descriptor.as_raw_fd(), libc::MAP_SHARED | libc::MAP_POPULATE, offset, length)
    }
    /// `length` bytes of zeros, in memory from the start.
    pub(super) fn anonymous(length: usize) -> io::Result<Mapping> {
        Mapping::map(-1, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, 0, length)
    }

    fn map(descriptor: i32, flags: i32, offset: libc::off_t, length: usize) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the place, so no memory that Rust knows of is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, descriptor, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, length })
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
    /// Where it begins, for the kernel.
    pub(super) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// Where `length` bytes from `offset` on begin, for a type of alignment `alignment`.
    #[inline]
    fn place(&self, offset: usize, length: usize, alignment: usize) -> *mut u8 {
        let within = offset.checked_add(length).is_some_and(|end| end <= self.length);
        assert!(within && offset.is_multiple_of(alignment), "{length} bytes at {offset} of {}", self.length);
        // SAFETY: within the mapping, as just asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The word at `offset`, which the kernel reads and writes too.
    #[inline]
    pub(super) fn word(&self, offset: usize) -> &AtomicU32 {
        let place = self.place(offset, size_of::<AtomicU32>(), align_of::<AtomicU32>());
        // SAFETY: in bounds and aligned (a mapping begins at a page); an atomic may be shared with anyone.
        unsafe { &*place.cast::<AtomicU32>() }
    }
    /// A copy of the structure at `offset`.
    #[inline]
    pub(super) fn read<T: Plain>(&self, offset: usize) -> T {
        let place = self.place(offset, size_of::<T>(), align_of::<T>());
        // SAFETY: in bounds and aligned; any bytes are a value of it (`Plain`), and as the read is volatile
        // the compiler assumes nothing about who else writes there.
        unsafe { place.cast::<T>().read_volatile() }
    }
    /// Puts a structure at `offset`.
    #[inline]
    pub(super) fn write<T: Plain>(&mut self, offset: usize, value: T) {
        let place = self.place(offset, size_of::<T>(), align_of::<T>());
        // SAFETY: as in `read`.
        unsafe { place.cast::<T>().write_volatile(value) }
    }
    /// `length` bytes from `offset` on.
    ///
    /// # Safety
    /// While the slice lives the kernel neither reads nor writes these bytes.
    #[inline]
    pub(super) unsafe fn bytes(&mut self, offset: usize, length: usize) -> &mut [u8] {
        let place = self.place(offset, length, 1);
        // SAFETY: in bounds; nobody else has them, by this function's contract and by the exclusive borrow.
        unsafe { std::slice::from_raw_parts_mut(place, length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by us, with this length; no borrow outlives the mapping.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
