// Files and compressed bodies.
import http from 'k6/http'

export const options = { iterations: 1 }
const base = __ENV.BASE
const lines = open('./lib/lines.txt')
const bytes = open('./lib/lines.txt', 'b')

export default function () {
  const form = { text: 'a b', file: http.file(lines, 'lines.txt', 'text/plain'), raw: http.file(bytes, 'raw.bin') }
  for (const part of http.post(`${base}/form`, form).json()) console.log(part.join().replace(/\n/g, '|'))
  for (const compression of ['gzip', 'deflate', 'br', 'gzip, deflate']) {
    const { body, headers } = http.post(`${base}/echo`, 'a long text '.repeat(20), { compression }).json()
    console.log(compression, headers['content-encoding'], body.length)
  }
}
