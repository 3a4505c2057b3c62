//! The functions that the page's worker calls.
//!
//! `perhop_input` makes room for a question, which the worker writes there; `perhop_answer` answers it and
//! says how long the answer is; `perhop_output` says where it lies, until the next question. Nothing here
//! reads a pointer: the worker does.

// A function that another language calls by its name is `no_mangle`, which the lint counts as unsafe.
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

/// Where the next question, of `length` bytes, is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Answers the question in the input; the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_answer() -> usize {
    let question = INPUT.with_borrow_mut(std::mem::take);
    let answer = SESSION.with_borrow_mut(|session| {
        let session = session.get_or_insert_with(|| {
            // A module that panics stops at once; the worker asks afterwards what for.
            panic::set_hook(Box::new(|panicked| {
                let said = panicked.to_string();
                PANIC.with(|message| message.try_borrow_mut().map(|mut message| *message = said).ok());
            }));
            Session::default()
        });
        session.answer(&question)
    });
    put(&answer)
}

/// Where the answer lies.
#[unsafe(no_mangle)]
pub extern "C" fn perhop_output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Makes the message of the panic that stopped the module the answer; its length in bytes.
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
