//! Calls that were held for faults, as a recording keeps them: its records do not tell them.

use super::bytes::Bytes;
use super::held_stack::HeldStack;
use perf_live::gate::{Log, Logged};
use perf_records::units::Nanos;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use syscall_model::memory::{Memory, Moment, Piece, State};
use syscall_model::names::Abi;
use syscall_model::{Answer, Injected};

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HeldCall {
    thread: u32,
    time: u64,
    abi: String,
    number: i32,
    instruction: u64,
    arguments: [u64; 6],
    is_read: bool,
    pieces: Vec<(u8, u16, u64, String, Bytes)>,
    error: Option<i32>,
    returns: Option<i64>,
    short: Option<u64>,
    delay: Option<u64>,
    signal: Option<i32>,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    late: Option<u64>,
    #[serde(default)]
    value: Option<i64>,
    #[serde(default)]
    is_blocked: bool,
    #[serde(default)]
    by_signal: bool,
    #[serde(default)]
    is_ended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<HeldStack>,
}

const ABIS: [Abi; 5] = [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm];
const STATES: [(State, &str); 4] = [
    (State::Whole, "whole"),
    (State::Cut, "cut"),
    (State::Unread, "unread"),
    (State::End, "end"),
];

/// The calls of a log that keeps them.
pub(super) fn kept(log: &Log) -> Vec<HeldCall> {
    log.kept().iter().map(HeldCall::from).collect()
}

/// The log of these calls; `None` where one of them makes no sense.
pub(super) fn log(calls: &[HeldCall]) -> Option<Log> {
    let calls: Option<Vec<Logged>> = calls.iter().map(HeldCall::logged).collect();
    Some(Log::of(calls?))
}

impl From<&Logged> for HeldCall {
    fn from(call: &Logged) -> Self {
        let Injected {
            answer,
            delay,
            late,
            signal,
            is_blocked,
        } = call.injected;
        let piece = |piece: &Piece| {
            let state = STATES.iter().find(|(state, _)| *state == piece.state);
            let state = state.map_or("", |(_, word)| word).to_owned();
            let bytes = piece.bytes.as_ref().into();
            (piece.argument, piece.element, piece.address, state, bytes)
        };
        let pieces = (0..6).flat_map(|argument| call.memory.strings(argument));
        Self {
            thread: call.thread,
            time: call.time.0,
            abi: call.abi.as_str().to_owned(),
            number: call.number,
            instruction: call.instruction,
            arguments: call.arguments,
            is_read: call.memory.is_read(),
            pieces: pieces.map(piece).collect(),
            error: match answer {
                Some(Answer::Error(error)) => Some(error),
                _ => None,
            },
            returns: match answer {
                Some(Answer::Value(value)) => Some(value),
                _ => None,
            },
            short: match answer {
                Some(Answer::Short(most)) => Some(most),
                _ => None,
            },
            delay: delay.map(|delay| delay.0),
            whole: answer == Some(Answer::Whole),
            late: late.map(|late| late.0),
            value: call.value,
            signal,
            is_blocked,
            by_signal: call.by_signal,
            is_ended: call.is_ended,
            stack: call.stack.as_deref().map(HeldStack::from),
        }
    }
}

impl HeldCall {
    fn logged(&self) -> Option<Logged> {
        let pieces = self.pieces.iter();
        let pieces = pieces.map(|(argument, element, address, state, bytes)| {
            let (state, _) = STATES.into_iter().find(|(_, word)| word == state)?;
            Some(Piece {
                argument: *argument,
                element: *element,
                moment: Moment::Enter,
                address: *address,
                state,
                bytes: bytes.to_vec().into(),
            })
        });
        let pieces: Option<Vec<Piece>> = pieces.collect();
        let answer = match (self.error, self.returns, self.short) {
            (Some(error), ..) => Some(Answer::Error(error)),
            (_, Some(value), _) => Some(Answer::Value(value)),
            (.., Some(most)) => Some(Answer::Short(most)),
            (None, None, None) => self.whole.then_some(Answer::Whole),
        };
        Some(Logged {
            thread: self.thread,
            time: Nanos(self.time),
            abi: ABIS.into_iter().find(|abi| abi.as_str() == self.abi)?,
            number: self.number,
            instruction: self.instruction,
            arguments: self.arguments,
            memory: match self.is_read {
                true => Memory::new(pieces?),
                false => Memory::default(),
            },
            injected: Injected {
                answer,
                delay: self.delay.map(Nanos),
                late: self.late.map(Nanos),
                signal: self.signal,
                is_blocked: self.is_blocked,
            },
            value: self.value,
            by_signal: self.by_signal,
            is_ended: self.is_ended,
            stack: match &self.stack {
                Some(stack) => Some(Arc::new(stack.stack()?)),
                None => None,
            },
        })
    }
}
