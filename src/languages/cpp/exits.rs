use tree_sitter::Node;

use crate::{
    domain::{Assertion, Language},
    languages::{ENDING_IN_C, syntax::Syntax},
};

/// Functions that end the process or start another, beside those of C.
const ENDING: &[&str] = &["terminate", "clone"];

/// Functions that lead to descriptors, other libraries or memory that is not the program's.
const REACHING: &[&str] = &[
    "read",
    "pread",
    "readv",
    "write",
    "pwrite",
    "writev",
    "send",
    "sendto",
    "sendmsg",
    "recv",
    "recvfrom",
    "recvmsg",
    "dup",
    "dup2",
    "dup3",
    "fdopen",
    "fcntl",
    "mmap",
    "mprotect",
    "dlopen",
    "dlsym",
    "dl_iterate_phdr",
];

/// Attributes that make something run before `main`, or take the place of something else.
const EARLY: &[&str] = &["constructor", "destructor", "section", "ifunc", "alias", "init_priority"];

/// Calls of such functions; assembly, which may do the same; attributes that start early; functions of the C library, and
/// operators of the standard one, that the program replaces.
pub(super) fn exits(program: &str) -> Vec<Assertion> {
    let Ok(syntax) = Syntax::parse(Language::Cpp, tree_sitter_cpp::LANGUAGE, program) else { return Vec::new() };
    let found = syntax.nodes().into_iter().filter(|node| is_suspicious(&syntax, *node));
    found.map(|node| syntax.listed(node)).collect()
}

fn is_suspicious(syntax: &Syntax<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "gnu_asm_expression" => true,
        "call_expression" => node.child_by_field_name("function").is_some_and(|function| {
            let name = syntax.source(function).rsplit("::").next().unwrap_or_default().trim();
            function.kind() != "field_expression"
                && [ENDING_IN_C, ENDING, REACHING].iter().any(|names| names.contains(&name))
        }),
        "attribute_specifier" | "attribute_declaration" => {
            let text = syntax.source(node);
            text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| EARLY.contains(&word.trim_matches('_')))
        }
        "function_declarator" => {
            let is_defined = node.parent().is_some_and(|parent| parent.kind() == "function_definition");
            let is_operator = syntax.source(node).starts_with("operator");
            is_defined
                && (within(syntax, node, "linkage_specification", "")
                    || is_operator && within(syntax, node, "namespace_definition", "std"))
        }
        _ => false,
    }
}

/// Whether a node lies in another of this kind and, where one is given, this name.
fn within(syntax: &Syntax<'_>, node: Node<'_>, kind: &str, name: &str) -> bool {
    let mut around = node.parent();
    while let Some(outer) = around {
        let fits =
            name.is_empty() || outer.child_by_field_name("name").is_some_and(|found| syntax.source(found) == name);
        if outer.kind() == kind && fits {
            return true;
        }
        // An operator of a class is that class's own affair.
        if kind == "namespace_definition" && matches!(outer.kind(), "struct_specifier" | "class_specifier") {
            return false;
        }
        around = outer.parent();
    }
    false
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

    #[test]
    fn what_starts_early_or_takes_the_place_of_the_library_is_found() {
        let program = "#include <vector>\nasm(\".incbin \\\"x\\\"\");\n__attribute__((constructor(101))) void a() {}\nextern \"C\" \
                       int memcmp(const void*, const void*, unsigned long) { return 0; }\nnamespace std {\nbool operator==(V, V) { \
                       return true; }\ntemplate <> struct hash<V> { int operator()(V) const { return 1; } };\n}\nvoid f(File g) {\n  \
                       g.read();\n  dup2(1, 3);\n}\n";
        let lines: Vec<_> = exits(program).into_iter().map(|found| found.line).collect();
        assert_eq!(lines, [2, 3, 4, 6, 11]);
    }
}
