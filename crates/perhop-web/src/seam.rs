//! The functions that the page's worker calls.
//!
//! `perhop_input` reserves memory, to which the worker writes the request. `perhop_answer` processes the
//! request and returns the length of the reply. `perhop_output` returns the address of the reply, which is
//! valid until the next request. This module does not dereference pointers.

// JavaScript calls these functions by name, which requires `no_mangle`. The lint `unsafe_code` rejects this
// attribute.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic;

use crate::answer::Answer;
use crate::session::Session;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the address for the next request, of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Processes the request in the input. Returns the length of the reply, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_answer() -> usize {
    let question = INPUT.with_borrow_mut(std::mem::take);
    let answer = SESSION.with_borrow_mut(|session| {
        let session = session.get_or_insert_with(|| {
            // A panic stops the module. After that, the worker requests the message.
            panic::set_hook(Box::new(|panicked| {
                let text = panicked.to_string();
                PANIC.with(|message| message.try_borrow_mut().map(|mut message| *message = text).ok());
            }));
            Session::default()
        });
        session.answer(&question)
    });
    put(&answer)
}

/// Returns the address of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Stores the message of the panic that stopped the module as the reply. Returns its length, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_panic() -> usize {
    PANIC.with(|message| put(&Answer::failed(&message.take(), "")))
}

fn put(answer: &Answer) -> usize {
    let bytes = answer.to_bytes();
    let length = bytes.len();
    OUTPUT.set(bytes);
    length
}
