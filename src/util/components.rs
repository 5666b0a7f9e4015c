//! Strongly connected components: the parts of a graph in which every node leads to every other.

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
