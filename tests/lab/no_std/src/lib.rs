//! Links the core without std. The code never runs: the proof is that it links.
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use ide_mcp::{Output, Time, ws};

struct NoMemory;

// SAFETY: `alloc` always returns null, which `GlobalAlloc` allows, so `dealloc` never gets memory.
// The trait cannot be implemented without `unsafe`, and a program without std needs an allocator to
// link: this is the one place.
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

/// Uses an editor, so that it is linked.
#[unsafe(no_mangle)]
pub extern "C" fn transmissions_of_one_byte(byte: u8) -> usize {
    use ide_mcp::ide::{Auth, Policy, Server, ServerConfig};
    let policy = Policy::new(1, Auth::Disabled);
    let mut server = Server::new(ServerConfig::new("proof", "0").policy(policy));
    let conn = server.connect(Time::ZERO);
    server.feed(Time::ZERO, conn, &[byte]);
    let mut transmissions = 0;
    loop {
        match server.poll(Time::ZERO) {
            Output::Write { conn, bytes } => {
                let n = bytes.len();
                server.written(conn, n);
                transmissions += 1;
            }
            Output::Event(_) | Output::Close(_) => {}
            Output::Wait(_) => return transmissions,
        }
    }
}

/// Uses a WebSocket server, so that it is linked.
#[unsafe(no_mangle)]
pub extern "C" fn events_of_one_byte(byte: u8) -> usize {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &[byte]);
    let mut events = Vec::new();
    while let Output::Event(event) = server.poll(Time::ZERO) {
        events.push(event);
    }
    events.len()
}
