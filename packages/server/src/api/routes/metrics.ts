// /metrics for a platform token, where configuration does not open it to all. DECISIONS 8.

import { string } from '@holdfast/contract'
import type { Endpoint } from '../endpoint.ts'
import type { Metrics } from '../metrics.ts'

export function metricsEndpoint(metrics: Metrics): Endpoint {
  return {
    method: 'GET',
    path: '/metrics',
    action: 'metrics:read',
    summary: 'Prometheus metrics',
    query: [],
    headers: [],
    success: { status: 200, shape: string(), type: 'text/plain' },
    codes: [],
    handle: async () => {
      const { type, text } = await metrics.render()
      return { ok: true, value: { status: 200, body: text, type } }
    },
  }
}
