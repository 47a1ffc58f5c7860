//! Settings of the ranker: what is said of those that make no sense.

use super::support::{Case, assert_said, folder, load, right};

/// An arrangement with a ranker of these settings.
fn ranking(settings: &str) -> String {
    let actor = format!("role = \"executor\"\n[actors.r]\nrole = \"ranker\"\nsettings = {{ {settings} }}\n");
    right(&[("role = \"executor\"\n", &actor)], "[[edges]]\nfrom = \"b\"\nto = \"r\"\n")
}

#[test]
fn each_is_said_at_its_place() {
    let cases: &[(&str, &[&str])] = &[
        (
            "selection = \"roulette\"",
            &["x.toml:8:26: `actors.r.settings.selection`: unknown variant `roulette`, expected one of `truncation`, \
               `tournament`, `lexicase`, `epsilon_lexicase`, `lexicase_single_order`, `agreement`"],
        ),
        (
            "tournament_size = 3",
            &["x.toml:8:32: `actors.r.settings.tournament_size` has no use with `selection = \"truncation\"`"],
        ),
        (
            "replacement = false, selection = \"agreement\", epsilon = 0.1",
            &[
                "x.toml:8:28: `actors.r.settings.replacement` has no use with `selection = \"agreement\"`",
                "x.toml:8:70: `actors.r.settings.epsilon` has no use with `selection = \"agreement\"`",
            ],
        ),
        (
            "selection = \"lexicase\", epsilon = \"mad\"",
            &["x.toml:8:48: `actors.r.settings.epsilon` has no use with `selection = \"lexicase\"`"],
        ),
        (
            "selection = \"tournament\", tournament_size = 1",
            &[
                "x.toml:8:58: `actors.r.settings.tournament_size` must be a whole number from 2: a tournament of 1 is a \
               draw of lots",
            ],
        ),
        (
            "selection = \"epsilon_lexicase\", epsilon = -0.1",
            &[
                "x.toml:8:56: `actors.r.settings.epsilon`: invalid value: floating point `-0.1`, expected a number from 0 \
               or the word \"mad\"",
            ],
        ),
        (
            "selection = \"epsilon_lexicase\", epsilon = \"median\"",
            &[
                "x.toml:8:56: `actors.r.settings.epsilon`: invalid value: string \"median\", expected a number from 0 or the \
               word \"mad\"",
            ],
        ),
    ];
    for &(settings, said) in cases {
        assert_said(&Case { name: settings, text: ranking(settings), said });
    }
}

#[test]
fn settings_with_a_use_are_taken() {
    for settings in [
        "selection = \"truncation\"",
        "selection = \"tournament\"",
        "selection = \"tournament\", tournament_size = 2, replacement = true",
        "selection = \"lexicase\", replacement = false",
        "selection = \"epsilon_lexicase\", epsilon = 0, replacement = true",
        "selection = \"epsilon_lexicase\", epsilon = 0.25",
        "selection = \"epsilon_lexicase\", epsilon = \"mad\"",
        "selection = \"lexicase_single_order\"",
        "selection = \"agreement\"",
    ] {
        let folder = folder(&[("x.toml", ranking(settings).as_bytes())]);
        let checked = load(folder.path(), "x.toml").unwrap_or_else(|mistakes| panic!("{settings}: {mistakes}"));
        let ranker = &checked.plan.nodes[checked.plan.index_of("r").unwrap()];
        let written = settings.matches(" = ").count();
        assert_eq!(ranker.settings.len(), 2 + written, "what is not written is not there: {:?}", ranker.settings);
    }
}
