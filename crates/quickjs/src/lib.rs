//! quickjs-ng as C has it, and what is added to it. Everything here is unsafe to call; `squall-script` is its one user.

#![allow(non_upper_case_globals, non_camel_case_types, non_snake_case)]
#![allow(missing_docs, clippy::all, clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]
#![no_std]

use ::core::ptr;

include!("bindings.rs");
include!("inlines.rs");

/// What a runtime knows of one flow of calls; see `added.c`. It has pointers into itself: it must not move.
#[repr(C)]
#[derive(Debug)]
pub struct SquallFlow {
    frame: *mut c_void,
    jobs: [*mut c_void; 2],
    top: usize,
    limit: usize,
}

unsafe extern "C" {
    /// Makes a flow that has not begun; its stack goes from `top` down to `limit`.
    pub fn squall_flow_init(flow: *mut SquallFlow, top: usize, limit: usize);
    /// The runtime leaves one flow and goes on with another.
    pub fn squall_flow_switch(rt: *mut JSRuntime, from: *mut SquallFlow, to: *mut SquallFlow);
    /// Frees the jobs of the flow that runs now: they do not run.
    pub fn squall_drop_jobs(rt: *mut JSRuntime);
    /// Freezes an object that users share; what inherits from it can have properties of the same names. Below 0: it has
    /// thrown.
    pub fn squall_share(ctx: *mut JSContext, object: JSValue) -> ::core::ffi::c_int;
    /// Memory that the runtime has, in bytes.
    pub fn squall_memory(rt: *mut JSRuntime) -> usize;
    /// The stack pointer, about.
    pub fn squall_stack_pointer() -> usize;
}
