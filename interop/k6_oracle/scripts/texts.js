// Encodings and hashes.
import encoding from 'k6/encoding'
import crypto from 'k6/crypto'

export const options = { iterations: 1 }

export default function () {
  for (const kind of ['std', 'rawstd', 'url', 'rawurl']) {
    const text = encoding.b64encode('a?>é~', kind)
    console.log(kind, text, encoding.b64decode(text, kind, 's'))
  }
  console.log(new Uint8Array(encoding.b64decode('AQIDBA==')).join())
  for (const name of ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
    console.log(name, crypto[name]('text', 'hex'), crypto.hmac(name, 'key', 'text', 'base64'))
  }
  const hasher = crypto.createHash('sha256')
  hasher.update('te')
  hasher.update('xt')
  console.log(hasher.digest('base64rawurl'), hasher.digest('base64url'), crypto.randomBytes(7).byteLength)
}
