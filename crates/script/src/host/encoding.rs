//! Bytes as text: base64, hexadecimal and UTF-8.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::engine::{Call, Thrown, Value};

/// What a kind of base64 is, as scripts name it: whether its alphabet is that for URLs, and whether it is padded.
fn base64_named(name: &str) -> Option<(bool, bool)> {
    match name {
        "std" => Some((false, true)),
        "rawstd" => Some((false, false)),
        "url" => Some((true, true)),
        "rawurl" => Some((true, false)),
        _ => None,
    }
}

fn engine((for_urls, padded): (bool, bool)) -> GeneralPurpose {
    let alphabet = if for_urls { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let padding =
        if padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

/// The bytes of a text, of an ArrayBuffer or of what shows one. `what`: what they are for, in messages.
pub(super) fn bytes(value: &Value<'_>, what: &str) -> Result<Vec<u8>, Thrown> {
    if let Some(own) = value.bytes()? {
        return Ok(own);
    }
    if value.is_text() {
        return Ok(value.to_text()?.into_bytes());
    }
    Err(Thrown::new(format!("TypeError: {what} takes a string, an ArrayBuffer or a typed array")))
}

/// Bytes in an encoding that scripts name; `binary` is an ArrayBuffer.
pub(super) fn encoded<'c>(
    call: &Call<'c>,
    bytes: &[u8],
    encoding: &Value<'_>,
) -> Result<Value<'c>, Thrown> {
    let name = encoding.to_text()?;
    let text = match name.as_str() {
        "binary" => return call.scope().array_buffer(bytes),
        "hex" => squall_base::hex::hex(bytes),
        "base64" => engine((false, true)).encode(bytes),
        "base64url" => engine((true, true)).encode(bytes),
        "base64rawurl" => engine((true, false)).encode(bytes),
        _ => {
            return Err(Thrown::new(format!(
                "TypeError: `{name}` is not an encoding: use hex, base64, base64url, base64rawurl or binary"
            )));
        }
    };
    call.scope().text(&text)
}

/// The base64 that an argument names.
fn base64(name: &str) -> Result<GeneralPurpose, Thrown> {
    base64_named(name).map(engine).ok_or_else(|| {
        Thrown::new(format!(
            "TypeError: `{name}` is not a kind of base64: use std, rawstd, url or rawurl"
        ))
    })
}

pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    let encode = scope.function("encode", 2, |call| {
        let bytes = bytes(&call.argument(0), "b64encode()")?;
        call.scope().text(&base64(&call.argument(1).to_text()?)?.encode(bytes))
    });
    host.set(c"encode", encode?)?;
    let decode = scope.function("decode", 2, |call| {
        let mut bytes = bytes(&call.argument(0), "b64decode()")?;
        let name = call.argument(1).to_text()?;
        bytes.retain(|own| !matches!(own, b'\r' | b'\n'));
        let decoded = base64(&name)?.decode(&bytes).map_err(|error| {
            Thrown::new(format!("b64decode() takes base64 of the kind `{name}`: {error}"))
        })?;
        call.scope().array_buffer(&decoded)
    });
    host.set(c"decode", decode?)?;
    let utf8 = scope.function("utf8", 1, |call| {
        call.scope().array_buffer(call.argument(0).to_text()?.as_bytes())
    });
    host.set(c"utf8", utf8?)?;
    let text = scope.function("text", 2, |call| {
        let bytes = bytes(&call.argument(0), "decode()")?;
        match std::str::from_utf8(&bytes) {
            Ok(own) => call.scope().text(own),
            Err(error) if call.argument(1).is_true() => {
                let at = error.valid_up_to();
                Err(Thrown::new(format!("TypeError: byte {at} does not belong to UTF-8")))
            }
            Err(_) => call.scope().text(&String::from_utf8_lossy(&bytes)),
        }
    });
    host.set(c"text", text?)?;
    Ok(())
}
