//! Replies, and the program that is in each of them.

use proptest::prelude::*;
use rolecall::{
    domain::Task,
    prompts::{assemble, extract_program},
};

use super::{function_task, program_task};

const INC: &str = "def inc(n): return n + 1\n";
const INC_BLOCK: &str = "def inc(n):\n    return n + 1\n";

fn inc() -> Task {
    function_task("inc", "def inc(n):", None)
}

/// Checks each reply against the program that it holds; `None` = it holds none.
fn check(task: &Task, replies: &[(&str, &str, Option<&str>)]) {
    for (what, reply, program) in replies {
        assert_eq!(extract_program(reply, task).as_deref(), *program, "{what}");
    }
}

#[test]
fn e17_the_first_word_is_code_unless_it_names_a_language() {
    check(
        &inc(),
        &[
            ("the fence was opened in the prompt", "def inc(n): return n + 1\n```", Some(INC)),
            ("the same, with talk behind", "def inc(n): return n + 1\n```\nThat is all.", Some(INC)),
            ("the prompt left the info string", "python\ndef inc(n): return n + 1\n```\n", Some(INC)),
            ("only the info string is left", "python\ndef inc(n): return n + 1\n", Some(INC)),
            ("code on the line of the fence", "```def inc(n): return n + 1\n```", Some(INC)),
            ("code behind the language", "```python def inc(n): return n + 1\n```", Some(INC)),
            ("a block on one line", "```python def inc(n): return n + 1```", Some(INC)),
            ("a version", "```Python 3\ndef inc(n): return n + 1\n```", Some(INC)),
            ("tildes", "~~~python\ndef inc(n): return n + 1\n~~~", Some(INC)),
            ("braces", "``` {.python}\ndef inc(n): return n + 1\n```", Some(INC)),
            ("short tag", "```py\ndef inc(n): return n + 1\n```", Some(INC)),
            ("no tag", "Sure:\n\n```\ndef inc(n): return n + 1\n```\nDone.", Some(INC)),
            ("a tag that is no language", "```solution\ndef inc(n): return n + 1\n```", Some(INC)),
            ("never closed", "```python\ndef inc(n): return n + 1\n", Some(INC)),
            ("closed behind the code", "```python\ndef inc(n): return n + 1```", Some(INC)),
            ("no fence", "def inc(n): return n + 1\n", Some(INC)),
            (
                "no fence, between prose",
                "Here is it:\n\ndef inc(n): return n + 1\n\nI hope it helps!",
                Some("def inc(n): return n + 1\n\n"),
            ),
        ],
    );
}

#[test]
fn e18_a_fence_in_a_string_does_not_end_the_block() {
    let task = function_task("doc", "def doc():", None);
    let program = "def doc():\n    return '''\n```sh\nls\n```\n'''\n";
    let longer = "def doc():\n    return \"\"\"\n```\n~~~\n```\n\"\"\"\n";
    check(
        &task,
        &[
            ("an example in a string", &format!("```python\n{program}```\n"), Some(program)),
            (
                "the same with talk and a second block",
                &format!("```python\n{program}```\nRun:\n```bash\nls\n```\n"),
                Some(program),
            ),
            ("two fences in a string", &format!("```\n{longer}```\n"), Some(longer)),
            ("the outer fence is longer", &format!("````python\n{program}````\n"), Some(program)),
            ("the opening fence was in the prompt", &format!("{program}```\n"), Some(program)),
            ("no fence at all", program, Some(program)),
        ],
    );
}

#[test]
fn e19_nothing_is_cut_at_stop_words_or_comments() {
    let area = function_task("area", "def area(w, h):", None);
    let program = "def area(w, h):\n    return mul(w, h)\n\n# helper\ndef mul(a, b):\n    return a * b\n";
    check(
        &area,
        &[
            ("no fence", program, Some(program)),
            ("a fence", &format!("By default:\n```python\n{program}```"), Some(program)),
            ("a completion", "    return mul(w, h)\n\n# helper\ndef mul(a, b):\n    return a * b\n", Some(program)),
        ],
    );
    let program = "STEP = 2\ndef f(n): return n + STEP\nprint(f(3))\n";
    check(
        &function_task("f", "def f(n):", None),
        &[
            ("a sample call stays", &format!("```python\n{program}```"), Some(program)),
            ("without a fence too", program, Some(program)),
        ],
    );
    let guarded = "def inc(n):\n    return n + 1\n\nif __name__ == \"__main__\":\n    print(inc(1))\n";
    check(&inc(), &[("a main guard stays", &format!("```python\n{guarded}```"), Some(guarded))]);
}

