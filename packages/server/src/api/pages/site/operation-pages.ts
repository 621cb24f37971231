// The pages of the API's operations: what each one does, who may call it, what it accepts and returns.

import { type Code, entryOf } from '@holdfast/contract'
import { tokensThatMay } from '@holdfast/core'
import { type AnyEndpoint, isOpen } from '../../endpoint.ts'
import { QUERY_PARAMETERS, sentName } from '../../request/query-parameters.ts'
import { codesOf, HEADER_TEXT, headersOf } from '../open-api.ts'
import { OPEN_API_TAGS, PAGES, schemaNameOf, tagOf } from '../open-api-names.ts'
import { code, type Html, html, joined, link, list } from './html.ts'
import type { SitePage } from './layout.ts'
import { fieldList, typeOf } from './schema-pages.ts'
import type { SearchEntry } from './search.ts'

const hrefOf = ({ operation }: AnyEndpoint): string => `/docs/api/${operation}`

export const operationLink = (endpoint: AnyEndpoint): Html =>
  link(hrefOf(endpoint), html`<code>${endpoint.method} ${endpoint.path}</code>`)

export function operationIndexPage(endpoints: readonly AnyEndpoint[]): SitePage {
  const tags = OPEN_API_TAGS.filter(({ name }) => name !== PAGES)
  return {
    title: 'API',
    body: html`<h1>API</h1>
<p>Every operation of the HTTP API. Requests carry <code>Authorization: Bearer &lt;token&gt;</code>; bodies and responses are JSON. The <a href="/openapi.json">OpenAPI document</a> describes the same for generators of clients.</p>
${tags.map(({ name, description }) => {
  const operations = endpoints.filter(({ path }) => tagOf(path) === name)
  return html`<h2 id="${name.toLowerCase()}">${name}</h2><p>${description}.</p>
${list(operations.map((each) => html`${operationLink(each)}<br>${each.summary}`))}`
})}`,
  }
}

export function operationPage(endpoints: readonly AnyEndpoint[], operation: string): SitePage | undefined {
  const endpoint = endpoints.find((each) => each.operation === operation)
  if (endpoint === undefined) return undefined
  return {
    title: operation,
    body: html`<h1><code>${operation}</code></h1>
<pre><code>${endpoint.method} ${endpoint.path}</code></pre>
<p>${endpoint.summary}.</p>
<dl><dt>Allowed for</dt><dd>${callersOf(endpoint)}</dd><dt>Section</dt><dd><a href="/docs/api#${tagOf(endpoint.path).toLowerCase()}">${tagOf(endpoint.path)}</a></dd></dl>
${parameters(endpoint)}
${requestBody(endpoint)}
${responses(endpoint)}
${rejections(codesOf(endpoint))}`,
  }
}

const callersOf = (endpoint: AnyEndpoint): Html =>
  isOpen(endpoint)
    ? html`Anyone who has the <code>${endpoint.credential}</code>; no token is needed`
    : html`${capitalized(tokensThatMay(endpoint.action))}. See <a href="/docs/roles">roles</a>`

const capitalized = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

function parameters(endpoint: AnyEndpoint): Html | undefined {
  const rows = [
    ...[...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => row(name, 'path, required', '')),
    ...endpoint.query.map((name) => row(sentName(name), 'query', QUERY_PARAMETERS[name].expected)),
    ...headersOf(endpoint).map((name) => row(name, 'header', HEADER_TEXT[name])),
  ]
  return rows.length === 0 ? undefined : html`<h2>Parameters</h2><dl>${rows}</dl>`
}

const row = (name: string, where: string, text: string): Html =>
  html`<dt><code>${name}</code></dt><dd>${where}${text === '' ? '' : `: ${text}`}</dd>`

function requestBody({ body }: AnyEndpoint): Html | undefined {
  if (body === undefined) return undefined
  const manifest = ['NewDeployment', 'DeploymentChange'].includes(schemaNameOf(body) ?? '')
  return html`<h2>Request body</h2><p>${typeOf(body)}${
    manifest ? html`. The <a href="/docs/manifest">manifest reference</a> explains each field` : undefined
  }</p>${schemaNameOf(body) === undefined ? fieldList(body) : undefined}`
}

function responses({ success, dryRun }: AnyEndpoint): Html {
  const type = success.type ?? (success.status === 101 ? 'a WebSocket' : 'application/json')
  return html`<h2>Response</h2><dl><dt>Status</dt><dd>${success.status}</dd><dt>Type</dt><dd>${type}</dd>
<dt>Body</dt><dd>${typeOf(success.shape)}</dd>${
    dryRun === undefined
      ? undefined
      : html`<dt>With <code>?dryRun=true</code></dt><dd>200 and the plan: ${typeOf(dryRun)}; nothing is stored</dd>`
  }</dl>${schemaNameOf(success.shape) === undefined && success.shape.kind === 'object' ? fieldList(success.shape) : undefined}`
}

function rejections(codes: readonly Code[]): Html {
  const byStatus = Map.groupBy(codes, (each) => entryOf(each).status)
  const rows = [...byStatus].sort(([one], [other]) => one - other)
  return html`<h2>Rejections</h2><dl>${rows.map(
    ([status, group]) =>
      html`<dt>${status}</dt><dd>${joined(
        group.map((each) => link(`/docs/errors/${each}`, code(each))),
        ', ',
      )}</dd>`,
  )}</dl>`
}

export const operationEntries = (endpoints: readonly AnyEndpoint[]): SearchEntry[] =>
  endpoints.map((endpoint) => ({
    name: endpoint.operation,
    kind: 'Operation',
    text: `${endpoint.method} ${endpoint.path}: ${endpoint.summary}`,
    href: hrefOf(endpoint),
  }))
