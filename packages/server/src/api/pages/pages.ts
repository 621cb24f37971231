// The pages that are open to all: health, readiness, the OpenAPI document, the reference of codes; /metrics where
// configuration opens it. SPEC 4 (/healthz), DECISIONS 1, 2 and 8.

import { CODES, entryOf, isCode, renderCodePage } from '@holdfast/contract'
import type { Metrics } from '../metrics.ts'
import { htmlDocument, markdownToHtml } from './markdown-page.ts'
import { jsonPage, type OpenPage, type PageAnswer } from './open-page.ts'

export interface PageDeps {
  readonly metrics: Metrics
  readonly metricsOpen: boolean
  openApi(): object
  /** Whether the key-value store answers a linearizable read now. */
  keyValueStoreConnected(): Promise<boolean>
  /** Whether this replica can serve: store reachable and the cache loaded. */
  ready(): Promise<boolean>
}

export function openPages(deps: PageDeps): OpenPage[] {
  return [
    {
      ...{ path: '/healthz', summary: 'Health of the control plane', type: JSON_TYPE },
      unwell: 'The key-value store does not answer',
      render: () => health(deps),
    },
    {
      ...{ path: '/readyz', summary: 'Whether this replica takes requests', type: JSON_TYPE },
      unwell: 'Not now',
      render: () => readiness(deps),
    },
    {
      ...{ path: '/openapi.json', summary: 'This document', type: JSON_TYPE },
      render: async () => jsonPage(200, deps.openApi()),
    },
    {
      ...{ path: '/docs', summary: 'The reference of codes', type: 'text/html' },
      render: async () => html(200, 'Holdfast reference', indexMarkdown()),
    },
    {
      ...{ path: '/docs/errors/{code}', summary: 'What one code means', type: 'text/html' },
      render: async ({ code = '' }) => codePage(code),
    },
    ...(deps.metricsOpen ? [metricsOpenPage(deps.metrics)] : []),
  ]
}

const JSON_TYPE = 'application/json'

const metricsOpenPage = (metrics: Metrics): OpenPage => ({
  ...{ path: '/metrics', summary: 'Prometheus metrics', type: 'text/plain' },
  render: () => metricsPage(metrics),
})

async function health(deps: PageDeps): Promise<PageAnswer> {
  const connected = await deps.keyValueStoreConnected()
  return jsonPage(connected ? 200 : 503, {
    status: connected ? 'ok' : 'degraded',
    keyValueStore: connected ? 'connected' : 'disconnected',
  })
}

async function readiness(deps: PageDeps): Promise<PageAnswer> {
  const ready = await deps.ready()
  return jsonPage(ready ? 200 : 503, { ready })
}

async function metricsPage(metrics: Metrics): Promise<PageAnswer> {
  const { type, text } = await metrics.render()
  return { status: 200, type, body: text }
}

function codePage(code: string): PageAnswer | undefined {
  return isCode(code) ? html(200, code, renderCodePage(code)) : undefined
}

function indexMarkdown(): string {
  const rows = CODES.map(
    (code) => `- [${code}](/docs/errors/${code}): ${entryOf(code).status}, field ${entryOf(code).field}`,
  )
  return [
    '# Reference of codes',
    '',
    'Every rejection carries one of these codes. The interface is described in [/openapi.json](/openapi.json).',
    '',
    ...rows,
  ].join('\n')
}

function html(status: number, title: string, markdown: string): PageAnswer {
  return { status, type: 'text/html; charset=utf-8', body: htmlDocument(title, markdownToHtml(markdown)) }
}
