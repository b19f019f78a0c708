// What options change for all requests.
import http from 'k6/http'

export const options = { iterations: 2, userAgent: 'mine/1', discardResponseBodies: true, throw: true, maxRedirects: 1 }
const base = __ENV.BASE

export default function () {
  console.log(http.get(`${base}/json`).body)
  const { headers } = http.get(`${base}/echo`, { responseType: 'text' }).json()
  console.log(headers['user-agent'])
  console.log(http.get(`${base}/echo`, { responseType: 'text', headers: { 'User-Agent': 'other' } }).json('headers.user-agent'))
  console.log(http.get(`${base}/redirect/3`).status)
  const own = base.replace('//', '//me:secret@')
  console.log(http.get(`${own}/echo`, { responseType: 'text', tags: { name: 'basic' } }).json('headers.authorization'))
  const hosts = http.get(`${base}/echo`, { responseType: 'text', headers: { Host: 'shop.test' } }).json('headers.host')
  console.log(hosts)
}
