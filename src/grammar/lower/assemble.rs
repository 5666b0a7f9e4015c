//! Builds the IR from its parts, with terminals expanded, ranked and given the settings of
//! directives.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::ir::{
    Budget, Conflicts, Fallback, LexerKind, Lookahead, Marks, Matching, Nonterminal, Production,
    Suffix, Symbol, Symbols, Terminal,
};
use crate::grammar::lower::Context;
use crate::grammar::lower::directives::Directions;
use crate::grammar::lower::expand::{NewProduction, Productions};
use crate::grammar::lower::resolve::Ignore;
use crate::grammar::lower::similar::did_you_mean;
use crate::grammar::lower::source::At;
use crate::grammar::lower::table::TerminalTable;
use crate::grammar::lower::tree::{
    NamedTerminal, Order, Rule, RuleIndex, RuleMarks, Sequence, TerminalIndex,
};
use crate::grammar::pattern::Pattern;
use crate::util::diagnostic::{Diagnostic, Place};
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Results of the passes, apart from the terminals.
#[derive(Debug)]
pub(crate) struct Lowered<'a> {
    pub(crate) rules: &'a [Rule],
    pub(crate) productions: Productions,
    pub(crate) directions: Directions,
    pub(crate) ignores: &'a [Ignore],
    /// The terminals that are ignored everywhere.
    pub(crate) ignored: Vec<TerminalIndex>,
    /// Whether the file uses syntax that only llguidance's dialect has.
    pub(crate) is_dialect: bool,
    pub(crate) terminal_names: &'a HashMap<String, TerminalIndex>,
    /// See [`starts`].
    pub(crate) starts: Vec<RuleIndex>,
}

/// Returns the rules that a text may start from, the default one first: those of `%start`, or
/// `start`.
pub(crate) fn starts(
    context: &mut Context,
    directions: &Directions,
    names: &HashMap<String, RuleIndex>,
    rules: &[Rule],
) -> Option<Vec<RuleIndex>> {
    if directions.starts.is_empty() {
        return start(context, "start", false, None, names, rules).map(|rule| vec![rule]);
    }
    let starts = directions.starts.iter();
    starts.map(|(name, at)| start(context, name, true, Some(*at), names, rules)).collect()
}

/// Returns one of them. `is_asked_for` if it is not simply the default; `at` is the place in the
/// file that names it.
pub(crate) fn start(
    context: &mut Context,
    name: &str,
    is_asked_for: bool,
    at: Option<At>,
    names: &HashMap<String, RuleIndex>,
    rules: &[Rule],
) -> Option<RuleIndex> {
    let place = at.map(|at| context.sources.place(at));
    let diagnostic = match names.get(name) {
        Some(&rule) if rules[rule].parameters.is_empty() => return Some(rule),
        Some(_) => Diagnostic::error(
            "bad-start",
            format!("`{name}` is a template and cannot be the start rule"),
        ),
        None if is_asked_for => {
            let diagnostic = Diagnostic::error(
                "undefined-symbol",
                format!("there is no rule `{name}` to start from"),
            );
            did_you_mean(diagnostic, name, names.keys().map(String::as_str))
        }
        None => {
            let first = rules.iter().find(|rule| rule.own && rule.parameters.is_empty());
            let first = first.map_or("some_rule", |rule| rule.name.as_str());
            Diagnostic::error("no-start", "there is no rule `start` to start from")
                .help(format!("name the start rule `start`, or select one: `%start {first}`"))
        }
    };
    context.report(diagnostic.at(place));
    None
}

