// The page of roles: which operations each role adds, from the role table that the server enforces.

import { ROLES, type Role } from '@holdfast/contract'
import { may } from '@holdfast/core'
import { type AnyEndpoint, type Endpoint, isOpen } from '../../endpoint.ts'
import { type Html, html, list } from './html.ts'
import type { SitePage } from './layout.ts'
import { operationLink } from './operation-pages.ts'
import type { SearchEntry } from './search.ts'

const ABOUT: { readonly [role in Role]: string } = {
  viewer: 'Reads everything of its tenant except logs and the key names of secrets.',
  developer:
    'Also writes deployments, reads logs and runs commands in containers; refers to secrets, but cannot write them.',
  'secrets-admin': 'Reads like a viewer, and writes and rotates secrets and registry credentials.',
  'tenant-admin': 'Does everything inside its tenant, including nodes and tokens.',
  'platform-admin':
    'Does everything in every tenant, chosen with X-Tenant-ID, and manages tenants and quotas.',
}

export function rolePage(endpoints: readonly AnyEndpoint[]): SitePage {
  const closed = endpoints.filter((endpoint): endpoint is Endpoint => !isOpen(endpoint))
  return {
    title: 'Roles',
    body: html`<h1>Roles</h1>
<p>A token belongs to one tenant and has one role. A request whose role does not allow it is rejected with <a href="/docs/errors/permission_denied"><code>permission_denied</code></a>. Issue a token with <a href="/docs/api/createToken"><code>createToken</code></a> or <code>holdfast token create</code>.</p>
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
  return html`<h2 id="${role}"><code>${role}</code></h2><p>${ABOUT[role]}</p>
<p>${base === undefined ? 'It may call:' : `What a ${base} may call, and:`}</p>
${list(added.map((endpoint) => html`${operationLink(endpoint)}: ${endpoint.summary}`))}`
}

export const roleEntries = (): SearchEntry[] =>
  ROLES.map((role) => ({ name: role, kind: 'Role', text: ABOUT[role], href: `/docs/roles#${role}` }))
