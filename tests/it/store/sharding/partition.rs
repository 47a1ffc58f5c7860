//! Whatever the number of parts: each conversation is in one.

use std::{collections::BTreeSet, sync::Arc};

use proptest::prelude::*;
use rolecall::{
    evaluation::{Selection, Shard},
    ids::{ConversationId, RunId, TaskId},
};

use crate::{stage::assignment, support::task};

fn selection(tasks: usize, samples: u32) -> Selection {
    let problem = |number: usize| {
        let mut task = task(1, None);
        task.id = TaskId(format!("t{number}"));
        assignment(task, 0).problem
    };
    Selection {
        run: RunId::of_shards("plan", ""),
        arm: "arm".to_owned(),
        problems: (0..tasks).map(problem).collect(),
        samples,
        shard: None,
        seed: 7,
        concurrency: 1,
        stop_before: None,
    }
}

fn ids(selection: &Selection, shard: Option<Shard>) -> Vec<ConversationId> {
    let part = Selection { shard, ..selection.clone() };
    part.assignments().map(|assignment| assignment.id()).collect()
}

proptest! {
    #[test]
    fn the_parts_are_the_whole(tasks in 0usize..9, samples in 1u32..6) {
        let selection = selection(tasks, samples);
        let whole = ids(&selection, None);
        prop_assert_eq!(whole.len(), tasks * samples as usize);
        for of in 1..=7 {
            let parts = (1..=of).map(|number| ids(&selection, Some(format!("{number}/{of}").parse().unwrap())));
            let parts: Vec<Vec<ConversationId>> = parts.collect();
            let together: BTreeSet<ConversationId> = parts.iter().flatten().copied().collect();
            prop_assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), whole.len());
            prop_assert_eq!(together, whole.iter().copied().collect::<BTreeSet<_>>());
            let sizes = parts.iter().map(Vec::len);
            prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        }
    }
}

#[test]
fn the_samples_of_a_task_go_to_different_parts() {
    let selection = selection(3, 4);
    for problem in &selection.problems {
        let parts = (1..=4)
            .map(|number| Selection { shard: Some(format!("{number}/4").parse().unwrap()), ..selection.clone() });
        for part in parts {
            assert_eq!(part.assignments().filter(|one| Arc::ptr_eq(&one.problem, problem)).count(), 1);
        }
    }
}

#[test]
fn the_run_of_shards_follows_from_plan_and_name_and_each_shard_is_kept_by_an_id_of_its_own() {
    let run = RunId::of_shards("plan", "");
    assert_eq!(run, RunId::of_shards("plan", ""));
    let others = [RunId::of_shards("plan2", ""), RunId::of_shards("plan", "2"), run.shard("1/2"), run.shard("1/3")];
    assert_eq!(others.iter().chain([&run]).collect::<BTreeSet<_>>().len(), 5);
}
