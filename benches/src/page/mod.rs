//! `report`: measures everything and writes docs/performance.md, its pictures, and the results from
//! which both are made.

mod markdown;
mod setting;
mod svg;
mod waking;

use crate::data::Section;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use setting::Setting;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
const QUICK_OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/report");

/// The rounds of a whole report, and of a quick one.
const ROUNDS: usize = 11;
const QUICK_ROUNDS: usize = 2;

/// The file of the results, in the directory of the pictures.
const RESULTS: &str = "results.json";

/// The contents of a page.
#[derive(Serialize, Deserialize)]
pub struct Results {
    setting: Setting,
    sections: Vec<Section>,
}

/// Measures, or reads earlier results, and writes the page.
pub fn report(args: &[String]) -> ExitCode {
    let (mut quick, mut render, mut rounds, mut out) = (false, false, None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.as_slice().first()) {
            ("--quick", _) => quick = true,
            ("--render", _) => render = true,
            ("--rounds", Some(count)) => {
                rounds = count.parse().ok();
                args.next();
            }
            ("--out", Some(dir)) => {
                out = Some(PathBuf::from(dir));
                args.next();
            }
            _ => {
                eprintln!("report [--quick | --render] [--rounds N] [--out DIR], not {arg}");
                return ExitCode::FAILURE;
            }
        }
    }
    // The results of a quick run do not replace the page.
    let out = out.unwrap_or_else(|| PathBuf::from(if quick { QUICK_OUT } else { DOCS }));
    let rounds = rounds.unwrap_or(if quick { QUICK_ROUNDS } else { ROUNDS });
    if cfg!(feature = "simd") && !render {
        eprintln!("report builds the program with simd itself, and is built without");
        return ExitCode::FAILURE;
    }
    match write(&out, quick, render, rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", out.display());
            ExitCode::FAILURE
        }
    }
}

fn write(out: &Path, quick: bool, render: bool, rounds: usize) -> io::Result<()> {
    let pictures = out.join("performance");
    fs::create_dir_all(&pictures)?;
    let kept = pictures.join(RESULTS);
    let results = if render {
        serde_json::from_slice(&fs::read(&kept)?)?
    } else {
        let results = measure(quick, rounds)?;
        fs::write(&kept, serde_json::to_string_pretty(&results)? + "\n")?;
        results
    };
    for (name, text) in files(&results) {
        fs::write(out.join(name), text)?;
    }
    Ok(())
}

/// Returns the page and its pictures, by name in the directory of the documents.
fn files(results: &Results) -> Vec<(String, String)> {
    let mut files = vec![("performance.md".into(), markdown::page(results))];
    let pictures = results.sections.iter().flat_map(svg::pictures);
    files.extend(pictures.map(|picture| (format!("performance/{}.svg", picture.id), picture.svg)));
    files
}

fn measure(quick: bool, rounds: usize) -> io::Result<Results> {
    let before = Setting::begin(rounds);
    let mut sections = Vec::new();
    for (name, measure) in crate::MEASUREMENTS {
        if quick && *name == "minimal" {
            continue;
        }
        eprintln!("{name}");
        sections.push(measure(rounds));
    }
    eprintln!("simd");
    let with_simd: Vec<Section> = in_build("simd", &["--write-tables", &rounds.to_string()])?;
    for simd in with_simd {
        let section = sections.iter_mut().find(|section| section.id == simd.id);
        crate::report::add_simd(section.expect("both programs measure the same"), simd);
    }
    eprintln!("counts");
    // Counting allocations replaces the allocator.
    sections.push(in_build("check", &["--write-counts"])?);
    Ok(Results { setting: before.end(), sections })
}

/// Returns the results of this program in a build with this feature and without peers, which writes
/// them to the file that is its last argument.
fn in_build<T: DeserializeOwned>(feature: &str, args: &[&str]) -> io::Result<T> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = manifest.join("target").join(feature).with_extension("json");
    let run = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["run", "--release", "--quiet", "--no-default-features", "--features", feature])
        .arg("--manifest-path")
        .arg(manifest.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(manifest.join("target/without_peers"))
        .arg("--")
        .args(args)
        .arg(&file)
        .status()?;
    if !run.success() {
        return Err(io::Error::other(format!("the program with the feature {feature} failed")));
    }
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_the_results_say() {
        let docs = Path::new(DOCS);
        let kept = fs::read(docs.join("performance").join(RESULTS)).unwrap();
        let results: Results = serde_json::from_slice(&kept).unwrap();
        let files = files(&results);
        for (name, text) in &files {
            let written = fs::read_to_string(docs.join(name)).unwrap();
            assert_eq!(&written, text, "{name} is stale: report --render");
        }
        // No file is left over from an earlier report.
        let there = fs::read_dir(docs.join("performance")).unwrap().count();
        assert_eq!(there, files.len(), "the folder has a picture that no result belongs to");
    }
}
