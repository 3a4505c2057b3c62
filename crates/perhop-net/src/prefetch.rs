//! [`prefetch`]: a hint to the processor to load the memory that a later event needs.

#![allow(unsafe_code)] // the standard library has no safe form of this instruction

/// The size of a cache line, bytes.
const LINE: usize = 64;

/// Starts to load the first `lines` cache lines of `value` and does not wait for them. Has no effect on
/// processors other than x86-64.
#[inline]
pub fn prefetch<T>(value: &T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = std::ptr::from_ref(value).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: this instruction never faults, and it changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, lines, LINE);
}

/// Returns the number of cache lines that a `T` occupies if it begins at the start of a cache line.
pub const fn lines_of<T>() -> usize {
    size_of::<T>().div_ceil(LINE)
}
