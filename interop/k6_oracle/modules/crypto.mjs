import { createHash, createHmac as node, randomBytes as random } from "node:crypto";

const names = { md4: "md4", md5: "md5", sha1: "sha1", sha256: "sha256", sha384: "sha384", sha512: "sha512", sha512_224: "sha512-224", sha512_256: "sha512-256", ripemd160: "ripemd160" };
const bytes = (data) => (typeof data === "string" ? data : Buffer.from(data));

class Hasher {
  constructor(own) {
    this.own = own;
  }
  update(data) {
    this.own.update(bytes(data));
  }
  digest(form) {
    const all = this.own.copy ? this.own.copy().digest() : this.own.digest();
    if (form === "hex") return all.toString("hex");
    if (form === "base64") return all.toString("base64");
    if (form === "base64url") return all.toString("base64").replace(/\+/g, "-").replace(/\//g, "_");
    if (form === "base64rawurl") return all.toString("base64url");
    return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
  }
}

const once = (hasher, data, form) => {
  hasher.update(data);
  return hasher.digest(form);
};
const of = (name) => (data, form) => once(createHasher(name), data, form);
export const createHasher = (name) => new Hasher(createHash(names[name]));
export { createHasher as createHash };
export const createHMAC = (name, secret) => new Hasher(node(names[name], bytes(secret)));
export const hmac = (name, secret, data, form) => once(createHMAC(name, secret), data, form);
export const [md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160] = Object.keys(names).map(of);
export const randomBytes = (count) => new Uint8Array(random(count)).buffer;
export default { createHash: createHasher, createHMAC, hmac, md4, md5, sha1, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160, randomBytes };