/// Makes the IR. Returns `None` if an error was reported.
pub(crate) fn assemble(
    context: &mut Context,
    mut table: TerminalTable<'_>,
    parts: &Lowered<'_>,
) -> Option<Grammar> {
    let ignored = &parts.ignored;
    let used = used(&table, parts, ignored);
    warn_unused(context, &table, parts.ignores, &used);
    warn_of_priorities(context, parts);
    refuse_ignored(context, &table, &parts.directions, ignored);

    let lexer = parts.directions.lexer.unwrap_or(LexerKind::Contextual);
    let (mut terminals, ids) = list_terminals(context, &mut table, parts, &used, lexer)?;
    direct_words(&mut terminals, &ids, &parts.directions);
    limit_lexemes(
        context,
        &mut terminals,
        &ids,
        table.named,
        parts.directions.indentation.is_some(),
    );

    let (nonterminals, productions) =
        nonterminals_and_productions(context, &mut table, parts, &terminals, &ids)?;
    let plain = |rule: RuleIndex| {
        parts.rules[..rule].iter().filter(|rule| rule.parameters.is_empty()).count()
    };
    let starts: Vec<_> = parts.starts.iter().map(|&rule| NonterminalId::new(plain(rule))).collect();
    Some(Grammar {
        cost: crate::util::meter::Cost::default(),
        terminals: terminals.into(),
        nonterminals: nonterminals.into(),
        productions: productions.into(),
        start: *starts.first()?,
        starts,
        requirements: Vec::new(),
        lexer,
        conflicts: parts.directions.conflicts.unwrap_or_default(),
        // llguidance ignores nothing before the first lexeme, unless an option says so; Lark does.
        leading_ignored: parts.directions.leading_ignored.unwrap_or(!parts.is_dialect),
        matching: matching(parts),
        reserve_covered: parts
            .directions
            .covered
            .iter()
            .filter_map(|&terminal| ids[terminal])
            .collect(),
        indentation: (parts.directions.indentation.as_ref())
            .and_then(|indentation| indentation.map(|&terminal| ids[terminal])),
        warnings: Vec::new(),
        untrimmed: None,
    })
}

/// Returns the value of `%match`: in llguidance's dialect all terminals that match a text apply,
/// unless the file says otherwise.
fn matching(parts: &Lowered<'_>) -> Matching {
    let is_basic = parts.directions.lexer == Some(LexerKind::Basic);
    parts.directions.matching.unwrap_or(match parts.is_dialect && !is_basic {
        true => Matching::All,
        false => Matching::Usual,
    })
}

/// Returns the used terminals, with their ranks, and their ids by position in the table, or `None`
/// if an error was reported.
fn list_terminals(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    parts: &Lowered<'_>,
    used: &[bool],
    lexer: LexerKind,
) -> Option<(Vec<Terminal>, Vec<Option<TerminalId>>)> {
    // With an `%indent`, ignored lexemes before the first lexeme of a line are significant.
    let is_contextual = lexer == LexerKind::Contextual;
    let is_asked_for = match is_contextual && parts.directions.indentation.is_none() {
        true => terminals_of(&parts.productions.productions),
        false => HashSet::new(),
    };
    let matching = matching(parts);
    let mut ids: Vec<Option<TerminalId>> = vec![None; table.len()];
    let mut terminals = Vec::new();
    let mut orders = Vec::new();
    for terminal in (0..table.len()).filter(|&terminal| used[terminal]) {
        ids[terminal] = Some(TerminalId::new(terminals.len()));
        let (pattern, priority, order, at) = pattern_of(context, table, terminal)?;
        let literal = pattern.as_ref().is_some_and(Pattern::is_literal);
        let lazy = table.named.get(terminal).is_some_and(|named| named.lazy);
        // If a lazy terminal matches, it ends the lexeme. A terminal of the rules goes before
        // ignored ones where it can be shifted: otherwise a `NEWLINE` next to an ignored `/\s+/`
        // would never be a lexeme. Under `basic` it would also be one where it cannot be shifted.
        // An ignored terminal that looks around is meant for some contexts, and keeps its own.
        let is_ignored = parts.ignored.contains(&terminal);
        let is_both = is_ignored && is_asked_for.contains(&terminal);
        let looks_around = pattern.as_ref().is_some_and(Pattern::looks_around);
        let yields = is_contextual && is_ignored && !is_both && !looks_around;
        let goes_first = if matching == Matching::Priority { priority } else { 0 };
        // If all terminals of a text apply, those of the rules go first: priorities have no effect.
        let order_of = |yields: bool| {
            let all = matching == Matching::All && yields;
            (Reverse(goes_first), !lazy, all, Reverse(priority), yields, !literal, order)
        };
        orders.push(order_of(yields));
        terminals.push(Terminal {
            name: table.name(terminal).to_owned(),
            description: None,
            pattern,
            ignored: is_ignored && !is_both,
            rank: 0,
            priority,
            reserved_against: Vec::new(),
            fallback: None,
            meant: Vec::new(),
            exclusive: parts.directions.exclusive.contains_key(&terminal),
            lookahead: None,
            lazy,
            every_match: false,
            budget: None,
            distinct: None,
            precedence: parts.directions.of_terminal(terminal),
            place: Some(context.sources.place(at)),
        });
        if is_both {
            // If the rules expect it, it is that terminal, and otherwise it is ignored: two
            // terminals with the same texts.
            let name = table.fresh_name("__IGNORED");
            let asked_for = &terminals[terminals.len() - 1];
            let twin = Terminal {
                name,
                ignored: true,
                exclusive: false,
                precedence: None,
                ..asked_for.clone()
            };
            orders.push(order_of(true));
            terminals.push(twin);
        }
    }
    let mut by_rank: Vec<usize> = (0..terminals.len()).collect();
    by_rank.sort_by_key(|&terminal| (orders[terminal], terminal));
    for (rank, terminal) in by_rank.into_iter().enumerate() {
        terminals[terminal].rank = rank as u32;
    }
    Some((terminals, ids))
}

