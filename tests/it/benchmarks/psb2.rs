//! Programs of our own for problems of PSB2, in both languages.

use std::sync::Arc;

use rolecall::{
    benchmarks::benchmark,
    domain::{FeedbackSet, Language, Program, TestSuite, Verdict},
    sandbox::Job,
};

use super::{datasets, problem_named};
use crate::sandbox::{alone, judge};

/// How many of the hidden tests are run.
const HIDDEN: usize = 10;

const PYTHON: &[(&str, &str)] = &[
    ("psb2/gcd", "import math\nprint(math.gcd(int(input()), int(input())))\n"),
    (
        "psb2/basement",
        "input()\ntotal = 0\nfor place, step in enumerate(map(int, input().split())):\n    total += step\n    if total < 0:\n        print(place)\n        break\n",
    ),
    (
        "psb2/dice-game",
        "n, m = int(input()), int(input())\nprint(sum(min(i - 1, m) for i in range(1, n + 1)) / (n * m))\n",
    ),
    (
        "psb2/solve-boolean",
        "text = input()\nvalue = text[0] == 't'\nfor sign, word in zip(text[1::2], text[2::2]):\n    value = value and word == 't' if sign == '&' else value or word == 't'\nprint(value)\n",
    ),
    (
        "psb2/leaders",
        "input()\nleaders = []\nfor item in reversed(input().split()):\n    if not leaders or int(item) >= int(leaders[-1]):\n        leaders.append(item)\nprint(len(leaders))\nprint(*reversed(leaders))\n",
    ),
];

const CPP: &[(&str, &str)] = &[
    (
        "psb2/gcd",
        "#include <iostream>\n#include <numeric>\nint main() { long a, b; std::cin >> a >> b; std::cout << std::gcd(a, b) << '\\n'; }\n",
    ),
    (
        "psb2/dice-game",
        "#include <iostream>\nint main() { double n, m, wins = 0; std::cin >> n >> m; for (int i = 1; i <= n; i++) wins += i - 1 < m ? i - 1 : m; std::cout << wins / (n * m) << '\\n'; }\n",
    ),
];

async fn verdicts_of(language: Language, programs: &[(&str, &str)]) -> Vec<(String, Verdict)> {
    let problems =
        benchmark("psb2").unwrap().load(&datasets().join("psb2"), language, FeedbackSet::Validation).unwrap();
    let sandbox = alone(&[language]).await;
    let mut verdicts = Vec::new();
    for (id, text) in programs {
        let problem = problem_named(&problems, id);
        let TestSuite::Io { cases, rule } = problem.hidden.as_ref().unwrap().reveal().as_ref() else { panic!() };
        let some = Arc::new(TestSuite::Io { cases: cases[..HIDDEN].to_vec(), rule: rule.clone() });
        for tests in [problem.task.feedback.clone(), some] {
            let job = Job::of(&problem.task, Arc::new(Program::new(language, *text)), tests);
            verdicts.push(((*id).to_owned(), judge(&sandbox, &job).await.verdict));
        }
    }
    verdicts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn right_programs_pass_the_validation_tests_and_the_hidden_ones() {
    for (language, programs) in [(Language::Python, PYTHON), (Language::Cpp, CPP)] {
        let verdicts = verdicts_of(language, programs).await;
        assert_eq!(verdicts.len(), 2 * programs.len());
        assert!(verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Passed), "{language}: {verdicts:?}");
    }
    let wrong = verdicts_of(Language::Python, &[("psb2/gcd", "print(1)\n")]).await;
    assert!(wrong.iter().all(|(_, verdict)| *verdict == Verdict::Wrong), "{wrong:?}");
}
