// The endpoint /metrics for a platform token, if the configuration does not open /metrics to all.

import { string } from '@holdfast/contract'
import { type Endpoint, endpoint } from '../endpoint.ts'
import type { Metrics } from '../metrics.ts'

export function metricsEndpoint(metrics: Metrics): Endpoint {
  return endpoint('GET', '/metrics', {
    action: 'metrics:read',
    summary: 'Prometheus metrics',
    shape: string(),
    type: 'text/plain',
    handle: async () => {
      const { type, text } = await metrics.render()
      return { ok: true, value: { status: 200, body: text, type } }
    },
  })
}
