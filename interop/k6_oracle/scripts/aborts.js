// The script ends the test.
import exec from 'k6/execution'
import { check } from 'k6'

export const options = { iterations: 5 }

export default function () {
  check(1, { begun: true })
  if (__ITER === 2) exec.test.abort('enough')
  check(1, { ended: true })
}
