// Requests from every place of the language, in lines without semicolons.
import http from 'k6/http'
import { check, group, sleep } from 'k6'
import { randomIntBetween, randomItem, randomString, uuidv4, findBetween } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js'

export const options = { iterations: 2 }
const base = __ENV.BASE
const get = (path = '/json') => http.get(`${base}${path}`).status

class Shop {
  static made = 0
  #seen = 0
  constructor() {
    Shop.made += get() === 200
  }
  get seen() {
    this.#seen++
    return get(`/echo?${this.#seen}`)
  }
  toJSON() {
    return { status: get('/status/201') }
  }
}

function* pages() {
  for (let page = 1; page <= 2; page++) yield get(`/echo?page=${page}`)
}

export default function () {
  const shop = new Shop()
  sleep(0)
  console.log(shop.seen, shop.seen, JSON.stringify({ shop }))
  console.log([...pages()].join(), [2, 1].sort((a, b) => (get() === 200 ? a - b : 0)).join())
  console.log('abc'.replace(/b/, () => get()), [1, 2].map(() => get()).join(), [1, 2].reduce((sum) => sum + get(), 0))
  const { a = get(), ...others } = { b: 1 }
  console.log(a, others?.b ?? get('/never'), others.none?.[get('/never')])
  label: for (const x of [1, 2, 3]) {
    switch (x) {
      case 2:
        continue label
      default:
        check(x, { odd: (own) => own % 2 === 1 })
    }
  }
  try {
    group('throws', () => { throw new TypeError('inside') })
  } catch ({ name, message }) {
    console.log(name, message)
  } finally {
    get('/echo?finally')
  }
  const number = randomIntBetween(3, 3)
  console.log(number, randomItem(['one']), randomString(4, 'x'), uuidv4().length, findBetween('a[b]c', '[', ']'))
  if (number === 3) sleep(0)
  else sleep(10)
  do sleep(0)
  while (false)
}
