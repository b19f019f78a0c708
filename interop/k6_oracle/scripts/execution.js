// Who runs, and what.
import exec from 'k6/execution'
import { sleep } from 'k6'

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'named', env: { OWN: 'first' } },
    second: { executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'other', startTime: '2s' },
  },
}

export function named() {
  console.log(exec.scenario.name, exec.scenario.executor, exec.scenario.iterationInTest, exec.vu.iterationInScenario, __ITER, __ENV.OWN)
  exec.vu.metrics.tags.mine = 'yes'
  console.log(exec.vu.metrics.tags.mine, Object.keys(exec.vu.metrics.tags).includes('mine'))
  sleep(0.01)
}

export function other() {
  console.log(exec.scenario.name, exec.scenario.executor, exec.scenario.iterationInTest, typeof exec.instance.currentTestRunDuration)
}
