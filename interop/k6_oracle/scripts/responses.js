// What a response has.
import http from 'k6/http'

export const options = { iterations: 1 }
const base = __ENV.BASE

export default function () {
  const json = http.get(`${base}/json`)
  console.log(json.status, json.status_text, json.headers['Content-Type'], json.url === `${base}/json`, json.error, json.error_code)
  console.log(json.json('list.1.name'), json.json('list.#'), json.json('list.#.name'), json.json('deep.a.b'), json.json('none'), typeof json.json())
  console.log(typeof json.timings.duration, json.timings.waiting >= 0, json.request.method, json.request.url === json.url)
  for (const status of [201, 204, 400, 404, 500, 503]) {
    const response = http.get(`${base}/status/${status}`)
    console.log(response.status, response.error_code, response.body)
  }
  const binary = http.get(`${base}/bytes/300`, { responseType: 'binary' })
  console.log(binary.body.byteLength, new Uint8Array(binary.body)[255])
  console.log(http.get(`${base}/json`, { responseType: 'none' }).body)
  for (const kind of ['gzip', 'deflate', 'br']) console.log(kind, http.get(`${base}/packed/${kind}`).body)
  try {
    http.get(`${base}/status/404`).json()
  } catch (error) {
    console.log('not JSON')
  }
}
