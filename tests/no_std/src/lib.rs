//! Links the core without std. Nothing here is ever run: that it builds is the proof.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use ide_mcp::{Machine as _, Time, Wire as _, ws};

struct NoMemory;

// SAFETY: it hands out nothing, which `GlobalAlloc` allows; so nothing comes back either. The trait cannot be
// implemented without `unsafe`, and a program without std needs an allocator to link: this is the one place.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Uses a machine so that it is linked: a server that echoes what it is fed.
#[unsafe(no_mangle)]
pub extern "C" fn events_of_one_byte(byte: u8) -> usize {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &[byte]);
    let mut events = Vec::new();
    while let Some(event) = server.poll_event() {
        events.push(event);
    }
    events.len()
}
