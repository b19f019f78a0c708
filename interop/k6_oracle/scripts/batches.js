// Batches in their forms.
import http from 'k6/http'
import { check } from 'k6'

export const options = { iterations: 2, batch: 4, batchPerHost: 2 }
const base = __ENV.BASE

export default function () {
  const list = http.batch([
    `${base}/json`,
    ['GET', `${base}/status/404`],
    ['POST', `${base}/echo`, { a: 1 }, { tags: { name: 'posted' } }],
    { method: 'PUT', url: `${base}/echo`, body: 'b' },
  ])
  console.log(list.map((own) => own.status).join(), list[2].json('body'))
  const named = http.batch({ one: `${base}/json`, two: { url: `${base}/echo?two` } })
  console.log(Object.keys(named).join(), named.two.json('path'))
  check(list, { 'all are there': (own) => own.length === 4 })
}
