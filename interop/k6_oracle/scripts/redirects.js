// Redirects, with and without a limit, and what becomes of the method.
import http from 'k6/http'

export const options = { iterations: 2 }
const base = __ENV.BASE

const shown = (response) => console.log(response.status, response.url.slice(base.length), response.request.method)

export default function () {
  shown(http.get(`${base}/redirect/3`))
  shown(http.get(`${base}/redirect/3`, { redirects: 0 }))
  shown(http.get(`${base}/redirect/3`, { redirects: 2 }))
  for (const status of [301, 302, 303, 307, 308]) shown(http.post(`${base}/moved/${status}`, 'body'))
  shown(http.get(`${base}/redirect/2`, { tags: { name: 'two' } }))
}
