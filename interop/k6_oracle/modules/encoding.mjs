const variants = { std: ["base64", true], rawstd: ["base64", false], url: ["base64url", true], rawurl: ["base64url", false] };

export function b64encode(data, variant = "std") {
  const [encoding, pads] = variants[variant];
  const text = (typeof data === "string" ? Buffer.from(data) : Buffer.from(data)).toString(encoding).replace(/=+$/, "");
  return pads ? text + "=".repeat((4 - (text.length % 4)) % 4) : text;
}

export function b64decode(text, variant = "std", format) {
  const all = Buffer.from(text, variants[variant][0]);
  return format === "s" ? all.toString() : all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
}

export default { b64encode, b64decode };
