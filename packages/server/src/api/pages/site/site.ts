// The reference at /docs: static pages, each rendered once when it is first requested, and a search.

import { createHash } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import { type DescribedField, describeManifestInSteps, type Limits } from '@holdfast/core'
import type { AnyEndpoint } from '../../endpoint.ts'
import type { OpenPage, PageResponse } from '../open-page.ts'
import { codeEntries, codeIndexPage, codePage } from './code-pages.ts'
import { eventEntries, eventPage } from './event-page.ts'
import { homePage, searchPage } from './home-page.ts'
import { CONTENT_SECURITY_POLICY, htmlPage, ICON, type SitePage, STYLE } from './layout.ts'
import { manifestEntries, manifestPage } from './manifest-page.ts'
import { operationEntries, operationIndexPage, operationPage } from './operation-pages.ts'
import { roleEntries, rolePage } from './role-page.ts'
import { schemaEntries, schemaIndexPage, schemaPage } from './schema-pages.ts'
import { SEARCH_SCRIPT, type SearchEntry, withOtherWords } from './search.ts'
import { wordEntries, wordPage } from './word-page.ts'

export interface SiteDeps {
  readonly endpoints: readonly AnyEndpoint[]
  readonly limits: Limits
}

type Params = { readonly [name: string]: string }
type Rendered = SitePage | undefined | Promise<SitePage>

const HTML = 'text/html'
const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
}

export function sitePages(deps: SiteDeps): OpenPage[] {
  const { endpoints, limits } = deps
  const known = createRenderedPages()
  const fields = once(() => describeFields(limits))
  const entries = once(async () => allEntries(deps, await fields()))
  const page = (path: string, render: (params: Params) => Rendered, about = {}): OpenPage => ({
    path,
    summary: 'A page of the reference',
    type: HTML,
    ...about,
    render: (params) => known(fillPath(path, params), async (at) => asHtml(await render(params), at)),
  })
  const asset = (path: string, type: string, text: () => string | Promise<string>): OpenPage => ({
    path,
    summary: 'A part of the reference',
    type,
    render: () => known(path, async () => response(type, await text())),
  })
  return [
    ...['/', '/docs', '/docs/'].map((path) => page(path, () => homePage)),
    page('/docs/manifest', async () => manifestPage(await fields())),
    page('/docs/api', () => operationIndexPage(endpoints)),
    page('/docs/api/{operation}', ({ operation = '' }) => operationPage(endpoints, operation)),
    page('/docs/schemas', schemaIndexPage),
    page('/docs/schemas/{name}', ({ name = '' }) => schemaPage(name)),
    page('/docs/errors', () => codeIndexPage(deps)),
    page('/docs/errors/{code}', ({ code = '' }) => codePage(deps, code), {
      operation: 'getReferenceOfCode',
      summary: 'The meaning of one code',
    }),
    page('/docs/events', eventPage),
    page('/docs/roles', () => rolePage(endpoints)),
    page('/docs/words', wordPage),
    searchOf(entries),
    asset('/docs/search.json', 'application/json', async () => JSON.stringify(await entries())),
    asset('/docs/search.js', 'text/javascript', () => SEARCH_SCRIPT),
    asset('/docs/style.css', 'text/css', () => STYLE),
    asset('/favicon.ico', 'image/svg+xml', () => ICON),
    // Any other path below /docs is unknown, and reported as such without asking for a token.
    page('/docs/*', () => undefined),
  ]
}

const fillPath = (path: string, params: Params): string =>
  path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => params[name] ?? '')

/** The page of results depends on the query, so it is rendered for each request; it searches a few hundred entries. */
const searchOf = (entries: () => Promise<readonly SearchEntry[]>): OpenPage => ({
  path: '/docs/search',
  summary: 'A search in the reference',
  type: HTML,
  render: async (_params, query) => {
    const sent = (query.get('q') ?? '').slice(0, 100)
    return response(HTML, htmlPage(searchPage(await entries(), sent), '/docs/search', sent))
  },
})

/** Pauses after each field, so that the first reader of the reference delays no other request. */
async function describeFields(limits: Limits): Promise<DescribedField[]> {
  const fields: DescribedField[] = []
  for (const field of describeManifestInSteps(limits)) {
    fields.push(field)
    await pause()
  }
  return fields
}

const allEntries = (deps: SiteDeps, fields: readonly DescribedField[]): SearchEntry[] =>
  [
    ...manifestEntries(fields),
    ...codeEntries(deps),
    ...wordEntries(),
    ...eventEntries(),
    ...roleEntries(),
    ...operationEntries(deps.endpoints),
    ...schemaEntries(),
  ].map(withOtherWords)

function asHtml(page: SitePage | undefined, path: string): PageResponse | undefined {
  return page === undefined ? undefined : response(HTML, htmlPage(page, path))
}

function response(type: string, body: string): PageResponse {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = { ...SECURITY_HEADERS, 'cache-control': 'no-cache', etag }
  return { status: 200, type: `${type}; charset=utf-8`, body, headers }
}

type RenderPage = (path: string) => Promise<PageResponse | undefined>

/** Remembers the pages that exist. There is a fixed number of them, so the memory that they need is bounded. */
function createRenderedPages(): (path: string, render: RenderPage) => Promise<PageResponse | undefined> {
  const rendered = new Map<string, PageResponse>()
  return async (path, render) => {
    const page = rendered.get(path) ?? (await render(path))
    if (page !== undefined) rendered.set(path, page)
    return page
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
