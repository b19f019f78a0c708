// Which statuses are failures.
import http from 'k6/http'

export const options = { iterations: 2 }
const base = __ENV.BASE

export function setup() {
  http.get(`${base}/status/500`)
}

http.setResponseCallback(http.expectedStatuses(200, 404, { min: 500, max: 502 }))

export default function () {
  http.get(`${base}/status/200`)
  http.get(`${base}/status/404`)
  http.get(`${base}/status/501`)
  http.get(`${base}/status/503`)
  http.get(`${base}/status/201`)
  http.get(`${base}/status/503`, { responseCallback: http.expectedStatuses(503) })
  http.get(`${base}/status/503`, { responseCallback: null })
  http.get('/nowhere')
}
