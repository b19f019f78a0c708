// Metrics of one's own.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics'

const counter = new Counter('own_counter')
const gauge = new Gauge('own_gauge')
const rate = new Rate('own_rate')
const trend = new Trend('own_trend')
const time = new Trend('own_time', true)

export const options = { iterations: 4, thresholds: { own_counter: ['count==14'] } }

export default function () {
  counter.add(1)
  counter.add(2.5)
  gauge.add(__ITER)
  rate.add(__ITER % 2 === 0)
  rate.add(1)
  trend.add(__ITER * 10, { kind: 'tagged' })
  time.add(5)
  rate.add(0)
}
