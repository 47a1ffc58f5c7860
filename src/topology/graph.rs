//! Pure questions about a directed graph that begins at a root. Nodes are numbers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who leads to whom; the order of edges is the order of the file.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// Where the root leads to.
    pub(super) roots: Vec<usize>,
    /// Where each node leads to.
    pub(super) next: Vec<Vec<usize>>,
}

impl Graph {
    /// The nodes that can be reached from the root, breadth first.
    pub(super) fn reached(&self) -> Vec<usize> {
        self.reached_from(&self.roots)
    }

    /// The nodes that can be reached from `starts`, themselves included, breadth first.
    pub(super) fn reached_from(&self, starts: &[usize]) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut order = Vec::new();
        let mut waiting: VecDeque<usize> = starts.iter().copied().collect();
        while let Some(node) = waiting.pop_front() {
            if seen.insert(node) {
                order.push(node);
                waiting.extend(self.next(node));
            }
        }
        order
    }

    fn next(&self, node: usize) -> &[usize] {
        self.next.get(node).map_or(&[], Vec::as_slice)
    }

    /// The edges that lead back to a node on the way from the root (depth first, edges in their order). Without them
    /// there is no circle.
    pub(super) fn back_edges(&self) -> Vec<(usize, usize)> {
        let mut back = Vec::new();
        let mut done = BTreeSet::new();
        for &root in &self.roots {
            self.walk(root, &mut done, &mut back);
        }
        back
    }

    fn walk(&self, root: usize, done: &mut BTreeSet<usize>, back: &mut Vec<(usize, usize)>) {
        let mut on_way = BTreeSet::new();
        // Each entry is a node and how many of its edges were followed.
        let mut way = Vec::new();
        if !done.contains(&root) {
            on_way.insert(root);
            way.push((root, 0));
        }
        while let Some((node, followed)) = way.last_mut() {
            let node = *node;
            match self.next(node).get(*followed).copied() {
                Some(next) => {
                    *followed += 1;
                    if on_way.contains(&next) {
                        back.push((node, next));
                    } else if !done.contains(&next) {
                        on_way.insert(next);
                        way.push((next, 0));
                    }
                }
                None => {
                    on_way.remove(&node);
                    done.insert(node);
                    way.pop();
                }
            }
        }
    }

    /// The shortest way from `start` to `end`, both included; empty where there is none.
    pub(super) fn way(&self, start: usize, end: usize) -> Vec<usize> {
        let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(node) = waiting.pop_front() {
            if node == end {
                let mut way = vec![end];
                while let Some(&before) = way.last().filter(|&&node| node != start).and_then(|node| came_from.get(node))
                {
                    way.push(before);
                }
                way.reverse();
                return way;
            }
            for &next in self.next(node) {
                if next != start && !came_from.contains_key(&next) {
                    came_from.insert(next, node);
                    waiting.push_back(next);
                }
            }
        }
        Vec::new()
    }

    /// The place of each node in a topological order without the back edges; among the nodes that could come next, the
    /// one that is reached first breadth first, then the lower number. Nodes that are not reached come last.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let back: BTreeSet<(usize, usize)> = self.back_edges().into_iter().collect();
        let reached = self.reached();
        let mut first_reach = vec![usize::MAX; self.next.len()];
        for (place, &node) in reached.iter().enumerate() {
            if let Some(slot) = first_reach.get_mut(node) {
                *slot = place;
            }
        }
        let forward = |node: usize| self.next(node).iter().copied().filter(move |&next| !back.contains(&(node, next)));
        let mut waits_for = vec![0usize; self.next.len()];
        for &node in &reached {
            for next in forward.clone()(node) {
                waits_for[next] += 1;
            }
        }
        let key = |node: usize| (first_reach[node], node);
        let mut ready: BTreeSet<(usize, usize)> =
            (0..self.next.len()).filter(|&node| waits_for[node] == 0).map(key).collect();
        let mut ranks = vec![0; self.next.len()];
        let mut rank = 0;
        while let Some((place, node)) = ready.pop_first() {
            ranks[node] = rank;
            rank += 1;
            if place == usize::MAX {
                continue;
            }
            for next in forward.clone()(node) {
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    ready.insert(key(next));
                }
            }
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Graph;

    /// synthesizer, executor, ranker, instructor, debugger, and the edge back to the executor.
    fn seidr() -> Graph {
        Graph { roots: vec![0], next: vec![vec![1], vec![2], vec![3], vec![4], vec![1]] }
    }

    #[test]
    fn the_edge_that_closes_the_circle_is_the_one_back() {
        assert_eq!(seidr().back_edges(), [(4, 1)]);
        assert_eq!(seidr().way(1, 4), [1, 2, 3, 4]);
        assert_eq!(seidr().ranks(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn an_edge_that_skips_does_not_pull_its_target_forward() {
        // 0 leads to 2 and 1, and 1 to 2: 2 comes after 1 though it is reached first.
        let graph = Graph { roots: vec![0], next: vec![vec![2, 1], vec![2], vec![]] };
        assert_eq!(graph.reached(), [0, 2, 1]);
        assert_eq!(graph.ranks(), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn every_forward_edge_leads_to_a_later_rank(
            next in prop::collection::vec(prop::collection::vec(0usize..8, 0..4), 8..9),
            roots in prop::collection::vec(0usize..8, 0..3),
        ) {
            let graph = Graph { roots, next };
            let ranks = graph.ranks();
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..8).collect::<Vec<u32>>());
            let back = graph.back_edges();
            for node in graph.reached() {
                for &to in &graph.next[node] {
                    prop_assert!(back.contains(&(node, to)) || ranks[node] < ranks[to]);
                }
            }
            for (from, to) in back {
                let way = graph.way(to, from);
                prop_assert_eq!((way.first(), way.last()), (Some(&to), Some(&from)));
            }
        }
    }
}
