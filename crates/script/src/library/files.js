// The global `open`.
(function (host) {
  "use strict";

  // A text is the same for all users of a realm: it cannot be changed.
  const texts = new Map();

  globalThis.open = function open(path, mode = "") {
    if (mode !== "" && mode !== "b") throw new TypeError(`open() has the mode "b", for bytes, and no other: ${mode}`);
    const file = host.locate(path);
    if (mode === "b") return host.readBytes(file);
    let text = texts.get(file);
    if (text === undefined) texts.set(file, (text = host.readText(file)));
    return text;
  };
  return {};
});
