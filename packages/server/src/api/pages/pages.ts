// The pages without authentication: health, readiness, the OpenAPI document, the reference, and /metrics if the
// configuration makes it public. See docs/design/api.md#health.

import type { Metrics } from '../metrics.ts'
import type { OpenPage, PageResponse } from './open-page.ts'
import { type SiteDeps, sitePages } from './site/site.ts'

const jsonPage = (status: number, body: unknown): PageResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
})

export interface PageDeps extends SiteDeps {
  readonly metrics: Metrics
  readonly metricsOpen: boolean
  openApi(): object
  /** Reports whether the key-value store answers a linearizable read. */
  keyValueStoreConnected(): Promise<boolean>
  /** Why this server must not use the store any longer and ends; undefined while it may. */
  storeFault(): string | undefined
  /** Reports whether this server replica can serve requests: the store is reachable and the cache is loaded. */
  ready(): Promise<boolean>
}

export function openPages(deps: PageDeps): OpenPage[] {
  return [
    {
      path: '/healthz',
      operation: 'getHealth',
      summary: 'Health of the control plane',
      type: JSON_TYPE,
      unavailable: 'The key-value store does not respond',
      render: () => health(deps),
    },
    {
      path: '/readyz',
      operation: 'getReadiness',
      summary: 'Whether this replica accepts requests',
      type: JSON_TYPE,
      unavailable: 'The replica is not ready',
      render: () => readiness(deps),
    },
    {
      path: '/openapi.json',
      operation: 'getOpenApi',
      summary: 'This document',
      type: JSON_TYPE,
      render: async () => jsonPage(200, deps.openApi()),
    },
    ...sitePages(deps),
    ...(deps.metricsOpen ? [metricsOpenPage(deps.metrics)] : []),
  ]
}

const JSON_TYPE = 'application/json'

const metricsOpenPage = (metrics: Metrics): OpenPage => ({
  path: '/metrics',
  operation: 'getMetrics',
  summary: 'Prometheus metrics',
  type: 'text/plain',
  render: () => metricsPage(metrics),
})

async function health(deps: PageDeps): Promise<PageResponse> {
  const connected = await deps.keyValueStoreConnected()
  const reason = deps.storeFault()
  if (reason !== undefined)
    return jsonPage(503, {
      status: 'degraded',
      keyValueStore: connected ? 'restored' : 'disconnected',
      reason,
    })
  return jsonPage(connected ? 200 : 503, {
    status: connected ? 'ok' : 'degraded',
    keyValueStore: connected ? 'connected' : 'disconnected',
  })
}

async function readiness(deps: PageDeps): Promise<PageResponse> {
  const ready = await deps.ready()
  return jsonPage(ready ? 200 : 503, { ready })
}

async function metricsPage(metrics: Metrics): Promise<PageResponse> {
  const { type, text } = await metrics.render()
  return { status: 200, type, body: text }
}
