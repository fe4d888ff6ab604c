//! The search for what broke something: `git bisect run` over a program's revisions, and a list of
//! kernels. What steers a search falsely is worse than a failure.

mod kernels;
mod revisions;
