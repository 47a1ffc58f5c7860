use super::{exits, harness::CppHarness, test_text::TestText};
use crate::{
    domain::{Assertion, Language, Limits},
    languages::{BoxCommand, Preparation, Recipe, SourceFile, TestTextError, Testing, Toolchain, Tools, Unit, Wanted},
};

/// The file that holds the candidate.
pub(super) const PROGRAM_FILE: &str = "program.cpp";
/// The file of the standard headers, also where it is compiled beforehand.
pub(super) const BASE_FILE: &str = "rolecall_base.hpp";
/// Its text.
pub(super) const BASE: &str = include_str!("../harness/cpp/base.hpp");

/// Flags that a precompiled header and what uses it share.
const FLAGS: &[&str] = &["-std=c++17", "-O1", "-w", "-fdiagnostics-color=never", "-pthread"];

/// C++17.
pub(in crate::languages) struct Cpp;

impl Toolchain for Cpp {
    fn language(&self) -> Language {
        Language::Cpp
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["cpp", "c++", "cc", "cxx", "hpp"]
    }

    fn limits(&self) -> Limits {
        Limits { test_cpu_ms: 2_000, ..Limits::default() }
    }

    fn wanted(&self) -> &'static [Wanted] {
        &[Wanted {
            name: "g++",
            variable: "ROLECALL_CPP",
            version: &["--version"],
            resolve: &[],
            levels: 1,
            hint: "install g++ 9 or later",
        }]
    }

    fn preparation(&self, tools: &Tools) -> Option<Preparation> {
        let version = tools.versions.get("g++").map_or("", String::as_str);
        let compiled = format!("{BASE_FILE}.gch");
        let mut command = vec![tools.program("g++")];
        command.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
        command.extend(["-x", "c++-header", BASE_FILE, "-o", &compiled].map(str::to_owned));
        Some(Preparation {
            key: format!("{version}\n{}\n{BASE}", command.join(" ")),
            files: vec![SourceFile { path: BASE_FILE.to_owned(), text: BASE.to_owned() }],
            commands: vec![command],
            env: Vec::new(),
            optional: false,
        })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Linked(&CppHarness)
    }

    fn program(&self, text: &str) -> Unit {
        Unit::of_one(PROGRAM_FILE, text)
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let mut argv = vec![tools.program("g++")];
        argv.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
        // Names of headers that a whole program does not include must stay free for it.
        let includes = |header: &str| unit.files.iter().any(|file| included(&file.text, header));
        if let Some(prepared) = tools.prepared.as_ref()
            && (unit.entry != unit.program_file || includes("bits/stdc++.h"))
        {
            argv.extend(["-include".to_owned(), prepared.join(BASE_FILE).to_string_lossy().into_owned()]);
        }
        argv.extend([&unit.entry, "-o", "program"].map(str::to_owned));
        if includes("openssl/") {
            argv.push("-lcrypto".to_owned());
        }
        let command = |argv| BoxCommand { argv, bounded_addresses: true, deep_stack: true, ..BoxCommand::default() };
        Recipe {
            compile: Some(command(argv)),
            keep: vec!["program".to_owned()],
            run: command(vec!["./program".to_owned()]),
        }
    }

    fn nothing(&self) -> &'static str {
        "(void)0"
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        Ok(TestText::parse(tests)?.assertions())
    }

    fn exits(&self, program: &str) -> Vec<Assertion> {
        exits::exits(program)
    }
}

/// Whether a line of the text includes a header whose name begins so.
fn included(text: &str, header: &str) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        let name = rest.and_then(|rest| rest.strip_prefix("include")).map(str::trim_start);
        name.is_some_and(|name| name[name.len().min(1)..].starts_with(header) && name.starts_with(['<', '"']))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Cpp, included};
    use crate::languages::{Toolchain, Tools, Unit};

    fn arguments(unit: &Unit) -> Vec<String> {
        let tools = Tools { prepared: Some(PathBuf::from("/p")), ..Tools::default() };
        Cpp.recipe(unit, &tools).compile.unwrap().argv
    }

    #[test]
    fn a_precompiled_header_has_the_flags_of_what_uses_it() {
        let prepared = &Cpp.preparation(&Tools::default()).unwrap().commands[0];
        let header = prepared.iter().position(|argument| argument == "-x").unwrap();
        let used = arguments(&Cpp.program("#include <bits/stdc++.h>\n"));
        assert_eq!(prepared[..header], used[..header]);
        assert_eq!(used[header..header + 2], ["-include", "/p/rolecall_base.hpp"]);
    }

    #[test]
    fn whole_programs_get_only_the_headers_and_libraries_that_they_name() {
        let plain = arguments(&Cpp.program("#include <vector>\nint hash;\n"));
        assert!(plain.iter().all(|argument| argument != "-include" && argument != "-lcrypto"));
        assert!(arguments(&Cpp.program("# include<openssl/md5.h>\n")).contains(&"-lcrypto".to_owned()));
        assert!(!included("// #include <openssl/md5.h>", "openssl/"));
    }
}
