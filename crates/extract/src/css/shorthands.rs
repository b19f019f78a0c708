//! What HTML says of names: the pseudo-classes that are short for another selector, and the attributes whose values
//! have no case.

/// What can be disabled, with all that is in it if it is a field set.
macro_rules! control {
    () => {
        ":is(button, input, select, textarea, fieldset)"
    };
}

/// What is checked, or the default, when the page arrives.
const CHECKED: &str = "input:is([type=checkbox], [type=radio])[checked], option[selected]";

/// Pseudo-classes of HTML and what they stand for there (WHATWG HTML, 4.16.3). Forms are in the state in
/// which the page arrives.
pub(super) const STATES: [(&str, &str); 14] = [
    ("any-link", ":is(a, area)[href]"),
    ("link", ":is(a, area)[href]"),
    ("checked", CHECKED),
    ("default", CHECKED),
    ("indeterminate", "input[type=checkbox][indeterminate], progress:not([value])"),
    ("required", ":is(input, select, textarea)[required]"),
    ("optional", ":is(input, select, textarea):not([required])"),
    (
        // With a field set all is disabled that is in it, but for what is in its first legend.
        "disabled",
        concat!(
            control!(),
            "[disabled], :is(optgroup, option)[disabled], optgroup[disabled] > option, \
             fieldset[disabled] > ",
            control!(),
            ", fieldset[disabled] > :not(legend:first-of-type) ",
            control!(),
        ),
    ),
    ("enabled", concat!(":is(", control!(), ", optgroup, option):not(:disabled)")),
    (
        "read-write",
        ":is(textarea, input:not([type=hidden], [type=range], [type=color], [type=checkbox], \
         [type=radio], [type=file], [type=submit], [type=image], [type=reset], [type=button]))\
         :not([readonly], :disabled), [contenteditable=''], [contenteditable=true i]",
    ),
    ("read-only", ":not(:read-write)"),
    (
        "placeholder-shown",
        "input:is(:not([type]), [type=''], [type=text], [type=search], [type=url], [type=tel], \
         [type=email], [type=password], [type=number])[placeholder]:not([placeholder=''])\
         :is(:not([value]), [value='']), textarea[placeholder]:not([placeholder='']):empty",
    ),
    ("open", ":is(details, dialog)[open]"),
    ("muted", ":is(audio, video)[muted]"),
];

/// What a user has done with a page, what a browser has made of it, or what needs scripts: in a response
/// no element is so, and these select nothing.
pub(super) const NEVER: [&str; 21] = [
    "active",
    "autofill",
    "current",
    "focus",
    "focus-visible",
    "focus-within",
    "fullscreen",
    "future",
    "host",
    "host-context",
    "hover",
    "local-link",
    "modal",
    "past",
    "paused",
    "playing",
    "popover-open",
    "target",
    "target-within",
    "user-invalid",
    "visited",
];

/// The attributes whose values have no case in HTML (WHATWG HTML, 4.16.2).
const WITHOUT_CASE: [&str; 46] = [
    "accept",
    "accept-charset",
    "align",
    "alink",
    "axis",
    "bgcolor",
    "charset",
    "checked",
    "clear",
    "codetype",
    "color",
    "compact",
    "declare",
    "defer",
    "dir",
    "direction",
    "disabled",
    "enctype",
    "face",
    "frame",
    "hreflang",
    "http-equiv",
    "lang",
    "language",
    "link",
    "media",
    "method",
    "multiple",
    "nohref",
    "noresize",
    "noshade",
    "nowrap",
    "readonly",
    "rel",
    "rev",
    "rules",
    "scope",
    "scrolling",
    "selected",
    "shape",
    "target",
    "text",
    "type",
    "valign",
    "valuetype",
    "vlink",
];

pub(super) fn ignores_case(attribute: &str) -> bool {
    WITHOUT_CASE.iter().any(|known| known.eq_ignore_ascii_case(attribute))
}
