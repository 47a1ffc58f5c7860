//! Mistakes of meaning: roles, settings, models, prompts, edges, the shape of the whole.

use super::support::{Case, assert_said, repairing, right};

#[test]
fn each_is_said_at_its_place() {
    for case in cases() {
        assert_said(&case);
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "no_role",
            text: right(&[("[actors.b]\nrole = \"executor\"\n", "[actors.b]\n")], ""),
            said: &["x.toml:4:9: `actors.b` has no `role`"],
        },
        Case {
            name: "an_unknown_role",
            text: right(&[(r#""executor""#, r#""executer""#)], ""),
            said: &["x.toml:5:8: there is no role `executer`; did you mean `executor`?"],
        },
        Case {
            name: "a_role_of_the_wrong_type",
            text: right(&[(r#""executor""#, r#"["executor"]"#)], ""),
            said: &["x.toml:5:8: `actors.b.role` must be a string that is not empty, not an array"],
        },
        Case {
            name: "an_unknown_setting",
            text: repairing(&[], "[actors.c.settings]\nrepair = 2\n"),
            said: &["x.toml:17:1: `repair` is not a key of `actors.c.settings`; did you mean `repairs`?"],
        },
        Case {
            name: "a_setting_of_the_wrong_type",
            text: repairing(&[], "[actors.c.settings]\nrepairs = \"x\"\n"),
            said: &[
                r#"x.toml:17:11: `actors.c.settings.repairs`: invalid value: string "x", expected a whole number from 1 or the word "budget""#,
            ],
        },
        Case {
            name: "a_setting_that_is_zero",
            text: repairing(&[], "[actors.c.settings]\nrepairs = 0\n"),
            said: &[
                r#"x.toml:17:11: `actors.c.settings.repairs`: invalid value: integer `0`, expected a whole number from 1 or the word "budget""#,
            ],
        },
        Case {
            name: "a_setting_that_makes_no_sense",
            text: repairing(&[], "[actors.c.settings]\nrepairs = \"budget\"\n"),
            said: &["x.toml:17:11: `actors.c.settings.repairs` must be a whole number from 1"],
        },
        Case {
            name: "a_setting_with_an_unknown_word",
            text: right(
                &[(
                    "role = \"executor\"\n",
                    "role = \"executor\"\n[actors.r]\nrole = \"ranker\"\nsettings = { children = \"replaced\" }\n",
                )],
                "[[edges]]\nfrom = \"b\"\nto = \"r\"\n",
            ),
            said: &[
                "x.toml:8:25: `actors.r.settings.children`: unknown variant `replaced`, expected `replace` or `compete`",
            ],
        },
        Case {
            name: "settings_that_are_no_table",
            text: repairing(&[], "settings = 5\n"),
            said: &["x.toml:16:12: `actors.c.settings` must be a table, not the number 5"],
        },
        Case {
            name: "a_setting_of_a_role_without_any",
            text: right(
                &[("[actors.b]\nrole = \"executor\"\n", "[actors.b]\nrole = \"executor\"\nsettings = { limit = 5 }\n")],
                "",
            ),
            said: &["x.toml:6:14: `limit` is not a key of `actors.b.settings`"],
        },
        Case {
            name: "no_model",
            text: right(&[("model = \"templates\"\n", "")], ""),
            said: &["x.toml:1:9: `a` asks a model and none is named"],
        },
        Case {
            name: "an_unknown_model",
            text: right(&[(r#""templates""#, r#""template""#)], ""),
            said: &["x.toml:1:9: no model `template` is known; did you mean `templates`?"],
        },
        Case {
            name: "a_model_file_that_is_not_there",
            text: right(&[(r#""templates""#, r#""models/mine.toml""#)], ""),
            said: &["x.toml:1:9: there is no model file `models/mine.toml`"],
        },
        Case {
            name: "a_model_for_a_role_that_asks_none",
            text: right(
                &[("[actors.b]\nrole = \"executor\"\n", "[actors.b]\nrole = \"executor\"\nmodel = \"templates\"\n")],
                "",
            ),
            said: &["x.toml:6:1: `actors.b.model` has no use: the role `executor` asks no model"],
        },
        Case {
            name: "parameters_for_a_role_that_asks_none",
            text: right(
                &[(
                    "[actors.b]\nrole = \"executor\"\n",
                    "[actors.b]\nrole = \"executor\"\nparameters = { temperature = 0.5 }\n",
                )],
                "",
            ),
            said: &["x.toml:6:16: `actors.b.parameters.temperature` has no use: the role `executor` asks no model"],
        },
        Case {
            name: "a_prompt_that_is_not_shipped",
            text: repairing(&[], "prompt = \"debugger/repare\"\n"),
            said: &["x.toml:16:10: no prompt `debugger/repare` is shipped; did you mean `debugger/repair`?"],
        },
        Case {
            name: "a_prompt_file_that_is_not_there",
            text: repairing(&[], "prompt = \"mine.md\"\n"),
            said: &["x.toml:16:10: cannot read `mine.md`: No such file or directory (os error 2)"],
        },
        Case {
            name: "an_empty_prompt_file",
            text: repairing(&[], "prompt = \"empty.md\"\n"),
            said: &["empty.md:1:1: not a prompt: it is empty"],
        },
        Case {
            name: "a_prompt_file_that_is_not_utf8",
            text: repairing(&[], "prompt = \"latin1.md\"\n"),
            said: &["latin1.md:1:3: not UTF-8: byte 0xe7 at offset 2"],
        },
        Case {
            name: "a_prompt_for_a_role_without_one",
            text: right(
                &[(
                    "[actors.b]\nrole = \"executor\"\n",
                    "[actors.b]\nrole = \"executor\"\nprompt = \"debugger/repair\"\n",
                )],
                "",
            ),
            said: &["x.toml:6:1: `actors.b.prompt` has no use: the role `executor` has no prompt"],
        },
        Case {
            name: "one_prompt_for_a_role_with_two",
            text: repairing(&[(r#""debugger""#, r#""learner""#)], "prompt = \"debugger/repair\"\n"),
            said: &["x.toml:16:1: `actors.c.prompt` is not enough: the role `learner` has the prompts draft, repair"],
        },
        Case {
            name: "an_unknown_prompt",
            text: repairing(&[], "prompts = { fix = \"debugger/repair\" }\n"),
            said: &["x.toml:16:13: `fix` is not a key of `actors.c.prompts`"],
        },
        Case {
            name: "a_prompt_twice",
            text: repairing(&[], "prompt = \"debugger/repair\"\nprompts = { repair = \"debugger/repair\" }\n"),
            said: &["x.toml:17:22: `actors.c.prompts.repair` and `prompt` are the same"],
        },
        Case {
            name: "a_prompt_that_is_no_name",
            text: repairing(&[], "prompts = { repair = 3 }\n"),
            said: &["x.toml:16:22: `actors.c.prompts.repair` must be the name or path of a prompt"],
        },
        Case {
            name: "requires_without_gathering",
            text: repairing(&[], "requires = \"all\"\n"),
            said: &["x.toml:16:1: `actors.c.requires` has no use: the actor does not gather"],
        },
        Case {
            name: "a_model_that_does_not_diagnose",
            text: repairing(
                &[
                    (r#""debugger""#, r#""instructor""#),
                    (r#"{ from = "c", to = "b" }"#, r#"{ from = "c", to = "d" }, { from = "d", to = "b" }"#),
                ],
                "settings = { instruction = \"model\" }\n[actors.d]\nrole = \"debugger\"\n",
            ),
            said: &["x.toml:14:9: `c` asks its model to diagnose, and `templates` answers only draft, repair"],
        },
        Case {
            name: "an_edge_to_an_unknown_actor",
            text: repairing(&[(r#"from = "b", to = "c""#, r#"from = "b", to = "debuger""#)], ""),
            said: &["x.toml:5:22: there is no actor `debuger`"],
        },
        Case {
            name: "an_edge_from_an_unknown_actor",
            text: repairing(&[(r#"from = "c", to = "b""#, r#"from = "cc", to = "b""#)], ""),
            said: &["x.toml:6:12: there is no actor `cc`; did you mean `c`?"],
        },
        Case {
            name: "an_edge_to_the_task",
            text: right(&[], "[[edges]]\nfrom = \"b\"\nto = \"task\"\n"),
            said: &["x.toml:14:6: nothing can be sent to `task`: an edge ends at an actor"],
        },
        Case {
            name: "an_edge_that_carries_nothing",
            text: right(&[], "[[edges]]\nfrom = \"b\"\nto = \"a\"\n"),
            said: &["x.toml:14:6: an edge from `b` to `a` carries nothing: it emits ExecutionReport, `a` accepts Task"],
        },
        Case {
            name: "an_edge_from_the_task_that_carries_nothing",
            text: repairing(&[(r#"{ from = "task", to = "a" }"#, r#"{ from = "task", to = ["a", "c"] }"#)], ""),
            said: &[
                "x.toml:3:31: an edge from `task` to `c` carries nothing: it sends Task, or the starter to a role that runs programs, `c` accepts Diagnosis, ExecutionReport, Assessment",
            ],
        },
        Case {
            name: "an_edge_twice",
            text: right(&[], "[[edges]]\nfrom = \"a\"\nto = \"b\"\n"),
            said: &["x.toml:14:6: the edge from `a` to `b` stands twice"],
        },
        Case {
            name: "when_on_an_edge_that_no_test_has_judged",
            text: right(&[(r#"to = "b""#, "to = \"b\"\nwhen = \"passed\"")], ""),
            said: &[r#"x.toml:12:8: `when = "passed"` has no use: `a` sends Candidate, which no test has judged"#],
        },
        Case {
            name: "when_on_an_edge_from_the_task",
            text: right(&[(r#"to = "a""#, "to = \"a\"\nwhen = \"failed\"")], ""),
            said: &[r#"x.toml:9:8: `when = "failed"` has no use: `task` sends Task, which no test has judged"#],
        },
        Case {
            name: "an_actor_that_is_not_reached",
            text: right(&[], "[actors.lost]\nrole = \"debugger\"\n"),
            said: &["x.toml:12:9: `lost` cannot be reached from `task`"],
        },
        Case {
            name: "nothing_begins_at_the_task",
            text: right(&[("[[edges]]\nfrom = \"task\"\nto = \"a\"\n", "")], ""),
            said: &["x.toml:1:1: no edge begins at `task`: nothing would start"],
        },
        Case {
            name: "no_actors",
            text: "model = \"templates\"\n".to_owned(),
            said: &["x.toml:1:1: there are no actors"],
        },
        Case {
            name: "no_executor",
            text: "model = \"templates\"\n[actors.a]\nrole = \"synthesizer\"\n[[edges]]\nfrom = \"task\"\nto = \"a\"\n"
                .to_owned(),
            said: &["x.toml:1:1: no actor runs programs"],
        },
        Case {
            name: "no_way_to_an_executor",
            text: right(&[], "[actors.c]\nrole = \"debugger\"\n[[edges]]\nfrom = \"b\"\nto = \"c\"\n"),
            said: &["x.toml:12:9: no way leads from `c` to an executor: its work would be lost"],
        },
        Case {
            name: "a_starter_by_two_ways",
            text: right(&[(r#"to = "a""#, r#"to = ["a", "b"]"#)], ""),
            said: &["x.toml:8:12: `b` gets the starter on the way of the drafts of `a`, not from `task`"],
        },
        Case {
            name: "a_circle_without_a_budget",
            text: repairing(&[("programs = 9", "wall_secs = 9")], ""),
            said: &["x.toml:6:22: no budget ends the circle `b -> c -> b`"],
        },
        Case {
            name: "a_circle_in_which_nobody_writes",
            text: right(
                &[],
                "[budget]\nprograms = 5\n[actors.r]\nrole = \"ranker\"\n[actors.s]\nrole = \"ranker\"\n[[edges]]\nfrom = \"b\"\nto = \"r\"\n[[edges]]\nfrom = \"r\"\nto = \"s\"\n[[edges]]\nfrom = \"s\"\nto = \"r\"\n",
            ),
            said: &["x.toml:26:6: nobody writes a program in the circle `r -> s -> r`"],
        },
        Case {
            name: "drafts_without_a_budget",
            text: right(
                &[(r#"role = "synthesizer""#, "role = \"synthesizer\"\nsettings = { drafts = \"budget\" }")],
                "",
            ),
            said: &["x.toml:4:23: no budget ends the drafts of `a`"],
        },
        Case {
            name: "a_budget_of_money",
            text: right(
                &[("templates", "openai:m")],
                "[budget]\ncost = 1.5\n[run.budget]\ncost = 0.0000000001\n[task]\nbudget = 3\n[arm.budget]\nprograms = 3\n",
            ),
            said: &[
                "x.toml:13:8: `budget.cost` cannot be kept: no `max_output_tokens` for a",
                "x.toml:13:8: `budget.cost` cannot be kept: the price of `openai:m` is not known",
                "x.toml:15:8: `run.budget.cost` cannot be kept: no `max_output_tokens` for a",
                "x.toml:15:8: `run.budget.cost` cannot be kept: the price of `openai:m` is not known",
                "x.toml:15:8: `run.budget.cost` has more than 9 decimals, or is too much to count",
                "x.toml:17:10: `task.budget` must be a table, not the number 3",
                "x.toml:19:1: `programs` is not a key of `arm.budget`; it is a key of `[budget]`",
            ],
        },
        Case {
            name: "budgets_of_actors",
            text: right(
                &[("templates", "openai:m")],
                "[actors.a.budget]\ntokens = 9\ncost = 1\nwall_secs = 3\n[actors.b.budget]\nmodel_calls = 2\n",
            ),
            said: &[
                "x.toml:13:10: `actors.a.budget.tokens` cannot be kept: no `max_output_tokens` for a",
                "x.toml:14:8: `actors.a.budget.cost` cannot be kept: no `max_output_tokens` for a",
                "x.toml:14:8: `actors.a.budget.cost` cannot be kept: the price of `openai:m` is not known",
                "x.toml:15:1: `wall_secs` is not a key of `actors.a.budget`; it is a key of `[budget]`",
                "x.toml:17:1: `actors.b.budget.model_calls` has no use: the role `executor` asks no model",
            ],
        },
        Case {
            name: "a_budget_of_gpu_seconds",
            text: right(&[("templates", "openai:m")], "[budget]\ngpu_secs = 60\n"),
            said: &["x.toml:13:12: `budget.gpu_secs` cannot be kept: the number of GPUs of `openai:m` is not known"],
        },
        Case {
            name: "a_budget_of_tokens_without_a_bound",
            text: right(&[], "[budget]\ntokens = 5000\n"),
            said: &["x.toml:13:10: `budget.tokens` cannot be kept: no `max_output_tokens` for a"],
        },
        Case {
            name: "a_context_without_room_for_a_prompt",
            text: right(&[], "[parameters]\nmax_output_tokens = 100\ncontext_tokens = 100\n"),
            said: &["x.toml:14:18: `context_tokens` is 100: `max_output_tokens` is 100, nothing is left for a prompt"],
        },
        Case {
            name: "a_raw_report_without_tests",
            text: right(
                &[(
                    "to = \"b\"\n",
                    "to = \"b\"\n[[edges]]\nfrom = \"b\"\nto = \"d\"\n[[edges]]\nfrom = \"d\"\nto = \"b\"\n",
                )],
                "[actors.d]\nrole = \"debugger\"\nsettings = { tests = \"none\", report = \"raw\", history = \"last:0\" }\n\
                 [budget]\nprograms = 2\n",
            ),
            said: &[
                "x.toml:20:39: `actors.d.settings.report` is \"raw\", which stands in place of the tests, and `tests` is \"none\"",
                "x.toml:20:56: `actors.d.settings.history`: invalid value: string \"last:0\", expected \"none\", \"all\" or \
                 \"last:N\" with a whole number N from 1",
            ],
        },
        Case {
            name: "a_base_that_is_not_there",
            text: "extends = \"base.toml\"\n".to_owned(),
            said: &["x.toml:1:11: cannot read `base.toml`: No such file or directory (os error 2)"],
        },
        Case {
            name: "a_base_that_is_not_shipped",
            text: "extends = \"seider\"\n".to_owned(),
            said: &["x.toml:1:11: no arrangement `seider` is shipped; did you mean `seidr`?"],
        },
        Case {
            name: "a_base_that_is_itself",
            text: "extends = \"x.toml\"\n".to_owned(),
            said: &["x.toml:1:11: overlays in a circle: x.toml -> x.toml"],
        },
        Case {
            name: "removing_an_actor_that_is_not_there",
            text: "extends = \"seidr\"\nremove_actors = [\"rankr\"]\n".to_owned(),
            said: &["x.toml:2:18: there is no actor `rankr` to remove; did you mean `ranker`?"],
        },
        Case {
            name: "removing_an_edge_that_is_not_there",
            text: "extends = \"resample\"\n[[remove_edges]]\nfrom = \"executor\"\nto = \"synthesizer\"\n".to_owned(),
            said: &["x.toml:3:8: there is no edge from `executor` to `synthesizer` to remove"],
        },
        Case {
            name: "removing_an_actor_that_is_needed",
            text: "extends = \"resample\"\nremove_actors = [\"executor\"]\n".to_owned(),
            said: &["x.toml:1:1: no actor runs programs"],
        },
    ]
}
