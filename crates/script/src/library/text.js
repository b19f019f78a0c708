// The globals `TextEncoder` and `TextDecoder`, for UTF-8.
(function (host) {
  "use strict";

  globalThis.TextEncoder = class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return new Uint8Array(host.utf8(text));
    }
    encodeInto(text, into) {
      let [read, written] = [0, 0];
      for (const own of String(text)) {
        const bytes = new Uint8Array(host.utf8(own));
        if (written + bytes.length > into.length) break;
        into.set(bytes, written);
        read += own.length;
        written += bytes.length;
      }
      return { read, written };
    }
  };

  const labels = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];

  globalThis.TextDecoder = class TextDecoder {
    #fatal;
    #ignoreBOM;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!labels.includes(String(label).trim().toLowerCase())) {
        throw new RangeError(`TextDecoder reads UTF-8, not "${label}"`);
      }
      this.#fatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }
    get encoding() {
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(bytes = new ArrayBuffer(0), { stream = false } = {}) {
      if (stream) throw new TypeError("TextDecoder decodes whole texts: the option stream cannot be set");
      const text = host.text(bytes, this.#fatal);
      return !this.#ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
    }
  };
  return {};
});
