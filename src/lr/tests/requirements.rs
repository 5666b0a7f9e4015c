//! Tests lists with required members against their definition.

use super::super::minimal_completion::MinimalCompletion;
use super::super::stack::{Stack, Unread};
use super::super::table::ParseTable;
use super::table_of;
use super::text::grammar;
use crate::grammar::Grammar;
use crate::grammar::ir::Conflicts;
use crate::grammar::requirement::{End, Requirement, Set};
use crate::util::id::{NonterminalId, TerminalId};

/// Lists of `a`, `b`, `c` and `f`, each with a value: `x`, or a list. All but `f` are required.
fn lists() -> Grammar {
    lists_with(|separator, open, rule| {
        Requirement::all(&[rule("R")], Some(separator), open, &["A", "B", "C"].map(rule))
    })
}

/// The same lists, where `a` and either `b` or `c` are required, or else only `f`; but `c` and `f`
/// are under one key.
fn alternatives() -> Grammar {
    lists_with(|separator, open, rule| Requirement {
        ends: vec![End { rest: rule("R"), sets: vec![0, 1] }],
        separator: Some(separator),
        open,
        sets: vec![
            Set {
                lasting: vec![vec![rule("A")]],
                revocable: vec![vec![rule("B"), rule("C")]],
                remedy: vec![vec![rule("B"), rule("C")]],
            },
            Set {
                revocable: vec![vec![rule("F")]],
                remedy: vec![vec![rule("F")]],
                ..Set::default()
            },
        ],
        keys: vec![vec![rule("C"), rule("F")]],
    })
}

/// The same lists, with two conditions to be broken: one by `a` or `f`, the other by `b` or `c`.
/// But `a` and `c` are under one key, and `b` and `f` under another: a member that breaks one
/// condition may undo what broke the other.
fn conditions() -> Grammar {
    lists_with(|separator, open, rule| Requirement {
        ends: vec![End { rest: rule("R"), sets: vec![0] }],
        separator: Some(separator),
        open,
        sets: vec![Set {
            lasting: Vec::new(),
            revocable: vec![vec![rule("A"), rule("F")], vec![rule("B"), rule("C")]],
            remedy: vec![vec![rule("A")], vec![rule("B")]],
        }],
        keys: vec![vec![rule("A"), rule("C")], vec![rule("B"), rule("F")]],
    })
}

fn lists_with(
    requirement: impl Fn(TerminalId, TerminalId, &dyn Fn(&str) -> NonterminalId) -> Requirement,
) -> Grammar {
    let mut grammar = grammar(
        "L -> { M }\nM -> A R | B R | C R | F R\nR -> , M |\nA -> a V\nB -> b V\nC -> c V\n\
         F -> f V\nV -> x | L",
    );
    let rule = |name: &str| {
        let named = |index: &usize| &*grammar.nonterminals[*index].name == name;
        (0..grammar.nonterminals.len()).find(named).map(NonterminalId::new).expect("a rule")
    };
    let (separator, open) = (terminal(&grammar, ","), terminal(&grammar, "{"));
    let requirement = requirement(separator, open, &rule);
    grammar.requirements.push(requirement);
    grammar
}

fn terminal(grammar: &Grammar, name: &str) -> TerminalId {
    let named = |index: &usize| grammar.terminals[*index].name == name;
    (0..grammar.terminals.len()).find(named).map(TerminalId::new).expect("a terminal")
}

/// Whether a list with these members may end, if all members are required.
fn has_all(members: &str) -> bool {
    ['a', 'b', 'c'].into_iter().all(|one| members.contains(one))
}

/// The same for [`alternatives`].
fn has_enough(members: &str) -> bool {
    let last = members.chars().rev().find(|&one| one == 'c' || one == 'f');
    last == Some('f') || members.contains('a') && (members.contains('b') || last == Some('c'))
}

/// The same for [`conditions`].
fn has_broken_both(members: &str) -> bool {
    let last = |of: [char; 2]| members.chars().rev().find(|one| of.contains(one));
    matches!((last(['a', 'c']), last(['b', 'f'])), (Some('a'), Some('b')) | (Some('c'), Some('f')))
}

/// A reader of texts that uses no tables.
#[derive(Clone, Debug)]
struct Reader {
    may_end: fn(&str) -> bool,
    /// For each open list, the members read.
    open: Vec<String>,
    /// The terminal read last.
    last: Option<char>,
}

impl Reader {
    fn new(may_end: fn(&str) -> bool) -> Self {
        Self { may_end, open: Vec::new(), last: None }
    }

    /// The terminals that may come next; `$` at the end.
    fn next(&self) -> Vec<char> {
        match self.last {
            None => vec!['{'],
            Some('{' | ',') => vec!['a', 'b', 'c', 'f'],
            Some('a' | 'b' | 'c' | 'f') => vec!['x', '{'],
            _ => match self.open.last() {
                None => vec!['$'],
                Some(met) if (self.may_end)(met) => vec![',', '}'],
                Some(_) => vec![','],
            },
        }
    }

    fn read(&mut self, terminal: char) {
        match terminal {
            '{' => self.open.push(String::new()),
            '}' => {
                self.open.pop();
            }
            'a' | 'b' | 'c' | 'f' => {
                self.open.last_mut().expect("a list is open").push(terminal);
            }
            _ => {}
        }
        self.last = Some(terminal);
    }
}

