//! Strongly connected components, the parts of a graph in which every node leads to every other;
//! and cycles.

use super::lists::Lists;

/// Returns the strongly connected components of a graph, each after its successors, by Tarjan's
/// algorithm (SIAM Journal on Computing 1, 1972) with an explicit stack. Linear.
pub(crate) fn strong_components(successors: &Lists<usize>) -> Lists<usize> {
    const DONE: usize = usize::MAX;
    // 0: not visited; else the least depth on the stack that is known to be reachable.
    let mut depth = vec![0; successors.len()];
    let (mut stack, mut calls): (Vec<usize>, Vec<(usize, usize, usize)>) = Default::default();
    let mut components = Lists::new();
    for root in 0..successors.len() {
        if depth[root] != 0 {
            continue;
        }
        stack.push(root);
        depth[root] = stack.len();
        calls.push((root, 0, depth[root]));
        while let Some((node, edge, own)) = calls.last_mut() {
            let (node, own) = (*node, *own);
            if let Some(&next) = successors.get(node).get(*edge) {
                *edge += 1;
                if depth[next] == 0 {
                    stack.push(next);
                    depth[next] = stack.len();
                    calls.push((next, 0, depth[next]));
                } else if depth[next] != DONE {
                    depth[node] = depth[node].min(depth[next]);
                }
                continue;
            }
            calls.pop();
            let least = depth[node];
            if least == own {
                while let Some(member) = stack.pop() {
                    depth[member] = DONE;
                    components.push(member);
                    if member == node {
                        break;
                    }
                }
                components.close();
            }
            if let Some(&(caller, ..)) = calls.last()
                && least != own
            {
                depth[caller] = depth[caller].min(least);
            }
        }
    }
    components
}

/// Visits a graph depth first. Calls `done` with each node after its successors, and `cycle` with
/// the path of each cycle that it finds, as long as that returns true.
pub(crate) fn depth_first(
    successors: &[Vec<usize>],
    mut done: impl FnMut(usize),
    mut cycle: impl FnMut(&[usize]) -> bool,
) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; successors.len()];
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut are_wanted = true;
    for root in 0..successors.len() {
        if marks[root] == Mark::New {
            marks[root] = Mark::Open;
            path.push((root, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let Some(&inner) = successors[*node].get(*next) else {
                marks[*node] = Mark::Done;
                done(*node);
                path.pop();
                continue;
            };
            *next += 1;
            match marks[inner] {
                Mark::New => {
                    marks[inner] = Mark::Open;
                    path.push((inner, 0));
                }
                Mark::Open if are_wanted => {
                    let nodes = path.iter().map(|&(on_path, _)| on_path);
                    let nodes: Vec<usize> = nodes.skip_while(|&on_path| on_path != inner).collect();
                    are_wanted = cycle(&[&nodes[..], &[inner]].concat());
                }
                Mark::Open | Mark::Done => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_components_come_behind_those_they_lead_to() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 3), (5, 0), (5, 5), (6, 6)];
        let components =
            strong_components(&Lists::from_pairs(7, &edges.map(|(from, to)| (from as u32, to))));
        let mut all: Vec<Vec<usize>> =
            (0..components.len()).map(|at| components.get(at).to_vec()).collect();
        all.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(all, [vec![3, 4], vec![1, 2], vec![0], vec![5], vec![6]]);
    }
}
