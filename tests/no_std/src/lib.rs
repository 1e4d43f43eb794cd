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

/// Uses an editor's host so that it is linked.
#[cfg(feature = "ide")]
#[unsafe(no_mangle)]
pub extern "C" fn transmissions_of_one_byte(byte: u8) -> usize {
    use ide_mcp::ide::{Host, HostConfig, Policy, ServerConfig, ToolSet};
    use ide_mcp::mcp::Implementation;
    let policy = Policy::without_authentication(1);
    let server = ServerConfig::new(Implementation::new("proof", "0"), policy, ToolSet::new());
    let mut host = Host::new(HostConfig::new(server));
    let conn = host.connect(Time::ZERO);
    if let Some(mut wire) = host.wire(conn) {
        wire.feed(Time::ZERO, &[byte]);
    }
    while host.poll_event().is_some() {}
    core::iter::from_fn(|| host.poll_transmit()).count()
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
