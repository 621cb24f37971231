// The page of roles: which operations each role adds, from the role table that the server enforces.

import { ROLE_TEXTS, ROLES, type Role, SECRET_READERS } from '@holdfast/contract'
import { may } from '@holdfast/core'
import { type AnyEndpoint, type Endpoint, isOpen } from '../../endpoint.ts'
import { type Html, html, list } from './html.ts'
import type { SitePage } from './layout.ts'
import { operationLink } from './operation-pages.ts'
import type { SearchEntry } from './search.ts'

export function rolePage(endpoints: readonly AnyEndpoint[]): SitePage {
  const closed = endpoints.filter((endpoint): endpoint is Endpoint => !isOpen(endpoint))
  return {
    title: 'Roles',
    body: html`<h1>Roles</h1>
<p>A token belongs to one tenant and has one role. A request whose role does not allow it is rejected with <a href="/docs/errors/permission_denied"><code>permission_denied</code></a>. Issue a token with <a href="/docs/api/createToken"><code>createToken</code></a> or <code>holdfast token create</code>.</p>
<p>${SECRET_READERS}</p>
${ROLES.map((role, index) => roleSection(role, ROLES[index - 1], closed))}`,
  }
}

/** Lists what a role may call; the first role lists its reads, the others what they may call beyond those. */
function roleSection(role: Role, before: Role | undefined, endpoints: readonly Endpoint[]): Html {
  const base: Role | undefined =
    before === undefined ? undefined : role === 'platform-admin' ? 'tenant-admin' : 'viewer'
  const added = endpoints.filter(
    ({ action }) => may(role, action) && (base === undefined || !may(base, action)),
  )
  return html`<h2 id="${role}"><code>${role}</code></h2><p>${ROLE_TEXTS[role].meaning}</p>
<p>${base === undefined ? 'It may call:' : `What a ${base} may call, and:`}</p>
${list(added.map((endpoint) => html`${operationLink(endpoint)}: ${endpoint.summary}`))}`
}

export const roleEntries = (): SearchEntry[] =>
  ROLES.map((role) => ({
    name: role,
    kind: 'Role',
    text: ROLE_TEXTS[role].meaning,
    href: `/docs/roles#${role}`,
  }))
