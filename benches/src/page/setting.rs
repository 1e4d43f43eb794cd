//! The machine, the time and the versions of a measurement.

use super::waking::there_and_back;
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Instant;

#[derive(Serialize, Deserialize)]
pub struct Setting {
    pub date: String,
    pub processor: String,
    pub cores: usize,
    pub kernel: String,
    pub compiler: String,
    pub rounds: usize,
    /// The load average of the last minute, before and after the measurement.
    pub load: [f64; 2],
    /// The microseconds of [`there_and_back`], before and after the measurement.
    #[serde(default)]
    pub waking: [f64; 2],
    pub minutes: f64,
    /// Name and version of the measured crates.
    pub versions: Vec<(String, String)>,
}

/// The crates whose version matters.
const CRATES: &[&str] = &[
    "ide-mcp",
    "tungstenite",
    "tokio-tungstenite",
    "fastwebsockets",
    "tokio-websockets",
    "sockudo-ws",
    "soketto",
    "websocket-codec",
    "rmcp",
    "serde_json",
    "mio",
    "async-io",
    "tokio",
];

/// The setting of a measurement that has begun.
pub struct Begun(Setting, Instant);

impl Setting {
    pub fn begin(rounds: usize) -> Begun {
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let setting = Self {
            date: said_by("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            processor: processor.map_or("unknown", |(_, name)| name).into(),
            cores: available_parallelism().map_or(1, usize::from),
            kernel: said_by("uname", &["-sr"]),
            compiler: said_by("rustc", &["--version"]),
            rounds,
            load: [load(), 0.0],
            waking: [there_and_back(), 0.0],
            minutes: 0.0,
            versions: CRATES.iter().filter_map(|name| Some(((*name).into(), version(name)?))).collect(),
        };
        Begun(setting, Instant::now())
    }
}

impl Begun {
    pub fn end(self) -> Setting {
        let Self(mut setting, start) = self;
        setting.load[1] = load();
        setting.waking[1] = there_and_back();
        setting.minutes = (start.elapsed().as_secs_f64() / 6.0).round() / 10.0;
        setting
    }
}

fn said_by(program: &str, args: &[&str]) -> String {
    let said = Command::new(program).args(args).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().into()
}

fn load() -> f64 {
    let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

fn version(name: &str) -> Option<String> {
    let lock = include_str!("../../Cargo.lock");
    let (_, behind) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    behind.split('"').next().map(Into::into)
}
