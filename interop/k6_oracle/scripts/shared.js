// Data of all users.
import { SharedArray } from 'k6/data'
import { double, count } from './lib/more.js'
import * as more from './lib/more.js'

export const options = { iterations: 2 }
const rows = new SharedArray('rows', () => JSON.parse(open('./lib/rows.json')))
const lines = open('./lib/lines.txt').trim().split('\n')
const bytes = open('./lib/lines.txt', 'b')

export default function () {
  console.log(rows.length, rows[1].name, rows.map((own) => own.id).join(), rows.filter((own) => own.id > 1).length, [...rows].length)
  console.log(lines.length, lines[1], bytes.byteLength)
  console.log(double(4), count(), more.count(), Object.keys(more).sort().join())
  try {
    'use strict'
    rows[0].name = 'changed'
  } catch (error) {
    console.log('not to be changed')
  }
}