/// Returns a terminal's pattern, which declared ones do not have, its priority, its position in the
/// order of terminals, and its location, or `None` if an error was reported.
fn pattern_of(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    terminal: TerminalIndex,
) -> Option<(Option<Pattern>, i32, Order, At)> {
    let Some(made) = terminal.checked_sub(table.named.len()) else {
        let pattern = table.patterns.write_out(context, terminal);
        let named = &table.named[terminal];
        return (pattern.is_some() || named.body.is_none()).then_some((
            pattern,
            named.priority,
            named.order,
            named.at,
        ));
    };
    let made = &table.made[made];
    Some((Some(made.pattern.clone()), 0, made.order, made.at))
}

/// Sets the maximum number of tokens of lexemes in their terminals.
fn limit_lexemes(
    context: &mut Context,
    terminals: &mut [Terminal],
    ids: &[Option<TerminalId>],
    named: &[NamedTerminal],
    in_lines: bool,
) {
    for (id, named) in ids.iter().zip(named) {
        let (Some(id), Some((tokens, cut))) = (id, named.budget) else { continue };
        if in_lines {
            let message = format!(
                "masks do not enforce the max_tokens of {} in a grammar with `%indent`",
                named.name
            );
            let place = context.sources.place(named.at);
            context.report(
                Diagnostic::warning("unheld-max-tokens", message)
                    .at(place)
                    .help("limit the length in the pattern instead: `/.{0,80}/`"),
            );
            continue;
        }
        terminals[id.index()].budget =
            Some(Budget { tokens, cuts: ids[cut].into_iter().collect() });
    }
}

/// Marks the terminals that the IR needs.
fn used(table: &TerminalTable<'_>, parts: &Lowered<'_>, ignored: &[TerminalIndex]) -> Vec<bool> {
    let mut used = vec![false; table.len()];
    for symbol in parts.productions.productions.iter().flat_map(|production| &production.rhs) {
        if let Symbol::Terminal(terminal) = symbol {
            used[terminal.index()] = true;
        }
    }
    for &terminal in ignored {
        used[terminal] = true;
    }
    // A reserved word need not occur in any rule: then neither it nor the terminal that it is
    // reserved against is allowed there.
    for &(word, against) in &parts.directions.reserved {
        used[word] |= used[against];
    }
    // Neither need a word with a look-ahead, or its other terminal.
    let in_rules = used.clone();
    for (&word, lookahead) in &parts.directions.lookaheads {
        used[word] |= in_rules[lookahead.other];
        used[lookahead.other] |= in_rules[word];
    }
    if let Some(indentation) = &parts.directions.indentation {
        indentation.own().for_each(|&terminal| used[terminal] = true);
    }
    used
}

