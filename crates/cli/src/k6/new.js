import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 5,
  duration: '10s',
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
};

const BASE = __ENV.BASE || 'http://127.0.0.1:8080';

export default function () {
  const response = http.get(`${BASE}/`);
  check(response, { 'status is 200': (own) => own.status === 200 });
  sleep(1);
}
