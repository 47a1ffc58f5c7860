//! Prompts from a folder of the user's own.

use rolecall::topology::{Overrides, SettingSource};

use super::support::{folder, load, load_with, repairing, said};

const MINE: &[u8] = b"---user---\nMy words: {{ task.statement }}\n";

#[test]
fn a_name_is_looked_up_in_the_folder_first_and_then_among_the_shipped() {
    let text = repairing(&[("model = \"templates\"", "model = \"templates\"\nprompts_dir = \"words\"")], "");
    let files: &[(&str, &[u8])] =
        &[("sub/x.toml", text.as_bytes()), ("sub/words/debugger/repair.md", MINE), ("more/synthesizer/draft.md", MINE)];
    let folder = folder(files);
    let own = |path: &str| folder.path().join(path).display().to_string();
    let references = |overrides: &Overrides| {
        let plan = load_with(folder.path(), "sub/x.toml", overrides).unwrap_or_else(|it| panic!("{it}")).plan;
        [0, 2].map(|node| plan.nodes[node].prompts.values().next().unwrap().reference.clone())
    };
    assert_eq!(
        references(&Overrides::default()),
        ["synthesizer/draft".to_owned(), own("sub/words/debugger/repair.md")]
    );
    // The option goes before the file's folder.
    let option = Overrides::default().with_prompts(Some(&own("more")));
    assert_eq!(references(&option), [own("more/synthesizer/draft.md"), "debugger/repair".to_owned()]);

    let checked = load(folder.path(), "sub/x.toml").unwrap();
    assert_eq!(&*checked.plan.nodes[2].prompts["repair"].text, std::str::from_utf8(MINE).unwrap());
    let row = |key: &str| checked.explain.iter().find(|row| row.key == key).unwrap();
    let repair = row("actors.c.prompts.repair");
    assert_eq!(repair.value, own("sub/words/debugger/repair.md"));
    assert_eq!(repair.source, SettingSource::Implied("prompts_dir".to_owned()));
    assert_eq!(row("actors.a.prompts.draft").source, SettingSource::Default);
    assert_eq!(row("prompts_dir").value, "words");
}

#[test]
fn a_name_of_the_users_own_needs_no_shipped_prompt() {
    let text = repairing(&[("role = \"debugger\"", "role = \"debugger\"\nprompt = \"terse\"")], "");
    let folder = folder(&[("x.toml", text.as_bytes()), ("words/terse.md", MINE), ("none/debugger/repair.md", MINE)]);
    let with = |dir: &str| {
        let dir = folder.path().join(dir).display().to_string();
        load_with(folder.path(), "x.toml", &Overrides::default().with_prompts(Some(&dir)))
    };
    assert!(with("words").is_ok());
    let said = said(folder.path(), &with("none"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("x.toml:16:10: no prompt `terse` is shipped, and `none` has none"), "{said:?}");
    assert_eq!(said[1], "--prompts:1:1: no actor has a prompt from `none`");
}

#[test]
fn mistakes_are_said_at_their_places() {
    let text = repairing(&[("model = \"templates\"", "model = \"templates\"\nprompts_dir = \"words\"")], "");
    let at = |files: &[(&str, &[u8])]| {
        let all: Vec<(&str, &[u8])> = [("x.toml", text.as_bytes())].into_iter().chain(files.iter().copied()).collect();
        let folder = folder(&all);
        let prefix = format!("{}/", folder.path().display());
        said(folder.path(), &load(folder.path(), "x.toml"))
            .iter()
            .map(|line| line.replace(&prefix, ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(at(&[]), ["x.toml:2:15: there is no folder `words`"]);
    assert_eq!(at(&[("words", b"a file")]), ["x.toml:2:15: there is no folder `words`"]);
    assert_eq!(at(&[("words/other.md", MINE)]), ["x.toml:2:15: no actor has a prompt from `words`"]);
    assert_eq!(at(&[("words/debugger/repair.md", b"\n")]), ["words/debugger/repair.md:1:1: not a prompt: it is empty"]);
    let wrong = at(&[("words/debugger/repair.md", b"---user---\n{{ program }}\n{{ statement }}\n")]);
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with("words/debugger/repair.md:3:4: a repair prompt has no `statement`"), "{wrong:?}");
}
