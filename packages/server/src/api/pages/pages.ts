// The pages without authentication: health, readiness, the OpenAPI document, the reference of rejection codes, and
// /metrics if the configuration makes it public. See docs/design/api.md#health.

import { CODES, entryOf, isCode, renderCodePage } from '@holdfast/contract'
import type { Metrics } from '../metrics.ts'
import { htmlDocument, markdownToHtml } from './markdown-page.ts'

export interface PageResponse {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** A page that can be read without an API token. */
export interface OpenPage {
  /** Path of the page with parameters in braces, in the same form as the path of an endpoint. */
  readonly path: string
  /** Id of the operation in the OpenAPI document. */
  readonly operation: string
  readonly summary: string
  /** Media type of the page. */
  readonly type: string
  /** Meaning of a 503 response of the page; absent if the page never returns a 503. */
  readonly unavailable?: string
  /** Returns the content of the page, or undefined if the page does not exist. */
  render(params: { readonly [name: string]: string }): Promise<PageResponse | undefined>
}

const jsonPage = (status: number, body: unknown): PageResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
})

export interface PageDeps {
  readonly metrics: Metrics
  readonly metricsOpen: boolean
  openApi(): object
  /** Reports whether the key-value store answers a linearizable read. */
  keyValueStoreConnected(): Promise<boolean>
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
    {
      path: '/docs',
      operation: 'getReference',
      summary: 'The reference of codes',
      type: 'text/html',
      render: async () => html(200, 'Holdfast reference', indexMarkdown()),
    },
    {
      path: '/docs/errors/{code}',
      operation: 'getReferenceOfCode',
      summary: 'The meaning of one code',
      type: 'text/html',
      render: async ({ code = '' }) => codePage(code),
    },
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

function codePage(code: string): PageResponse | undefined {
  return isCode(code) ? html(200, code, renderCodePage(code)) : undefined
}

function indexMarkdown(): string {
  const rows = CODES.map(
    (code) => `- [${code}](/docs/errors/${code}): ${entryOf(code).status}, field ${entryOf(code).field}`,
  )
  return [
    '# Reference of codes',
    '',
    'Every rejection has one of these codes. [/openapi.json](/openapi.json) describes the API.',
    '',
    ...rows,
  ].join('\n')
}

function html(status: number, title: string, markdown: string): PageResponse {
  return { status, type: 'text/html; charset=utf-8', body: htmlDocument(title, markdownToHtml(markdown)) }
}
