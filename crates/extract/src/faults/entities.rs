//! The characters that have names in HTML 4.01.

/// What a name between `&` and `;` stands for, if it is one. What is neither in ASCII nor a space is not told apart any
/// further than by whether it is in Latin-1: no rule looks at more.
pub(super) fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "nbsp" => '\u{A0}',
        "AElig" | "Aacute" | "Acirc" | "Agrave" | "Aring" | "Atilde" | "Auml" | "Ccedil"
        | "ETH" | "Eacute" | "Ecirc" | "Egrave" | "Euml" | "Iacute" | "Icirc" | "Igrave"
        | "Iuml" | "Ntilde" | "Oacute" | "Ocirc" | "Ograve" | "Oslash" | "Otilde" | "Ouml"
        | "THORN" | "Uacute" | "Ucirc" | "Ugrave" | "Uuml" | "Yacute" | "aacute" | "acirc"
        | "acute" | "aelig" | "agrave" | "aring" | "atilde" | "auml" | "brvbar" | "ccedil"
        | "cedil" | "cent" | "copy" | "curren" | "deg" | "divide" | "eacute" | "ecirc"
        | "egrave" | "eth" | "euml" | "frac12" | "frac14" | "frac34" | "iacute" | "icirc"
        | "iexcl" | "igrave" | "iquest" | "iuml" | "laquo" | "macr" | "micro" | "middot"
        | "not" | "ntilde" | "oacute" | "ocirc" | "ograve" | "ordf" | "ordm" | "oslash"
        | "otilde" | "ouml" | "para" | "plusmn" | "pound" | "raquo" | "reg" | "sect" | "shy"
        | "sup1" | "sup2" | "sup3" | "szlig" | "thorn" | "times" | "uacute" | "ucirc"
        | "ugrave" | "uml" | "uuml" | "yacute" | "yen" | "yuml" => '\u{E9}',
        "Alpha" | "Beta" | "Chi" | "Dagger" | "Delta" | "Epsilon" | "Eta" | "Gamma" | "Iota"
        | "Kappa" | "Lambda" | "Mu" | "Nu" | "OElig" | "Omega" | "Omicron" | "Phi" | "Pi"
        | "Prime" | "Psi" | "Rho" | "Scaron" | "Sigma" | "Tau" | "Theta" | "Upsilon" | "Xi"
        | "Yuml" | "Zeta" | "alefsym" | "alpha" | "and" | "ang" | "asymp" | "bdquo" | "beta"
        | "bull" | "cap" | "chi" | "circ" | "clubs" | "cong" | "crarr" | "cup" | "dArr"
        | "dagger" | "darr" | "delta" | "diams" | "empty" | "emsp" | "ensp" | "epsilon"
        | "equiv" | "eta" | "euro" | "exist" | "fnof" | "forall" | "frasl" | "gamma" | "ge"
        | "hArr" | "harr" | "hearts" | "hellip" | "image" | "infin" | "int" | "iota" | "isin"
        | "kappa" | "lArr" | "lambda" | "lang" | "larr" | "lceil" | "ldquo" | "le" | "lfloor"
        | "lowast" | "loz" | "lrm" | "lsaquo" | "lsquo" | "mdash" | "minus" | "mu" | "nabla"
        | "ndash" | "ne" | "ni" | "notin" | "nsub" | "nu" | "oelig" | "oline" | "omega"
        | "omicron" | "oplus" | "or" | "otimes" | "part" | "permil" | "perp" | "phi" | "pi"
        | "piv" | "prime" | "prod" | "prop" | "psi" | "rArr" | "radic" | "rang" | "rarr"
        | "rceil" | "rdquo" | "real" | "rfloor" | "rho" | "rlm" | "rsaquo" | "rsquo" | "sbquo"
        | "scaron" | "sdot" | "sigma" | "sigmaf" | "sim" | "spades" | "sub" | "sube" | "sum"
        | "sup" | "supe" | "tau" | "there4" | "theta" | "thetasym" | "thinsp" | "tilde"
        | "trade" | "uArr" | "uarr" | "upsih" | "upsilon" | "weierp" | "xi" | "zeta" | "zwj"
        | "zwnj" => '\u{3B1}',
        _ => return None,
    })
}
