//! What is said of a critic's settings before anything starts.

use crate::topology::support::{folder, load, right, said};

/// Mistakes of an arrangement with a critic of these settings, whose model is named last.
fn mistakes(settings: &str, model: &str) -> Vec<String> {
    let critic = format!("[actors.c]\nrole = \"critic\"\n{model}\n[actors.c.settings]\n{settings}\n");
    let edge = "to = \"b\"\n[[edges]]\nfrom = \"b\"\nto = \"c\"\n";
    let text = right(&[("to = \"b\"", edge)], &critic);
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let result = load(folder.path(), "x.toml");
    said(folder.path(), &result).into_iter().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
}

#[test]
fn settings_that_make_no_sense_together_are_told() {
    for (settings, expected) in [
        ("", &[][..]),
        ("reward = \"endpoint\"\nendpoint = \"http://h/score\"\nendpoint_env = \"MY_TOKEN\"\ntimeout_secs = 5", &[]),
        ("reward = \"endpoint\"", &["`actors.c.settings.endpoint` must be a URL where `reward` is \"endpoint\""]),
        (
            "reward = \"endpoint\"\nendpoint = \"http://u:hunter2@h/\"",
            &["`actors.c.settings.endpoint` must hold no user name or password; name the key's variable instead"],
        ),
        (
            "reward = \"endpoint\"\nendpoint = \"h/score\"\nendpoint_env = \"sk-hunter2\"",
            &[
                "`actors.c.settings.endpoint` is not a URL: relative URL without a base",
                "`actors.c.settings.endpoint_env` must be the name of a variable of the environment (A-Z, 0-9 and _), never the token itself",
            ],
        ),
        (
            "endpoint = \"http://h/score\"\nendpoint_env = \"T\"\ntimeout_secs = 5\ntests = \"shown\"",
            &[
                "`actors.c.settings.endpoint` has no use: `reward` is not \"endpoint\"",
                "`actors.c.settings.endpoint_env` has no use: `reward` is not \"endpoint\"",
                "`actors.c.settings.timeout_secs` has no use: `reward` is not \"endpoint\"",
                "`actors.c.settings.tests` has no use: `reward` is not \"judge\"",
            ],
        ),
    ] {
        assert_eq!(mistakes(settings, ""), expected, "{settings}");
    }
}

#[test]
fn values_that_there_are_not_are_told() {
    for (settings, expected) in [
        (
            "reward = \"oracle\"",
            "`actors.c.settings.reward`: unknown variant `oracle`, expected one of `execution`, `agreement`, `judge`, `endpoint`",
        ),
        ("timeout_secs = 0", "`actors.c.settings.timeout_secs`: invalid value: integer `0`, expected a nonzero u32"),
        (
            "prompt = \"x\"",
            "`prompt` is not a key of `actors.c.settings`; it is a key of the actor: write it in `[actors.c]`",
        ),
    ] {
        assert_eq!(mistakes(settings, ""), [expected], "{settings}");
    }
}

#[test]
fn a_judge_needs_a_model_that_judges() {
    let expected = "`c` asks its model to judge, and `templates` answers only draft, repair";
    assert_eq!(mistakes("reward = \"judge\"", ""), [expected]);
    assert_eq!(mistakes("reward = \"judge\"", "model = \"openai:m\""), Vec::<String>::new());
    assert_eq!(mistakes("", ""), Vec::<String>::new(), "the order of verdicts asks nobody");
}