/// Warns about terminals of the file itself that no rule and no other terminal refers to.
fn warn_unused(
    context: &mut Context,
    table: &TerminalTable<'_>,
    ignores: &[Ignore],
    used: &[bool],
) {
    let mut fragments = vec![false; table.named.len()];
    for terminal in (0..table.named.len()).flat_map(|terminal| table.patterns.fragments(terminal)) {
        fragments[terminal] = true;
    }
    for terminal in ignores.iter().flat_map(|ignore| super::terminals::fragments_of(&ignore.body)) {
        fragments[terminal] = true;
    }
    for (terminal, named) in table.named.iter().enumerate() {
        if named.own && !used[terminal] && !fragments[terminal] {
            let message = format!("terminal `{}` is not used and is left out", named.name);
            let place = context.sources.place(named.at);
            context.report(Diagnostic::warning("unused-terminal", message).at(place));
        }
    }
    for (made, terminal) in table.made.iter().enumerate() {
        if !used[table.named.len() + made] {
            let message =
                format!("`{}` is named in a directive but used in no rule", terminal.pattern);
            let place = context.sources.place(terminal.at);
            context.report(Diagnostic::warning("unused-terminal", message).at(place));
        }
    }
}

/// Warns about priorities of rules that have no effect.
fn warn_of_priorities(context: &mut Context, parts: &Lowered<'_>) {
    if parts.directions.conflicts == Some(Conflicts::Shift) {
        return;
    }
    // An instance of a template has the template's location.
    let mut seen = HashSet::new();
    for rule in parts.rules {
        if let Some((_, at)) = rule.priority.filter(|(_, at)| seen.insert(*at)) {
            let message =
                format!("the priority of rule `{}` has no effect: it excludes no parse", rule.name);
            let place = context.sources.place(at);
            context.report(Diagnostic::warning("rule-priority", message).at(place).help(
                "remove it, or write `%conflicts shift`, which lets it decide between two rules",
            ));
        }
    }
}

/// Returns the terminals that occur in some production.
fn terminals_of(productions: &[NewProduction]) -> HashSet<TerminalIndex> {
    let symbols = productions.iter().flat_map(|production| &production.rhs);
    symbols
        .filter_map(|symbol| match symbol {
            Symbol::Terminal(terminal) => Some(terminal.index()),
            Symbol::Nonterminal(_) => None,
        })
        .collect()
}

/// Reports terminals that are both ignored and exclusive: nothing is ignored where an exclusive one
/// can occur.
fn refuse_ignored(
    context: &mut Context,
    table: &TerminalTable<'_>,
    directions: &Directions,
    ignored: &[TerminalIndex],
) {
    for (&terminal, &at) in
        directions.exclusive.iter().filter(|(terminal, _)| ignored.contains(terminal))
    {
        let message = format!("`{}` is both ignored and exclusive", table.name(terminal));
        let place = context.sources.place(at);
        context.report(Diagnostic::error("contradicting-words", message).at(place).help(
            "define two terminals: nothing is ignored where an exclusive terminal is possible",
        ));
    }
}

/// Stores the settings of directives about words in the terminals.
fn direct_words(terminals: &mut [Terminal], ids: &[Option<TerminalId>], directions: &Directions) {
    for &(word, against) in &directions.reserved {
        if let (Some(word), Some(against)) = (ids[word], ids[against]) {
            terminals[word.index()].reserved_against.push(against);
        }
    }
    for (&word, &(to, soft, _)) in &directions.fallbacks {
        if let (Some(word), Some(terminal)) = (ids[word], ids[to]) {
            terminals[word.index()].fallback = Some(Fallback { terminal, soft });
        }
    }
    for (&word, lookahead) in &directions.lookaheads {
        if let (Some(word), Some(other)) = (ids[word], ids[lookahead.other]) {
            // A terminal that the grammar does not use never occurs.
            let kept =
                |list: &Vec<usize>| list.iter().filter_map(|&terminal| ids[terminal]).collect();
            terminals[word.index()].lookahead = Some(Lookahead {
                other,
                after: lookahead.after.as_ref().map(kept),
                before: lookahead.before.iter().map(kept).collect(),
            });
        }
    }
}

