//! [`Session`]: the state of a page.

use perhop_scenario::scenario_schema;
use serde_json::json;

use crate::answer::Answer;
use crate::around::around;
use crate::ask::Ask;
use crate::check::check;
use crate::player::Player;
use crate::runner::Runner;

/// A page and its run.
#[derive(Debug, Default)]
pub struct Session {
    runner: Option<Runner>,
    player: Option<Player>,
}

impl Session {
    /// Processes a request, which is JSON.
    pub fn answer(&mut self, question: &[u8]) -> Answer {
        match serde_json::from_slice(question) {
            Ok(ask) => self.answer_to(ask).unwrap_or_else(|refused| refused),
            Err(error) => Answer::failed(&format!("not a question: {error}"), ""),
        }
    }

    fn answer_to(&mut self, ask: Ask) -> Result<Answer, Answer> {
        match ask {
            Ask::About => {
                Ok(Answer::ok(json!({"version": env!("CARGO_PKG_VERSION"), "schema": scenario_schema()})))
            }
            Ask::Check { text } => Ok(check(&text)),
            Ask::Around(choices) => around(&choices),
            Ask::Start { text, seed, intervals } => {
                (self.runner, self.player) = (None, None);
                let (runner, answer) = Runner::start(&text, seed, intervals)?;
                self.player = Some(Player::new(runner.scenario().clone(), runner.seed()));
                self.runner = Some(runner);
                Ok(answer)
            }
            Ask::Advance { fraction } => self.runner()?.advance(fraction),
            Ask::Finish => self.runner()?.finish(),
            Ask::Table { name } => self.runner()?.table(&name),
            Ask::Judge { exercise, start, text } => self.runner()?.judge(&exercise, &start, &text),
            Ask::Bounds => self.runner()?.bounds(),
            Ask::Calls { codec, queues } => self.runner()?.calls(codec, &queues),
            Ask::Packets { port, from, until, enough } => {
                self.player.as_mut().ok_or_else(nothing)?.packets(port, from, until, enough)
            }
            Ask::Memory { port, from, until, samples } => {
                self.player.as_mut().ok_or_else(nothing)?.memory(port, from, until, samples)
            }
        }
    }
    fn runner(&mut self) -> Result<&mut Runner, Answer> {
        self.runner.as_mut().ok_or_else(nothing)
    }
}

fn nothing() -> Answer {
    Answer::failed("no run was started", "send `start` first")
}
