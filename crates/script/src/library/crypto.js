(function (host) {
  "use strict";

  class Hasher {
    #own;
    constructor(own) {
      this.#own = own;
    }
    update(data) {
      host.hashUpdate(this.#own, data);
    }
    digest(encoding) {
      return host.hashDigest(this.#own, encoding);
    }
  }

  host.hidden.push(Hasher.prototype);

  const createHash = (algorithm) => new Hasher(host.hash(algorithm));
  const createHMAC = (algorithm, key) => {
    if (key === undefined) throw new TypeError("createHMAC() takes an algorithm and a key");
    return new Hasher(host.hash(algorithm, key));
  };
  const digest = (hasher, data, encoding) => {
    hasher.update(data);
    return hasher.digest(encoding);
  };
  const exports = {
    createHash,
    createHMAC,
    hmac: (algorithm, key, data, encoding) => digest(createHMAC(algorithm, key), data, encoding),
    randomBytes: (count) => host.randomBytes(count),
  };
  const algorithms = ["md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"];
  for (const algorithm of algorithms) {
    exports[algorithm] = (data, encoding) => digest(createHash(algorithm), data, encoding);
  }

  const ofIntegers = [
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
    BigUint64Array,
  ];
  globalThis.crypto = {
    getRandomValues(array) {
      if (!ofIntegers.some((own) => array instanceof own)) {
        throw new TypeError("crypto.getRandomValues() takes a typed array of whole numbers");
      }
      if (array.byteLength > 65536) {
        throw new RangeError("crypto.getRandomValues() fills 65536 bytes at most");
      }
      if (array.byteLength > 0) {
        const shown = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        shown.set(new Uint8Array(host.randomBytes(array.byteLength)));
      }
      return array;
    },
    randomUUID() {
      const bytes = new Uint8Array(host.randomBytes(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (own) => own.toString(16).padStart(2, "0")).join("");
      const parts = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]];
      return parts.map(([start, end]) => hex.slice(start, end)).join("-");
    },
    get subtle() {
      throw new TypeError("squall does not have crypto.subtle: use k6/crypto");
    },
  };
  return exports;
});
