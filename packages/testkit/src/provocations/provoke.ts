// Requests that raise each error code over HTTP, as rows of code, field and request. tests/real/api/catalogue.test.ts
// sends them.

import type { Code } from '@holdfast/contract'
import { joinToken, makeNode } from '../nodes/enroll.ts'
import { type ApiAnswer, createApiClient } from '../platform/api-client.ts'
import { makeToken } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'

/** The caller whose token a request sends; `anonymous` sends no token. */
type Sender = 'acme' | 'viewer' | 'developer' | 'globex' | 'platform' | 'full' | 'anonymous' | 'forged'

export interface Sent {
  readonly as?: Sender
  /** Method of the request. By default the request is POST /api/v1/deployments. */
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
}

export interface Provocation<In = World> {
  readonly code: Code
  readonly field: string
  readonly sent: (world: In) => Sent
  /** All error codes that the response contains; by default only the row's own code. */
  readonly codes?: readonly Code[]
  /** True if the response has the alternative status, which the catalogue lists for some error codes. */
  readonly alternative?: boolean
}

export interface World {
  readonly platform: Platform
  readonly tokens: { readonly [sender in Sender]: string | undefined }
  /** Id of a tenant that has used its quota of one deployment, and may have no backup. */
  readonly fullTenant: string
  readonly platformTenant: string
  readonly uid: string
  /** Id of a backup of the deployment `web`. */
  readonly backupId: string
  /** Id of `standing`, the only node of tenant acme. Tenant globex has no node. */
  readonly nodeId: string
  /** A join token of tenant globex for the name of acme's node. */
  readonly foreignJoinToken: string
}

/** A valid deployment body with parts replaced; an undefined part is omitted. */
export const bodyWith = (
  { platform }: Pick<World, 'platform'>,
  parts: { readonly [field: string]: unknown } = {},
): object => ({
  kind: 'Deployment',
  name: 'probe',
  image: platform.image,
  ...parts,
})

export function provoke(world: World, sent: Sent): Promise<ApiAnswer> {
  const { as = 'acme', method = 'POST', path = '/api/v1/deployments', body, headers } = sent
  return createApiClient(world.platform.baseUrl, world.tokens[as]).send(method, path, body, headers)
}

const CHECK = { type: 'exec', command: ['true'] }
/** A route that two deployments already use: `web` in tenant acme and `only` in the full tenant. */
export const TAKEN_ROUTE = { host: 'taken.example', path: '/', port: 80 }
/** A secrets label that the deployment `only` in the full tenant has bound to a namespace. */
export const BOUND_LABEL = 'bound'
const CHAIN = 17

/**
 * Creates the objects that the requests need: the deployment `web` with a health check and a route, `plain`, which
 * depends on `web`, a chain of dependencies, and a full tenant.
 */
export async function prepareWorld(platform: Platform): Promise<World> {
  const admin = platform.api()
  const api = platform.api(platform.acme.token)
  const create = async (parts: { readonly [field: string]: unknown }, headers = {}) => {
    const { kind, image } = { kind: 'Deployment', image: platform.image }
    const answer = await api.post('/api/v1/deployments', { kind, image, ...parts }, headers)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer
  }
  const web = await create(
    { name: 'web', healthCheck: CHECK, routes: [TAKEN_ROUTE] },
    { 'idempotency-key': 'taken' },
  )
  const backup = await api.post('/api/v1/backups', { deploymentName: 'web' })
  if (backup.status !== 201) throw new Error(backup.text)
  await create({ name: 'plain', dependsOn: { web: 'healthy' } })
  for (let level = 0; level < CHAIN; level += 1) {
    await create({
      name: `chain-${level}`,
      ...(level > 0 && { dependsOn: { [`chain-${level - 1}`]: 'started' } }),
    })
  }
  const { body: full } = await admin.post('/api/v1/tenants', { name: 'full' })
  const fullTenant = String(full['id'])
  await admin.send('PATCH', `/api/v1/tenants/${fullTenant}`, { quotas: { deployments: 1, backups: 0 } })
  const fullToken = await makeToken(admin, fullTenant, 'tenant-admin')
  await platform.api(fullToken).post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'only',
    image: platform.image,
    routes: [TAKEN_ROUTE],
    secrets: [{ name: 'BOUND', vault_path: `resources/${BOUND_LABEL}` }],
  })
  return {
    platform,
    fullTenant,
    platformTenant: await platformTenantOf(platform),
    uid: uidOf(web),
    backupId: String(backup.body['id']),
    nodeId: await makeNode(platform.baseUrl, api, 'standing'),
    foreignJoinToken: await joinToken(platform.api(platform.globex.token), 'standing'),
    tokens: {
      acme: platform.acme.token,
      globex: platform.globex.token,
      platform: platform.platformToken,
      full: fullToken,
      viewer: await makeToken(admin, platform.acme.id, 'viewer'),
      developer: await makeToken(admin, platform.acme.id, 'developer'),
      anonymous: undefined,
      forged: `hf_01JD0000000000000000000000_${'A'.repeat(43)}`,
    },
  }
}

function uidOf({ body }: ApiAnswer): string {
  const { uid }: { uid?: unknown } = Object(body['deployment'])
  return String(uid)
}

async function platformTenantOf(platform: Platform): Promise<string> {
  const { body } = await platform.api().get('/api/v1/tenants')
  const items: { id: string; platform: boolean }[] = Object(body['items'])
  return items.find((tenant) => tenant.platform)?.id ?? ''
}
