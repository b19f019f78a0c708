// The plan of 10 requests for k6: USERS users for SECONDS, each answer checked, a value taken from it.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: Number(__ENV.USERS), duration: `${__ENV.SECONDS}s` };

const between = /abc(.*?)xyz/;

export default function () {
  for (const name of 'abcdefghij') {
    const answer = http.get(`${__ENV.URL}/page/${name}`);
    check(answer, { 'status is 200': (answer) => answer.status === 200 });
    const word = between.exec(answer.body)[1];
  }
}
