//! How a test cuts its bytes.

use std::fmt;

/// One way to cut bytes: the pieces, in order.
pub struct Cut<'a> {
    pub name: CutName,
    pub pieces: Vec<&'a [u8]>,
}

/// The name of a way, for the message of a test that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutName {
    Whole,
    /// In pieces of this many bytes.
    Every(usize),
    /// In three pieces, at these two points.
    At(usize, usize),
}

/// Returns the ways: whole, one byte at a time, five bytes at a time, and cut at every two points.
/// Long input is cut only near both ends and near the borders of buffers.
pub fn ways(bytes: &[u8]) -> impl Iterator<Item = Cut<'_>> {
    let points = points(bytes.len());
    let twice = points.clone().into_iter().flat_map(move |first| {
        let seconds = points.clone().into_iter().filter(move |second| *second >= first);
        seconds.map(move |second| Cut {
            name: CutName::At(first, second),
            pieces: vec![&bytes[..first], &bytes[first..second], &bytes[second..]],
        })
    });
    let every = [1, 5].map(|size| Cut { name: CutName::Every(size), pieces: bytes.chunks(size).collect() });
    std::iter::once(Cut { name: CutName::Whole, pieces: vec![bytes] }).chain(every).chain(twice)
}

/// Returns the points at which to cut.
fn points(len: usize) -> Vec<usize> {
    const NEAR: usize = 24;
    let borders = [512, 1024, 16 * 1024, 64 * 1024];
    let near = |point: usize| {
        len <= 320
            || point <= NEAR
            || point + NEAR >= len
            || borders.iter().any(|border| point.abs_diff(*border) <= 2)
    };
    (1..len).filter(|point| near(*point)).collect()
}

impl fmt::Display for CutName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Every(1) => f.write_str("a byte at a time"),
            Self::Every(size) => write!(f, "{size} bytes at a time"),
            Self::At(first, second) => write!(f, "cut at {first} and {second}"),
        }
    }
}
