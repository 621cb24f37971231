// The first page of the reference, and the page of search results.

import { html, link, list, withCode } from './html.ts'
import { HOME_TITLE, type SitePage } from './layout.ts'
import { type SearchEntry, searchEntries } from './search.ts'

const TILES: readonly (readonly [href: string, title: string, about: string])[] = [
  ['/docs/manifest', 'Manifest', 'Every field of a deployment: meaning, default, range, example'],
  ['/docs/api', 'API', 'Every operation: parameters, body, response, rejections'],
  ['/docs/schemas', 'Schemas', 'Records, bodies and responses with their fields'],
  ['/docs/errors', 'Codes', 'Every rejection code, with a request that fails and one that passes'],
  ['/docs/words', 'Words', 'Phases, reasons, refusals of nodes, warnings: what each means, what to do'],
  ['/docs/events', 'Events', 'Every event type: when it is emitted, what it holds'],
  ['/docs/roles', 'Roles', 'What each role of a token may do'],
]

const RULES = [
  'Send `Authorization: Bearer <token>` with every request. A token belongs to one tenant and has one role.',
  'A rejected request stores nothing. Its response names the code, the field, the received value and the accepted form of every fault.',
  'Add `?dryRun=true` to a write to get its plan and effects; nothing is stored.',
  'Send `Idempotency-Key` with a POST to repeat it safely, and `If-Match` with the ETag of your last read to change only what you have seen.',
  'Lists have `limit` and `cursor`; `nextCursor` is null on the last page.',
]

export const homePage: SitePage = {
  title: HOME_TITLE,
  body: html`<h1>${HOME_TITLE}</h1>
<p>Holdfast is a multi-tenant container control plane for tenant-owned machines. These pages describe the API and the manifests of this server, with its own limits. On the command line, <code>holdfast explain</code> answers the same questions.</p>
<ul class="tiles">${TILES.map(([href, title, about]) => html`<li>${link(href, title)}<p>${about}</p></li>`)}</ul>
<h2>Rules of every request</h2>
${list(RULES.map(withCode))}`,
}

export function searchPage(entries: readonly SearchEntry[], query: string): SitePage {
  const found = searchEntries(entries, query)
  const count = found.length === 1 ? '1 result' : `${found.length} results`
  return {
    title: 'Search',
    body: html`<h1>Search</h1>
<p>${query.trim() === '' ? 'Enter a field, code, event, role or operation.' : `${count} for “${query}”.`}</p>
<ul class="found">${found.map(
      ({ name, kind, text, href }) => html`<li>${link(href, name)} ${kind}. ${withCode(text)}</li>`,
    )}</ul>`,
  }
}
