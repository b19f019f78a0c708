// A page of 20 resources for k6: USERS users for SECONDS, each with 6 connections.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  vus: Number(__ENV.USERS),
  duration: `${__ENV.SECONDS}s`,
  batch: 20,
  batchPerHost: 6,
  discardResponseBodies: true,
};

const resources = [];
for (let number = 1; number <= 20; number++) {
  resources.push(['GET', `${__ENV.URL}/page/${number}`]);
}

export default function () {
  for (const response of http.batch(resources)) {
    check(response, { 'status is 200': (response) => response.status === 200 });
  }
}