/// The terminals that a stack can shift, computed one by one and all at once.
fn shifted(grammar: &Grammar, table: &ParseTable, stack: &Stack) -> Vec<char> {
    let all = table.acceptable_sets().get(stack.acceptable(table).set).clone();
    let name = |index: usize| match grammar.terminals.get(index) {
        Some(terminal) => terminal.name.chars().next().expect("a name"),
        None => '$',
    };
    for index in 0..=grammar.terminals.len() {
        let takes = stack.takes(table, TerminalId::new(index), &mut Unread);
        assert_eq!(takes, all.contains(index), "{}", name(index));
    }
    all.iter().map(name).collect()
}

fn sorted(mut terminals: Vec<char>) -> Vec<char> {
    terminals.sort_unstable();
    terminals
}

/// Checks that the plan completes the text.
fn can_be_completed(
    grammar: &Grammar,
    table: &ParseTable,
    completion: &MinimalCompletion,
    stack: &Stack,
) {
    let plan = completion.plan(table, stack, &mut 10_000).expect("every text can be completed");
    let mut stack = stack.clone();
    for terminal in plan {
        let fed = stack.feed(table, terminal, &mut Unread);
        let name = &grammar.terminals[terminal.index()].name;
        stack = fed.into_iter().next().unwrap_or_else(|| panic!("{name} is not shifted"));
    }
    assert!(stack.takes(table, table.end(), &mut Unread));
}

fn follow(grammar: &Grammar, may_end: fn(&str) -> bool, with: impl Fn(&Grammar) -> ParseTable) {
    let table = with(grammar);
    let completion = MinimalCompletion::new(&table, &vec![Some(1); grammar.terminals.len()]);
    let mut pending = vec![(Stack::new(&table), Reader::new(may_end), 0)];
    let mut ends = 0;
    while let Some((stack, reader, length)) = pending.pop() {
        let next = sorted(reader.next());
        assert_eq!(sorted(shifted(grammar, &table, &stack)), next);
        can_be_completed(grammar, &table, &completion, &stack);
        ends += usize::from(next.contains(&'}'));
        for letter in next.into_iter().filter(|&letter| letter != '$' && length < 13) {
            let fed = stack.feed(&table, terminal(grammar, &letter.to_string()), &mut Unread);
            let mut reader = reader.clone();
            reader.read(letter);
            pending.push((fed.into_iter().next().expect("it is shifted"), reader, length + 1));
        }
    }
    assert!(ends > 100, "{ends} lists might end");
}

#[test]
fn lists_end_only_with_all_that_is_required() {
    follow(&lists(), has_all, |grammar| table_of(grammar).expect("no conflicts"));
}

#[test]
fn lists_end_with_one_of_several_sets() {
    follow(&alternatives(), has_enough, |grammar| table_of(grammar).expect("no conflicts"));
}

#[test]
fn lists_end_where_all_conditions_are_broken() {
    follow(&conditions(), has_broken_both, |grammar| table_of(grammar).expect("no conflicts"));
}

/// The same with the parser that follows conflicts: there are none here, so the results are the
/// same.
#[test]
fn they_do_so_where_conflicts_are_followed() {
    follow(&lists(), has_all, |grammar| {
        let mut grammar = grammar.clone();
        grammar.conflicts = Conflicts::Follow;
        let mut table = table_of(&grammar).expect("no conflicts");
        table.conflicting = true;
        table
    });
}

/// Tests a long list, and deeply nested lists.
#[test]
fn long_and_deep_lists() {
    let grammar = lists();
    let table = table_of(&grammar).expect("no conflicts");
    let (mut stack, mut reader) = (Stack::new(&table), Reader::new(has_all));
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..3_000 {
        let next = reader.next();
        assert_eq!(sorted(shifted(&grammar, &table, &stack)), sorted(next.clone()));
        let may_end = reader.open.len() > 1 || !next.contains(&'}');
        let choices: Vec<char> = next.into_iter().filter(|&one| one != '}' || may_end).collect();
        let letter = random.choice(&choices).copied().expect("the text is not at its end");
        let fed = stack.feed(&table, terminal(&grammar, &letter.to_string()), &mut Unread);
        stack = fed.into_iter().next().expect("it is shifted");
        reader.read(letter);
    }
}

/// Repeated members take no space on the stack.
#[test]
fn a_list_is_as_deep_as_its_members_are_different() {
    let grammar = lists();
    let table = table_of(&grammar).expect("no conflicts");
    let mut stack = Stack::new(&table);
    for letter in "{ax,".chars().chain("fx,bx,ax,bx,fx,".chars().cycle().take(3_000)) {
        let fed = stack.feed(&table, terminal(&grammar, &letter.to_string()), &mut Unread);
        stack = fed.into_iter().next().expect("it is shifted");
        assert!(stack.depth() < 12, "{} behind {letter}", stack.depth());
    }
    assert_eq!(sorted(shifted(&grammar, &table, &stack)), ['a', 'b', 'c', 'f']);
}

#[test]
fn what_is_required_is_printed() {
    let text = lists().to_string();
    assert!(text.contains("// R end after all of A B C"), "{text}");
    let text = alternatives().to_string();
    assert!(text.contains("// R end after all of A B|C, or of F"), "{text}");
}
