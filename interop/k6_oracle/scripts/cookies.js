// Cookies: the user's jar, jars of one's own, those of one request; each iteration begins without any.
import http from 'k6/http'

export const options = { iterations: 2 }
const base = __ENV.BASE

const sent = (response) => console.log(JSON.stringify(response.json('cookies')))

export default function () {
  sent(http.get(`${base}/cookies`))
  const set = http.get(`${base}/cookies/set?a=1&b=2`)
  console.log(set.cookies.a[0].value, Object.keys(set.cookies).sort().join())
  sent(http.get(`${base}/cookies`))
  sent(http.get(`${base}/cookies`, { cookies: { c: '3' } }))
  sent(http.get(`${base}/cookies`, { cookies: { a: { value: '9', replace: true } } }))
  const jar = http.cookieJar()
  console.log(JSON.stringify(jar.cookiesForURL(base)))
  jar.set(base, 'd', '4')
  sent(http.get(`${base}/cookies`))
  jar.delete(base, 'a')
  sent(http.get(`${base}/cookies`))
  const own = new http.CookieJar()
  own.set(base, 'mine', 'yes')
  sent(http.get(`${base}/cookies`, { jar: own }))
  jar.clear(base)
  sent(http.get(`${base}/cookies`))
}
