// The endpoint /metrics for callers with a platform token. It exists unless the configuration makes /metrics public.

import { string } from '@holdfast/contract'
import { type Endpoint, endpoint } from '../endpoint.ts'
import type { Metrics } from '../metrics.ts'

export function metricsEndpoint(metrics: Metrics): Endpoint {
  return endpoint('GET', '/metrics', {
    operation: 'getMetrics',
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
