// Every kind of request, with bodies of every kind; what the server was sent is printed.
import http from 'k6/http'
import { check } from 'k6'

export const options = { iterations: 2 }
const base = __ENV.BASE

const shown = (response) => {
  const { method, path, body, headers } = response.json()
  console.log(response.status, method, path, body, headers['content-type'], headers['x-own'])
}

export default function () {
  shown(http.get(`${base}/echo?a=1&b=%20`, { headers: { 'X-Own': 'yes' } }))
  shown(http.post(`${base}/echo`, 'text'))
  shown(http.post(`${base}/echo`, JSON.stringify({ a: [1, 'é'] }), { headers: { 'Content-Type': 'application/json' } }))
  shown(http.post(`${base}/echo`, { a: 1, b: 'two words', c: 'ä&=' }))
  shown(http.put(`${base}/echo`, 'put'))
  shown(http.patch(`${base}/echo`, 'patch'))
  shown(http.del(`${base}/echo`))
  shown(http.del(`${base}/echo`, 'gone'))
  shown(http.options(`${base}/echo`))
  shown(http.request('GET', `${base}/echo`))
  shown(http.request('POST', `${base}/echo`, new Uint8Array([65, 66, 67]).buffer))
  const head = http.head(`${base}/echo`)
  check(head, { 'head has nothing': (own) => own.body === '' || own.body === null })
  shown(http.get(http.url`${base}/echo?id=${__ITER}`))
  shown(http.get(`${base}/echo?named`, { tags: { name: 'named' } }))
}
