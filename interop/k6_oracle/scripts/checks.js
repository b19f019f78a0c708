// Checks: values, functions, names that come again, groups, and what throws.
import { check, fail, group } from 'k6'

export const options = { iterations: 3 }

export default function () {
  const all = check({ a: 1 }, { 'is one': (own) => own.a === 1, 'is two': (own) => own.a === 2, truth: true, nothing: null })
  console.log('all', all, check(1, {}), check(0, { zero: (own) => own === 0 }))
  group('outer', () => {
    check(1, { 'is one': 1 })
    const inner = group('inner', () => check(1, { 'is one': 0 }))
    console.log('inner', inner)
  })
  try {
    check(1, { throws: () => { throw new Error('no') } })
  } catch (error) {
    console.log(error.message)
  }
  if (__ITER === 2) fail('the third iteration')
  check(1, { 'not the third': true })
}
