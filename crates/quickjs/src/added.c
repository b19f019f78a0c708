/* quickjs-ng as it is, and after it the few functions that coroutines need. A runtime has one place for "what runs now";
   with calls that are suspended on stacks of their own, each call has to have its own. None of this can be reached from
   outside, since the runtime's structure is opaque. */
#include "quickjs.c"

/* What a runtime knows of one flow of calls. */
typedef struct SquallFlow {
    /* The innermost frame: errors walk from here to make their stack trace. It lies on the stack of the flow, so that it
       must not stay behind in the runtime when another flow runs. */
    struct JSStackFrame *frame;
    /* Jobs of promises. One list for all would run those of one flow on the stack of another. */
    struct list_head jobs;
    /* Where its stack begins, and how deep it may go. */
    uintptr_t top;
    uintptr_t limit;
} SquallFlow;

void squall_flow_init(SquallFlow *flow, uintptr_t top, uintptr_t limit)
{
    flow->frame = NULL;
    init_list_head(&flow->jobs);
    flow->top = top;
    flow->limit = limit;
}

static void squall_move(struct list_head *from, struct list_head *to)
{
    if (list_empty(from)) {
        init_list_head(to);
        return;
    }
    to->next = from->next;
    to->prev = from->prev;
    to->next->prev = to;
    to->prev->next = to;
    init_list_head(from);
}

/* Another flow begins to run, or goes on. */
void squall_flow_switch(JSRuntime *rt, SquallFlow *from, SquallFlow *to)
{
    from->frame = rt->current_stack_frame;
    from->top = rt->stack_top;
    from->limit = rt->stack_limit;
    squall_move(&rt->job_list, &from->jobs);
    rt->current_stack_frame = to->frame;
    rt->stack_top = to->top;
    rt->stack_limit = to->limit;
    squall_move(&to->jobs, &rt->job_list);
}

/* The jobs of the flow that runs now are not to run. */
void squall_drop_jobs(JSRuntime *rt)
{
    while (!list_empty(&rt->job_list)) {
        JSJobEntry *e = list_entry(rt->job_list.next, JSJobEntry, link);
        list_del(&e->link);
        for (int i = 0; i < e->argc; i++)
            JS_FreeValueRT(rt, e->argv[i]);
        js_free_rt(rt, e);
    }
}

/* Freezes an object that users share. What inherits from it can still have properties of the same names: a flag says so,
   since the language itself would forbid that (`vendor/quickjs.c`, where it says "squall"). Returns below 0 with an
   exception. */
int squall_share(JSContext *ctx, JSValueConst object)
{
    JSObject *p = JS_VALUE_GET_OBJ(object);
    if (JS_FreezeObject(ctx, object) < 0)
        return -1;
    p->is_shared = 1;
    /* It counts as changed by now, though it has no elements, and never will. */
    if (p == JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]))
        ctx->std_array_prototype = true;
    return 0;
}

/* Memory that the runtime has, in bytes: what its own collection of cycles goes by. */
size_t squall_memory(JSRuntime *rt)
{
    return rt->malloc_state.malloc_size;
}

/* The stack pointer of the caller, about. */
uintptr_t squall_stack_pointer(void)
{
    return js_get_stack_pointer();
}
