use super::{
    StatementKind, function_head, functions, mentions, outline, text_around_last_method, without_useless_imports,
};
use crate::domain::Language;

fn names(language: Language, text: &str) -> String {
    let outline = outline(language, text).unwrap_or_else(|| panic!("{language}: {text}"));
    outline.statements.into_iter().flat_map(|one| one.names).collect::<Vec<_>>().join(" ")
}

#[test]
fn names_that_a_text_binds() {
    let cpp = "int a(int n) { int no; return n; }\nstruct B { int no(); };\nenum class C { D };\nusing E = int;\n\
               template <typename T>\nT* f(T x) { return &x; }\nint g = 1, h[3], *i;\nint promised(int);\nint B::no() { return 1; }\n\
               const auto j = [](int no) { return no; };\n#define K 1\n";
    assert_eq!(names(Language::Cpp, cpp), "a B C E f g h i j K");
    let java = "class A { int no() { return 1; } }\ninterface B {}\nenum C { D }\nrecord E(int no) {}\n";
    assert_eq!(names(Language::Java, java), "A B C E");
    let javascript = "const a = 1, {b, c: [d]} = x;\nfunction e(no) {}\nclass F {}\nlet g;\nexport const h = () => 1;\nasync function i() {}\n\
                      import j, {k as l} from 'm';\nfunction* n() {}\n";
    assert_eq!(names(Language::JavaScript, javascript), "a b d e F g h i j l n");
    let go = "package main\n\nimport (\n\t\"math/rand/v2\"\n\tb \"c/d\"\n\t_ \"e\"\n)\n\nfunc f(no int) int { return no }\nfunc (no f) no() {}\n\
              var g, h = 1, 2\nconst i = 1\ntype j struct{}\n";
    assert_eq!(names(Language::Go, go), "b rand f g h i j");
    let rust = "use a::{b, c::{self, D}, e as f, g::*};\nfn h(no: u8) {}\nstruct I;\nimpl I { fn no() {} }\nconst J: u8 = 1;\nmod k {}\n";
    assert_eq!(names(Language::Rust, rust), "D b c f h I J k");
}

#[test]
fn what_is_no_program_has_no_outline() {
    let broken = [
        (Language::Cpp, "int f( { }"),
        (Language::Cpp, "return 1;"),
        (Language::Cpp, "f(1);"),
        (Language::Java, "int x = 1;"),
        (Language::Java, "int f() { return 1; }"),
        (Language::JavaScript, "return 1"),
        (Language::JavaScript, "if (x) { return 1 }"),
        (Language::JavaScript, "```js\nf()\n```"),
        (Language::Go, "x := 1"),
        (Language::Go, "f(1)"),
        (Language::Rust, "let x = 1;"),
        (Language::Rust, "f(1);"),
        (Language::Rust, "// only a comment"),
        (Language::Python, "x = 1"),
    ];
    for (language, text) in broken {
        assert!(outline(language, text).is_none(), "{language}: {text}");
    }
    assert!(outline(Language::JavaScript, "/*\n```js\n*/\nconst f = () => 1").is_some(), "a fence in a comment");
    let kinds = outline(Language::JavaScript, "'use strict'\nSure\nf(1)\nx = 1\n").unwrap().statements;
    let kinds: Vec<StatementKind> = kinds.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [StatementKind::First, StatementKind::Bare, StatementKind::Other, StatementKind::Other]);
}

#[test]
fn the_head_of_a_function_and_what_stands_above_it() {
    let rust = "use a::b;\n\n/// Halves.\nfn half(n: u8) -> u8 {\n    n / 2\n}\n\n// One more.\nfn inc(n: u8) -> u8 { n + 1 }\n";
    let head = function_head(Language::Rust, rust, "inc").unwrap();
    assert_eq!(head.signature, "fn inc(n: u8) -> u8 {");
    assert_eq!(head.preamble.as_deref(), Some("use a::b;\n\n/// Halves.\nfn half(n: u8) -> u8 {\n    n / 2\n}\n"));
    let java =
        "import a.B;\nclass A {\n    int one() { return 1; }\n    int inc(int n) {\n        return n;\n    }\n}\n";
    let head = function_head(Language::Java, java, "inc").unwrap();
    assert_eq!(head.signature, "class A {\n    int one() { return 1; }\n    int inc(int n) {");
    let around = text_around_last_method(Language::Java, &head.signature);
    assert_eq!(around, Some("class A {\n    int one() { return 1; }\n    "));
    assert_eq!(functions(Language::Java, java), ["one", "inc"]);
    assert!(function_head(Language::Java, java, "two").is_none());
    assert!(text_around_last_method(Language::Go, "func f() {").is_none());
}

#[test]
fn useless_imports_and_names() {
    let go = "package main\n\nimport (\n\t\"math\"\n\t\"strings\"\n)\n\nfunc f(strings []string) float64 { return math.Pi }\n";
    let kept = without_useless_imports(Language::Go, go);
    assert_eq!(kept, "package main\n\nimport \"math\"\n\nfunc f(strings []string) float64 { return math.Pi }\n");
    assert_eq!(without_useless_imports(Language::Go, &kept), kept);
    assert!(mentions(Language::Rust, "#[test] fn t() { assert_eq!(inc(1), 2); }").contains("inc"));
    assert!(!mentions(Language::Cpp, "// inc\nconst char* s = \"inc\";").contains("inc"));
}