/// Returns the attributes of a rule, with its suffix expanded, or `None` if an error was reported.
fn marks(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    rule: &Rule,
) -> Option<Option<Box<Marks>>> {
    let RuleMarks { capture, suffix, temperature, max_tokens } = &rule.marks;
    let suffix = match suffix {
        Some(suffix) => {
            let terms = vec![suffix.term.clone()];
            let body = vec![Sequence { terms, precedence: None, at: suffix.term.at }];
            let pattern = table.patterns.write_out_body(context, &body, suffix.term.at)?;
            Some(Suffix { pattern, capture: suffix.capture.clone() })
        }
        None => None,
    };
    let marks = Marks {
        capture: capture.clone(),
        suffix,
        temperature: *temperature,
        max_tokens: *max_tokens,
    };
    Some((marks != Marks::default()).then(|| Box::new(marks)))
}

fn nonterminals_and_productions(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    parts: &Lowered<'_>,
    terminals: &[Terminal],
    terminal_ids: &[Option<TerminalId>],
) -> Option<(Vec<Nonterminal>, Vec<Production>)> {
    let mut ids = Vec::with_capacity(parts.productions.nonterminals.len());
    let mut nonterminals: Vec<Nonterminal> = Vec::new();
    for (i, new) in parts.productions.nonterminals.iter().enumerate() {
        ids.push(NonterminalId::new(nonterminals.len()));
        if parts.rules.get(i).is_none_or(|rule| rule.parameters.is_empty()) {
            // A rule replaced by another needs no warning that it is unused.
            let stop = parts.rules.get(i).and_then(|rule| rule.stop.as_ref());
            let is_replaced = stop.is_some_and(|stop| stop.is_joined);
            let place = (!is_replaced).then(|| context.sources.place(new.at));
            let marks = match parts.rules.get(i) {
                Some(rule) => marks(context, table, rule)?,
                None => None,
            };
            nonterminals.push(Nonterminal {
                name: new.name.as_str().into(),
                productions: SmallVec::new(),
                marks,
                place,
            });
        }
    }
    let mut sound = true;
    let mut productions = Vec::with_capacity(parts.productions.productions.len());
    for new in &parts.productions.productions {
        let mut rhs = Symbols::with_capacity(new.rhs.len());
        for symbol in &new.rhs {
            rhs.push(match symbol {
                Symbol::Terminal(terminal) => Symbol::Terminal(terminal_ids[terminal.index()]?),
                Symbol::Nonterminal(nonterminal) => Symbol::Nonterminal(ids[nonterminal.index()]),
            });
        }
        let place: Place = context.sources.place(new.at);
        let precedence = match &new.precedence {
            Some(word) => {
                let precedence = parts.directions.of_word(word, parts.terminal_names, table);
                if precedence.is_none() {
                    sound = false;
                    context.report(
                        Diagnostic::error(
                            "undefined-precedence",
                            "%prec names a word that has no precedence",
                        )
                        .at(place.clone())
                        .help("declare its precedence first: `%left WORD`"),
                    );
                }
                precedence
            }
            None => rhs
                .iter()
                .rev()
                .find_map(|symbol| match symbol {
                    Symbol::Terminal(terminal) => Some(terminals[terminal.index()].precedence),
                    Symbol::Nonterminal(_) => None,
                })
                .flatten(),
        };
        let lhs = ids[new.lhs.index()];
        nonterminals[lhs.index()].productions.push(ProductionId::new(productions.len()));
        productions.push(Production {
            lhs,
            rhs,
            precedence,
            priority: new.priority,
            place: Some(place),
        });
    }
    sound.then_some((nonterminals, productions))
}
