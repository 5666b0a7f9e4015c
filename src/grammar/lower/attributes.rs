//! Attributes in brackets after a rule's name, as in llguidance.

use crate::grammar::ir::Temperature;
use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::syntax::ast::{Attribute, AttributeValue, Expr, ExprKind};
use crate::util::diagnostic::Diagnostic;

/// The attributes of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// `capture`, `capture="name"`: name under which its texts are captured.
    pub(crate) capture: Option<String>,
    /// `lazy`: the first match ends it.
    pub(crate) lazy: bool,
    /// `stop=...`: ends it and is not part of the text.
    pub(crate) stop: Option<Expr>,
    /// `suffix=...`: ends it and is not captured.
    pub(crate) suffix: Option<Expr>,
    /// `stop_capture="name"`: name under which the stop or suffix is captured.
    pub(crate) stop_capture: Option<String>,
    /// `temperature=0.7`.
    pub(crate) temperature: Option<Temperature>,
    /// `max_tokens=10`.
    pub(crate) max_tokens: Option<u32>,
}

impl Attributes {
    /// Reads the attributes of the rule `name`, whose spans refer to the source of `at`.
    pub(crate) fn read(
        context: &mut Context,
        attributes: &[Attribute],
        name: &str,
        at: At,
    ) -> Self {
        let mut read = Self::default();
        for attribute in attributes {
            let at = at.with_span(&attribute.key.span);
            if let Err(problem) = read.set(attribute, name) {
                let place = context.sources.place(at);
                context.report(Diagnostic::error("bad-attribute", problem).at(place).help(
                    "the attributes are capture, capture=\"name\", lazy, stop=, suffix=, \
                     stop_capture=\"name\", temperature=0.7 and max_tokens=10",
                ));
            }
        }
        let ends: Vec<&str> =
            [("stop", read.stop.is_some()), ("suffix", read.suffix.is_some()), ("lazy", read.lazy)]
                .iter()
                .filter(|(_, is_set)| *is_set)
                .map(|(key, _)| *key)
                .collect();
        let problem = match &ends[..] {
            ["stop", "suffix", ..] => {
                Some("stop= and suffix= both define the end of the rule; keep one")
            }
            _ if read.stop_capture.is_some() && read.stop.is_none() && read.suffix.is_none() => {
                Some(
                    "stop_capture= captures the end of the rule, but neither stop= nor suffix= \
                      defines it",
                )
            }
            _ => None,
        };
        if let Some(problem) = problem {
            let place = context.sources.place(at);
            context.report(Diagnostic::error("bad-attribute", problem).at(place));
        }
        read
    }

    fn set(&mut self, attribute: &Attribute, name: &str) -> Result<(), String> {
        let key = attribute.key.node.as_str();
        let text = || match &attribute.value {
            Some(AttributeValue::Expr(Expr {
                node: ExprKind::Literal { text, ignore_case: false },
                ..
            })) => Ok(text.clone()),
            _ => Err(format!("`{key}` takes a string in double quotes")),
        };
        let end = || match &attribute.value {
            Some(AttributeValue::Expr(expr)) => Ok(expr.clone()),
            _ => Err(format!("`{key}` takes a string, a regex or a terminal's name")),
        };
        let number = || match &attribute.value {
            Some(AttributeValue::Number(number)) => Ok(number.node.as_str()),
            _ => Err(format!("`{key}` takes a number")),
        };
        match key {
            "capture" if attribute.value.is_none() => self.capture = Some(name.to_owned()),
            "capture" => self.capture = Some(text()?),
            "lazy" if attribute.value.is_none() => self.lazy = true,
            "lazy" => return Err("`lazy` takes no value".to_owned()),
            "stop" => self.stop = Some(end()?),
            "suffix" => self.suffix = Some(end()?),
            "stop_capture" => self.stop_capture = Some(text()?),
            "temperature" => {
                let temperature =
                    number()?.parse::<f32>().ok().filter(|t| t.is_finite() && *t >= 0.0);
                let problem = || "temperature takes a non-negative number".to_owned();
                self.temperature = Some(Temperature(temperature.ok_or_else(problem)?.to_bits()));
            }
            "max_tokens" => {
                let problem = |_| "max_tokens takes a non-negative integer".to_owned();
                self.max_tokens = Some(number()?.parse().map_err(problem)?);
            }
            other => return Err(format!("there is no attribute `{other}`")),
        }
        Ok(())
    }

    /// Whether the rule becomes one lexeme if its body allows it.
    pub(crate) fn prefers_lexeme(&self) -> bool {
        self.temperature.is_some() || self.max_tokens.is_some()
    }
}
