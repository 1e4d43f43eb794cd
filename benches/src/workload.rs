//! The input of every contestant: frames with texts of one size, made from a fixed seed, and a source that
//! copies them into the reader's buffer, as a socket does.

use crate::tally::Tally;

/// How many bytes a [`Source`] repeats at most, unless one frame is larger. A socket returns about as many in
/// one read.
pub const CYCLE: usize = 64 * 1024;

/// The characters of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Words of ASCII.
    Ascii,
    /// Words, about one in seven of which has characters of two to four bytes.
    Mixed,
}

/// Texts of one size, and the masked frames with these texts.
pub struct Workload {
    /// The texts, each of the same number of bytes.
    pub texts: Vec<String>,
    /// All frames, one after the other.
    pub wire: Vec<u8>,
    /// The position of each payload in `wire`, and its masking key.
    pub frames: Vec<Frame>,
}

/// One frame of a [`Workload`].
pub struct Frame {
    pub payload: std::ops::Range<usize>,
    pub key: [u8; 4],
}

impl Workload {
    /// Makes texts of `size` bytes. The workload lives as long as the process, so that contestants can borrow it.
    pub fn new(size: usize, script: Script) -> &'static Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ size as u64);
        let mut made = Self { texts: Vec::new(), wire: Vec::new(), frames: Vec::new() };
        while made.wire.is_empty() || made.wire.len() + size + 14 <= CYCLE {
            let text = text(size, script, &mut random);
            let key = (random.next() as u32 | 1).to_le_bytes();
            let payload = push_frame(&mut made.wire, text.as_bytes(), key);
            made.frames.push(Frame { payload, key });
            made.texts.push(text);
        }
        Box::leak(Box::new(made))
    }

    /// Returns a tally that compares each text with the one that was sent.
    pub fn checking(&'static self) -> Tally {
        Tally::checking(&self.texts)
    }
}

/// Appends a masked text frame and returns the range of its payload.
pub fn push_frame(wire: &mut Vec<u8>, payload: &[u8], key: [u8; 4]) -> std::ops::Range<usize> {
    wire.push(0x81);
    match payload.len() {
        short @ 0..=125 => wire.push(0x80 | short as u8),
        medium @ 126..=0xffff => {
            wire.push(0x80 | 126);
            wire.extend((medium as u16).to_be_bytes());
        }
        long => {
            wire.push(0x80 | 127);
            wire.extend((long as u64).to_be_bytes());
        }
    }
    wire.extend(key);
    let start = wire.len();
    wire.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    start..wire.len()
}

/// Repeats the same bytes without end. A read ends at the last of them or at the limit, whichever comes first.
pub struct Source {
    wire: &'static [u8],
    at: usize,
    limit: usize,
}

impl Source {
    pub fn new(wire: &'static [u8], limit: usize) -> Self {
        Self { wire, at: 0, limit }
    }

    /// Copies the next bytes into `buf` and returns their number.
    #[inline]
    pub fn read(&mut self, buf: &mut [u8]) -> usize {
        let next = self.next(buf.len());
        buf[..next.len()].copy_from_slice(next);
        next.len()
    }

    /// Returns the next bytes, at most `room`, for readers that append to their own buffer.
    #[inline]
    pub fn next(&mut self, room: usize) -> &'static [u8] {
        let rest = &self.wire[self.at..];
        let next = &rest[..rest.len().min(room).min(self.limit)];
        self.at += next.len();
        if self.at == self.wire.len() {
            self.at = 0;
        }
        next
    }
}

/// The destination of sent bytes: a buffer that is reused, into which they are copied as a socket
/// copies them into the kernel's.
#[derive(Default)]
pub struct Drain(Vec<u8>);

impl Drain {
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        self.0.clear();
        self.0.extend_from_slice(bytes);
        std::hint::black_box(&self.0);
    }
}

fn text(size: usize, script: Script, random: &mut Random) -> String {
    const WORDS: [&str; 12] =
        ["let", "value", "fn", "editor", "selection", "=", "return", "{", "}", "(path)", "match", "0x1f"];
    const WIDE: [&str; 6] = ["größe", "naïve", "Ωmega", "漢字", "日本語", "🦀"];
    let mut text = String::with_capacity(size);
    while text.len() < size {
        let wide = script == Script::Mixed && random.next().is_multiple_of(7);
        let pick = random.next() as usize;
        let word = if wide { WIDE[pick % WIDE.len()] } else { WORDS[pick % WORDS.len()] };
        if text.len() + word.len() < size {
            text.push_str(word);
        }
        text.push(' ');
    }
    text
}

/// A xorshift generator, with the same sequence in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}
