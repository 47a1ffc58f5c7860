//! Mistakes of form: what is not TOML, keys that are not known, values of the wrong type.

use super::support::{Case, assert_said, right};

#[test]
fn each_is_said_at_its_place() {
    for case in cases() {
        assert_said(&case);
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case { name: "empty", text: "".to_owned(), said: &["x.toml:1:1: the file is empty"] },
        Case { name: "only_a_comment", text: "# nothing\n\n".to_owned(), said: &["x.toml:1:1: the file is empty"] },
        Case {
            name: "no_toml_at_all",
            text: "this is no TOML\n".to_owned(),
            said: &["x.toml:1:6: not TOML: key with no value, expected `=`"],
        },
        Case {
            name: "a_value_is_missing",
            text: right(&[(r#""templates""#, "")], ""),
            said: &["x.toml:1:9: not TOML: a value is missing"],
        },
        Case {
            name: "two_mistakes_of_syntax",
            text: right(&[(r#""executor""#, "executor")], "[budget]\nprograms = 1x\n"),
            said: &[
                "x.toml:5:8: not TOML: string values must be quoted, expected literal string",
                "x.toml:13:12: not TOML: string values must be quoted, expected literal string",
            ],
        },
        Case {
            name: "an_unclosed_header",
            text: right(&[("[actors.b]", "[actors.b")], ""),
            said: &["x.toml:4:10: not TOML: unclosed table, expected `]`"],
        },
        Case {
            name: "an_unclosed_string",
            text: right(&[(r#""executor""#, r#""executor"#)], ""),
            said: &[r#"x.toml:5:17: not TOML: invalid basic string, expected `"`"#],
        },
        Case {
            name: "an_unclosed_long_string",
            text: right(&[(r#""executor""#, "'''executor")], ""),
            said: &["x.toml:12:1: not TOML: invalid multi-line literal string, expected `'`"],
        },
        Case {
            name: "a_control_character",
            text: right(&[("executor", "exe\u{1}cutor")], ""),
            said: &["x.toml:5:12: not TOML: invalid basic string, expected non-double-quote visible characters, `\\`"],
        },
        Case {
            name: "deep_nesting",
            text: format!("model = {}{}\n", "[".repeat(200), "]".repeat(200)),
            said: &["x.toml:1:89: not TOML: cannot recurse further; max recursion depth met"],
        },
        Case {
            name: "a_key_twice",
            text: right(&[(r#"role = "executor""#, "role = \"executor\"\nrole = \"ranker\"")], ""),
            said: &["x.toml:6:1: duplicate key `role`"],
        },
        Case {
            name: "an_actor_twice",
            text: right(&[], "[actors.a]\nrole = \"synthesizer\"\n"),
            said: &["x.toml:12:9: duplicate key `a`", "x.toml:13:1: duplicate key `role`"],
        },
        Case {
            name: "an_unknown_key_at_the_top",
            text: right(&[("", "modl = \"templates\"\n")], ""),
            said: &["x.toml:1:1: `modl` is not a top-level key; did you mean `model`?"],
        },
        Case {
            name: "an_unknown_table_at_the_top",
            text: right(&[], "[budgets]\nprograms = 1\n"),
            said: &["x.toml:12:2: `budgets` is not a top-level key; did you mean `budget`?"],
        },
        Case {
            name: "a_key_of_a_table_at_the_top",
            text: right(&[("", "programs = 200\n")], ""),
            said: &["x.toml:1:1: `programs` is not a top-level key; it is a key of `[budget]`"],
        },
        Case {
            name: "an_unknown_key_in_an_inline_table",
            text: right(&[("", "run = { paralel_turns = 2 }\n")], ""),
            said: &["x.toml:1:9: `paralel_turns` is not a key of `run`; did you mean `parallel_turns`?"],
        },
        Case {
            name: "an_unknown_key_of_an_edge",
            text: right(&[], "[[edges]]\nfrom = \"a\"\ntoo = \"b\"\n"),
            said: &[
                "x.toml:12:1: `edges[2]` has no `to`",
                "x.toml:14:1: `too` is not a key of `edges[2]`; did you mean `to`?",
            ],
        },
        Case {
            name: "an_unknown_key_of_an_actor",
            text: right(&[(r#"role = "executor""#, "role = \"executor\"\nrolle = \"x\"")], ""),
            said: &["x.toml:6:1: `rolle` is not a key of `actors.b`; did you mean `role`?"],
        },
        Case {
            name: "a_setting_beside_the_role",
            text: right(&[(r#"role = "synthesizer""#, "role = \"synthesizer\"\ndrafts = 3")], ""),
            said: &[
                "x.toml:4:1: `drafts` is not a key of `actors.a`; it is a setting: write it in `[actors.a.settings]`",
            ],
        },
        Case {
            name: "a_parameter_beside_the_role",
            text: right(&[(r#"role = "synthesizer""#, "role = \"synthesizer\"\ntemperature = 1.0")], ""),
            said: &[
                "x.toml:4:1: `temperature` is not a key of `actors.a`; it is a parameter: write it in `[actors.a.parameters]`",
            ],
        },
        Case {
            name: "a_table_of_the_top_below_an_actor",
            text: right(&[], "[actors.b.search]\nwidths = [3]\n[actors.a.budget]\nprograms = 3\n"),
            said: &[
                "x.toml:12:11: `search` is not a key of `actors.b`; it is a table of the top level: write `[search]`",
                "x.toml:15:1: `programs` is not a key of `actors.a.budget`; it is a key of `[budget]`",
            ],
        },
        Case {
            name: "edges_below_an_actor",
            text: right(&[], "[[actors.b.edges]]\nfrom = \"a\"\n"),
            said: &[
                "x.toml:12:12: `edges` is not a key of `actors.b`; it is a list of the top level: write `[[edges]]`",
            ],
        },
        Case {
            name: "an_option_of_the_command_line",
            text: right(&[("", "seed = 7\n")], ""),
            said: &["x.toml:1:1: `seed` is not a top-level key; it is an option of the command line: `--seed`"],
        },
        Case {
            name: "a_number_for_a_name",
            text: right(&[(r#""templates""#, "5")], ""),
            said: &["x.toml:1:9: `model` must be a string that is not empty, not the number 5"],
        },
        Case {
            name: "an_empty_name",
            text: right(&[(r#""templates""#, r#""""#)], ""),
            said: &["x.toml:1:9: `model` must be a string that is not empty, not an empty string"],
        },
        Case {
            name: "a_word_for_a_number",
            text: right(&[], "[budget]\nprograms = \"many\"\n"),
            said: &[
                r#"x.toml:13:12: `budget.programs` must be a whole number from 0 to 4294967294 or "unlimited", not the string `many`"#,
            ],
        },
        Case {
            name: "a_negative_number",
            text: right(&[], "[budget]\nprograms = -1\n"),
            said: &[
                r#"x.toml:13:12: `budget.programs` must be a whole number from 0 to 4294967294 or "unlimited", not the number -1"#,
            ],
        },
        Case {
            name: "a_broken_number",
            text: right(&[], "[budget]\nprograms = 1.5\n"),
            said: &[
                r#"x.toml:13:12: `budget.programs` must be a whole number from 0 to 4294967294 or "unlimited", not the number 1.5"#,
            ],
        },
        Case {
            name: "a_number_too_large",
            text: right(&[], "[budget]\nprograms = 99999999999999999999\n"),
            said: &[
                r#"x.toml:13:12: `budget.programs` must be a whole number from 0 to 4294967294 or "unlimited", not a number that does not fit into 64 bits"#,
            ],
        },
        Case {
            name: "a_number_too_large_for_the_key",
            text: right(&[], "[budget]\nprograms = 5000000000\n"),
            said: &[
                r#"x.toml:13:12: `budget.programs` must be a whole number from 0 to 4294967294 or "unlimited", not the number 5000000000"#,
            ],
        },
        Case {
            name: "a_number_that_is_not_finite",
            text: right(&[], "[budget]\nwall_secs = inf\n"),
            said: &[
                r#"x.toml:13:13: `budget.wall_secs` must be a number from 0 or "unlimited", not a number that is not finite"#,
            ],
        },
        Case {
            name: "a_date",
            text: right(&[], "[budget]\nwall_secs = 2026-01-01\n"),
            said: &[r#"x.toml:13:13: `budget.wall_secs` must be a number from 0 or "unlimited", not a date"#],
        },
        Case {
            name: "a_number_for_a_table",
            text: right(&[("", "budget = 5\n")], ""),
            said: &["x.toml:1:10: `budget` must be a table, not the number 5"],
        },
        Case {
            name: "an_array_of_tables_for_a_table",
            text: right(&[], "[[budget]]\nprograms = 5\n"),
            said: &["x.toml:12:1: `budget` must be a table, not an array"],
        },
        Case {
            name: "no_turns_at_all",
            text: right(&[], "[run]\nparallel_turns = 0\n"),
            said: &[
                r#"x.toml:13:18: `run.parallel_turns` must be a whole number from 1 to 4294967294 or "unlimited", not the number 0"#,
            ],
        },
        Case {
            name: "top_p_above_one",
            text: right(&[], "[parameters]\ntop_p = 1.5\n"),
            said: &["x.toml:13:9: `parameters.top_p` must be a number from 0 to 1, not the number 1.5"],
        },
        Case {
            name: "a_stop_string_that_is_none",
            text: right(&[], "[parameters]\nstop = [\"\\n\", 2]\n"),
            said: &[
                "x.toml:13:15: `parameters.stop` must be an array, each element a string that begins and ends with something \
                 else than a letter, a digit or `_`, not the number 2",
            ],
        },
        Case {
            name: "an_unknown_choice",
            text: right(&[], "[search]\nparents = \"first\"\n"),
            said: &[
                r#"x.toml:13:11: `search.parents` must be "beam", "last", "best", "failing" or "random", not the string `first`"#,
            ],
        },
        Case {
            name: "a_rule_to_stop_that_there_is_not",
            text: right(&[], "[stop]\non = \"passed\"\n"),
            said: &[r#"x.toml:13:6: `stop.on` must be "solved" or "budget", not the string `passed`"#],
        },
        Case {
            name: "actors_in_an_array",
            text: "actors = [\"a\"]\n".to_owned(),
            said: &["x.toml:1:10: `actors` must be a table, not an array"],
        },
        Case {
            name: "an_actor_that_is_a_string",
            text: right(&[("[actors.b]\nrole = \"executor\"\n", "[actors]\nb = \"executor\"\n")], ""),
            said: &["x.toml:5:5: `actors.b` must be a table, not the string `executor`"],
        },
        Case {
            name: "a_reserved_name",
            text: right(&[("actors.b]", "actors.rolecall]"), (r#"to = "b""#, r#"to = "rolecall""#)], ""),
            said: &["x.toml:4:9: `rolecall` cannot name an actor: the name is reserved"],
        },
        Case {
            name: "a_name_with_odd_characters",
            text: right(&[("actors.b]", "actors.\"b b\\u001b\"]"), (r#"to = "b""#, "to = \"b b\\u001b\"")], ""),
            said: &[
                "x.toml:4:9: `b b\\u{1b}` cannot name an actor: a name is a letter, then letters, digits, `_` and `-`",
            ],
        },
        Case {
            name: "one_table_of_edges",
            text: "[edges]\nfrom = \"task\"\nto = \"a\"\n".to_owned(),
            said: &["x.toml:1:1: `edges` must be an array of tables, not a table"],
        },
        Case {
            name: "an_edge_that_is_a_string",
            text: "edges = [\"a -> b\"]\n".to_owned(),
            said: &["x.toml:1:10: `edges[0]` must be a table, not the string `a -> b`"],
        },
        Case {
            name: "an_edge_without_end",
            text: right(&[], "[[edges]]\nfrom = \"a\"\n"),
            said: &["x.toml:12:1: `edges[2]` has no `to`"],
        },
        Case {
            name: "an_edge_to_nobody",
            text: right(&[], "[[edges]]\nfrom = \"b\"\nto = []\n"),
            said: &["x.toml:14:6: `edges[2].to` is empty"],
        },
        Case {
            name: "an_unknown_when",
            text: right(&[], "[[edges]]\nfrom = \"b\"\nto = \"a\"\nwhen = \"sometimes\"\n"),
            said: &[
                "x.toml:14:6: an edge from `b` to `a` carries nothing: it emits ExecutionReport, `a` accepts Task",
                r#"x.toml:15:8: `edges[2].when` must be "always", "failed" or "passed", not the string `sometimes`"#,
            ],
        },
        Case {
            name: "removing_without_a_base",
            text: right(&[("", "remove_actors = [\"x\"]\n")], ""),
            said: &["x.toml:1:1: `remove_actors` needs `extends`: there is nothing to change"],
        },
    ]
}