#[test]
fn e20_a_completion_keeps_its_indentation() {
    let documented = "def inc(n):\n    \"\"\"add one\"\"\"\n    return n + 1\n";
    check(
        &inc(),
        &[
            ("the body alone", "    return n + 1\n", Some(INC_BLOCK)),
            ("the body with a tab", "\treturn n + 1\n", Some("def inc(n):\n\treturn n + 1\n")),
            ("blank lines above the body", "\n    return n + 1\n", Some(INC_BLOCK)),
            ("the body in a fence", "```python\n    return n + 1\n```", Some(INC_BLOCK)),
            ("the body, then a fence of the prompt", "    return n + 1\n```\nDone.", Some(INC_BLOCK)),
            ("the function again", documented, Some(documented)),
            ("a trimmed body is not tried", "return n + 1", None),
            ("the whole function, indented", "    def inc(n):\n        return n + 1\n", Some(INC_BLOCK)),
            (
                "a block in a list",
                "1. So:\n\n   ```python\n   def inc(n):\n       return n + 1\n   ```\n",
                Some(INC_BLOCK),
            ),
        ],
    );
}

#[test]
fn e21_the_preamble_is_added_where_it_is_lacking_and_once() {
    let preamble =
        "import math\nfrom typing import List\n\n# helper of the task\ndef half(n: int) -> int:\n    return n // 2\n";
    let task = function_task("total", "def total(xs: List[int]) -> int:", Some(preamble));
    let body = "def total(xs: List[int]) -> int:\n    return sum(xs)\n";
    let full = format!("{preamble}\n\n{body}");
    check(
        &task,
        &[
            ("only the function", body, Some(&full)),
            ("only the body", "    return sum(xs)\n", Some(&full)),
            ("the head is there", &full, Some(&full)),
            (
                "a part of the head is there",
                &format!("from typing import List\ndef half(n): return n / 2\n{body}"),
                Some(&format!(
                    "import math\n\n# helper of the task\n\n\nfrom typing import List\ndef half(n): return n / 2\n{body}"
                )),
            ),
            (
                "future imports stay first",
                &format!("'''doc'''\nfrom __future__ import annotations\n\n{body}"),
                Some(&format!("'''doc'''\nfrom __future__ import annotations\n{preamble}\n\n{body}")),
            ),
        ],
    );
    assert_eq!(assemble(&task, body), full);
    assert_eq!(assemble(&task, &full), full);
    assert_eq!(assemble(&task, "    return sum(xs)\n"), full);
    assert_eq!(assemble(&task, "def total(:"), "def total(:", "what is broken is left alone");
    assert_eq!(assemble(&program_task(), "print(1)\n"), "print(1)\n");
}

#[test]
fn e22_a_program_for_stdin_and_stdout_is_found() {
    let program = "def main():\n    n = int(input()); print(n * 2)\nif __name__ == \"__main__\":\n    main()\n";
    check(
        &program_task(),
        &[
            ("a fence", &format!("```python\n{program}```\nExample output:\n```\n42\n```"), Some(program)),
            ("no fence", program, Some(program)),
            ("between prose", &format!("Here you are:\n\n{program}\nGood luck!"), Some(&format!("{program}\n"))),
            ("words alone are no program", "Sure, thing", None),
            ("an example alone is no program", "```\n42\n```", None),
            ("broken but marked", "```python\nprint(int(input()) * 2\n```", Some("print(int(input()) * 2\n")),
        ],
    );
}

