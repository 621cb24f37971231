// A tenant with a unique mark in all data that another tenant must never see, and the names that another tenant could use
// to request this data.

import { randomBytes } from 'node:crypto'
import { makeNode } from '../nodes/enroll.ts'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import type { Platform } from '../platform/start-platform.ts'

export interface MarkedTenant {
  readonly id: string
  /**
   * Unique text in the tenant's values, labels, commands, token names and credentials. No name that a request could
   * contain includes the text.
   */
  readonly mark: string
  readonly deployment: { readonly name: string; readonly uid: string }
  readonly tokenId: string
  readonly node: { readonly name: string; readonly id: string }
  /** `cursor` starts the second page of the tenant's deployments; `eventCursor` continues after the first event. */
  readonly cursor: string
  readonly eventCursor: string
  readonly idempotencyKey: string
}

export async function markTenant(
  platform: Platform,
  tenant: { readonly id: string; readonly token: string },
): Promise<MarkedTenant> {
  const api = platform.api(tenant.token)
  const mark = `zq${randomBytes(6).toString('hex')}`
  const name = `n${randomBytes(9).toString('hex')}`
  const idempotencyKey = `key-${randomBytes(6).toString('hex')}`
  const created = await ok(
    api.post('/api/v1/deployments', fullDeployment(platform, name, mark), {
      'idempotency-key': idempotencyKey,
    }),
  )
  await ok(api.post('/api/v1/deployments', fullDeployment(platform, `${name}-two`, mark)))
  await ok(api.put(`/api/v1/deployments/${name}`, { environment: { SAY: `${mark} again` } }))
  await ok(
    api.put(`/api/v1/registries/${platform.registryHost}/credential`, { username: mark, password: mark }),
  )
  await ok(api.put(`/api/v1/secrets/resources/${name}`, { values: { [mark]: mark } }))
  const nodeName = `m${randomBytes(9).toString('hex')}`
  const nodeId = await makeNode(platform.baseUrl, api, nodeName, { sent: { labels: { rack: mark } } })
  const issued = await ok(api.post(`/api/v1/tenants/${tenant.id}/tokens`, tokenBody(mark)))
  const { body: page } = await ok(api.get('/api/v1/deployments?limit=1'))
  return {
    id: tenant.id,
    mark,
    deployment: { name, uid: uidOf(created) },
    tokenId: String(issued.body['id']),
    node: { name: nodeName, id: nodeId },
    cursor: String(page['nextCursor']),
    eventCursor: await firstEventCursor(api),
    idempotencyKey,
  }
}

function fullDeployment({ image }: Platform, name: string, mark: string): object {
  return {
    kind: 'Deployment',
    name,
    image,
    environment: { SAY: mark },
    labels: { owner: mark },
    command: ['/bin/sh', '-c', mark],
    args: [mark],
    healthCheck: { type: 'exec', command: ['test', mark] },
    placement: { constraints: [{ label: 'rack', operator: 'in', values: [mark] }], spread: 'rack' },
  }
}

const tokenBody = (mark: string) => ({
  name: `token ${mark}`,
  role: 'viewer',
  expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
})

function uidOf({ text }: ApiAnswer): string {
  const { deployment }: { deployment: { uid: string } } = JSON.parse(text)
  return deployment.uid
}

async function firstEventCursor(api: ApiClient): Promise<string> {
  const { text } = await ok(api.get('/api/v1/events'))
  const { items }: { items: { cursor: string }[] } = JSON.parse(text)
  return items[0]?.cursor ?? ''
}

async function ok(answer: Promise<ApiAnswer>): Promise<ApiAnswer> {
  const { status, text } = await answer
  if (status >= 300) throw new Error(`creating the marked tenant failed: ${status} ${text}`)
  return answer
}
