// Timers, promises, asynchronous requests.
import http from 'k6/http'
import { check, sleep } from 'k6'
import { setTimeout as later, setInterval, clearInterval } from 'k6/timers'

export const options = { iterations: 2 }
const base = __ENV.BASE

export default async function () {
  const one = http.asyncRequest('GET', `${base}/json`)
  const two = http.asyncRequest('POST', `${base}/echo`, 'b')
  const [first, second] = await Promise.all([one, two])
  check(first, { 'is 200': (own) => own.status === 200 })
  console.log(second.json('body'))
  await new Promise((done) => later(done, 5))
  let ticks = 0
  await new Promise((done) => {
    const timer = setInterval(() => {
      if (++ticks === 3) {
        clearInterval(timer)
        done()
      }
    }, 1)
  })
  setTimeout(() => console.log('late', ticks), 2)
  sleep(0.01)
  console.log('end')
  for await (const own of (async function* () { yield 1; yield http.get(`${base}/json`).status })()) console.log(own)
}
