// docs/reference/metrics.md: every metric of the server.

import { ALERTS } from '@holdfast/server/api/alerts'
import { METRICS } from '@holdfast/server/api/metrics'
import { code, page, table } from './page.ts'

export function renderMetrics(): string {
  return page('Metrics', [
    '`GET /metrics` returns Prometheus metrics: for a platform token, or without one if the setting [`metrics.open`](configuration.md#metrics) is true. No metric has a tenant label, because the number of series would be unbounded.',
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      Object.values(METRICS).map(({ name, type, labelNames, help }) => [
        code(name),
        type,
        labelNames.map(code).join(', '),
        help,
      ]),
    ),
    'The server also exports the default metrics of the Node.js client library for Prometheus, with the prefixes `process_` and `nodejs_`: CPU time, memory, event loop delay, garbage collection and open handles by type.',
    '## Suggested alerts',
    table(
      ['Expression', 'For', 'Meaning'],
      ALERTS.map(({ expression, for: time, meaning }) => [code(expression), time, meaning]),
    ),
  ])
}
