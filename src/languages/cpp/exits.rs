use crate::{
    domain::{Assertion, Language},
    languages::syntax::Syntax,
};

/// Functions that end or replace the process, or start another.
const ENDING: &[&str] = &[
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "terminate",
    "fork",
    "vfork",
    "clone",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fexecve",
    "system",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "raise",
    "kill",
    "syscall",
];

/// Attributes by which a function runs before or in place of others.
const EARLY: &[&str] = &["constructor", "section", "ifunc", "init_priority", "alias"];

/// Calls of such functions, and assembly and attributes, which may do the same.
pub(super) fn exits(program: &str) -> Vec<Assertion> {
    let Ok(syntax) = Syntax::parse(Language::Cpp, tree_sitter_cpp::LANGUAGE, program) else { return Vec::new() };
    let ends = |node: &tree_sitter::Node<'_>| match node.kind() {
        "gnu_asm_expression" => true,
        "attribute_specifier" | "attribute_declaration" => {
            let text = syntax.source(*node);
            text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| EARLY.contains(&word.trim_matches('_')))
        }
        "call_expression" => node.child_by_field_name("function").is_some_and(|function| {
            let name = syntax.source(function).rsplit("::").next().unwrap_or_default().trim();
            function.kind() != "field_expression" && ENDING.contains(&name)
        }),
        _ => false,
    };
    syntax.nodes().iter().filter(|node| ends(node)).map(|node| syntax.listed(*node)).collect()
}

#[cfg(test)]
mod tests {
    use super::exits;

    #[test]
    fn calls_are_found_but_neither_comments_nor_strings_nor_methods() {
        let program = "// exit(0)\nconst char* s = \"exit(1)\";\nvoid f(Door d) {\n  d.exit();\n  std::_Exit(0);\n  \
                       if (fork()) ::execl(\"/bin/sh\", s);\n  asm(\"syscall\");\n}\n__attribute__((__constructor__(9))) \
                       void g() {}\n[[nodiscard]] int h();\n";
        let found: Vec<_> = exits(program).into_iter().map(|found| (found.line, found.text)).collect();
        let expected = [
            (5, "std::_Exit(0)"),
            (6, "fork()"),
            (6, "::execl(\"/bin/sh\", s)"),
            (7, "asm(\"syscall\")"),
            (9, "__attribute__((__constructor__(9)))"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