#[test]
fn a35_several_blocks() {
    let other = "def other(n):\n    return n\n";
    check(
        &inc(),
        &[
            ("prose first", &format!("```text\nadd one\n```\n```python\n{INC_BLOCK}```"), Some(INC_BLOCK)),
            ("a call last", &format!("```python\n{INC_BLOCK}```\n```python\nprint(inc(1))\n```"), Some(INC_BLOCK)),
            (
                "the last that defines it",
                &format!("```python\n{INC}```\nbetter:\n```python\n{INC_BLOCK}```"),
                Some(INC_BLOCK),
            ),
            ("a helper block last", &format!("```python\n{INC_BLOCK}```\n```python\n{other}```"), Some(INC_BLOCK)),
            ("marked as prose, but nothing else", &format!("```text\n{INC_BLOCK}```"), Some(INC_BLOCK)),
            (
                "marked as prose, and something else",
                &format!("```python\n{INC_BLOCK}```\n```text\n{INC}```"),
                Some(INC_BLOCK),
            ),
            ("prose and shell only", "```text\nadd one\n```\n```bash\npython inc.py\n```", None),
            ("another name is better than nothing", &format!("```python\n{other}```"), Some(other)),
            ("a call only", "```python\nprint(inc(1))\n```", None),
            (
                "broken, to be repaired",
                "```python\ndef inc(n)\n    return n + 1\n```",
                Some("def inc(n)\n    return n + 1\n"),
            ),
            (
                "an opening without its closing",
                &format!("```python\ndef inc(n:\n\nagain:\n```python\n{INC_BLOCK}```"),
                Some(INC_BLOCK),
            ),
        ],
    );
}

#[test]
fn a35_never_half_a_program_and_never_an_empty_one() {
    check(
        &inc(),
        &[
            (
                "cut inside a fence",
                "```python\ndef inc(n):\n    return step(n)\n\ndef step(n):\n    return n + (",
                None,
            ),
            ("cut behind a header", "```python\ndef inc(n):\n", None),
            ("cut without a fence", "def inc(n):\n    return step(n)\n\ndef step(n):\n    return n + (", None),
            ("cut before its beginning", "    x = (\n\ndef inc(n):\n    return step(n)\n", None),
            ("an empty reply", "", None),
            ("an empty block", "```python\n```", None),
            ("a comment only", "```python\n# todo\n```", None),
            ("an opening fence only", "```python", None),
            ("prose only", "I cannot help with that.", None),
            ("a stray fence behind", "So:\n\ndef inc(n): return n + 1\n```", Some(INC)),
        ],
    );
}

#[test]
fn a35_line_ends_marks_and_comments() {
    check(
        &inc(),
        &[
            ("CRLF", "Here:\r\n```python\r\ndef inc(n):\r\n    return n + 1\r\n```\r\nDone.\r\n", Some(INC_BLOCK)),
            ("a byte-order mark", "\u{feff}def inc(n): return n + 1\n", Some(INC)),
            (
                "a fence behind a comment mark is no fence",
                "```python\ndef inc(n):\n    # ```\n    # inc(1)\n    # ```\n    return n + 1\n```",
                Some("def inc(n):\n    # ```\n    # inc(1)\n    # ```\n    return n + 1\n"),
            ),
            ("a fence in the middle of a line is no fence", "So: ```python\ndef inc(n): return n + 1\n", Some(INC)),
        ],
    );
}

#[test]
fn a35_reasoning_is_no_part_of_the_reply() {
    let thought = format!("first idea:\n```python\n{INC}```\n");
    check(
        &inc(),
        &[
            (
                "a block in the reasoning",
                &format!("<think>{thought}</think>\n```python\n{INC_BLOCK}```"),
                Some(INC_BLOCK),
            ),
            ("only in the reasoning", &format!("<think>{thought}</think>\nI give up."), None),
            ("the prompt opened it", &format!("{thought}</think>\n{INC_BLOCK}"), Some(INC_BLOCK)),
            ("never closed", &format!("<think>{thought}"), None),
        ],
    );
}

/// Text made of the things that extraction looks at, and of anything.
fn reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        Just("```".to_owned()),
        Just("```python\n".to_owned()),
        Just("~~~~".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>\n".to_owned()),
        Just(INC_BLOCK.to_owned()),
        Just("    return 1\n".to_owned()),
        Just("'''".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n".to_owned()),
        Just("é\u{301}😀\u{0}\t".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a35_no_reply_panics_and_no_program_is_empty(reply in reply()) {
        for task in [inc(), program_task(), function_task("total", "def total(xs):", Some("import math\n"))] {
            if let Some(program) = extract_program(&reply, &task) {
                prop_assert!(!program.trim().is_empty());
                prop_assert_eq!(assemble(&task, &program), program, "assembling twice changes nothing");
            }
        }
    }
}

#[test]
fn a35_a_hostile_reply_costs_a_bounded_time() {
    for reply in
        ["```python\n".repeat(40_000), "```\n".repeat(100_000), "def inc(n:\n'''\n".repeat(30_000), "(".repeat(500_000)]
    {
        assert_eq!(extract_program(&reply, &inc()), None);
    }
}
