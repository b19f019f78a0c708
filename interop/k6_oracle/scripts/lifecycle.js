// setup, default, teardown, and what goes from one to the others.
import http from 'k6/http'
import { group } from 'k6'

export const options = { iterations: 3 }
const base = __ENV.BASE
let count = 0

export function setup() {
  const response = http.get(`${base}/json`)
  return { names: response.json('list.#.name'), when: new Date(0), none: undefined, deep: { a: [1, { b: null }] } }
}

export default function (data) {
  count++
  console.log(count, JSON.stringify(data), Object.isFrozen(data))
  data.names.push('changed')
  group('work', () => group('deeper', () => http.get(`${base}/echo`)))
}

export function teardown(data) {
  console.log('over', JSON.stringify(data))
  http.get(`${base}/status/204`)
}
