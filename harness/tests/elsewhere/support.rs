//! What the tests have in common with those of other targets.

#[expect(dead_code, reason = "other targets need more of it")]
#[path = "../common/require.rs"]
pub(crate) mod require;
