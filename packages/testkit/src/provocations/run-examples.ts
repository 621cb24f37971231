// Sends the examples of the reference pages to a real platform. Names that stand for something of the reader's platform
// are replaced by the real ones, and back again in the response.

import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import { joinToken } from '../nodes/enroll.ts'
import { type ApiAnswer, createApiClient } from '../platform/api-client.ts'
import type { Platform } from '../platform/start-platform.ts'
import type { World } from './provoke.ts'

/** A name of the examples, and the name on the platform that it stands for. */
export type Replacement = readonly [example: string, real: string]

/**
 * Creates what the examples refer to: the deployment `orders` with a secret and a route, `payments` with a secret that is
 * being rotated, and a secret without use.
 */
export async function prepareExamples({ platform }: World): Promise<void> {
  const api = platform.api(platform.acme.token)
  const orders = {
    kind: 'Deployment',
    name: 'orders',
    image: platform.image,
    replicas: 0,
    resources: { cpuMillis: 100 },
    secrets: [
      { name: 'DB', vault_path: 'resources/orders-db', generate: { keys: ['password'] }, anchor: 'process' },
    ],
    routes: [{ host: 'orders.example.com', path: '/', port: 8080 }],
  }
  const created = await api.post('/api/v1/deployments', orders, { 'idempotency-key': 'create-orders' })
  const written = await api.put('/api/v1/secrets/resources/unused', { generate: { keys: ['password'] } })
  if (created.status !== 201 || written.status !== 200) throw new Error(`${created.text} ${written.text}`)
  const values = { password: 'example' }
  const payments = {
    ...{ kind: 'Deployment', name: 'payments', image: platform.image, replicas: 0 },
    resources: { cpuMillis: 100 },
    secrets: [{ name: 'DB', vault_path: 'resources/payments-db', anchor: 'external', values }],
  }
  const rotated = await api.post('/api/v1/deployments', payments)
  const staged = await api.post('/api/v1/deployments/payments/secrets/rotate', { phase: 'stage', values })
  const policy = { min: 1, max: 5, metric: 'cpu', targetPercent: 60, scaleDownDelay: '300s' }
  const scaled = await api.put('/api/v1/deployments/payments/scaling', policy)
  if (staged.status !== 200 || scaled.status !== 200)
    throw new Error(`${rotated.text} ${staged.text} ${scaled.text}`)
}

/** Sends an example with the token of its role. A write that is expected to pass is sent as a dry run. */
export async function sendExample(
  world: World,
  request: ExampleRequest,
  { dryRun }: { readonly dryRun: boolean },
): Promise<ApiAnswer> {
  const { platform, tokens } = world
  const role = request.role ?? 'acme'
  const token = role === 'none' ? undefined : tokens[role === 'platform-admin' ? 'platform' : role]
  const isWrite = request.method !== 'GET' && role !== 'none'
  const replacements = [
    ...replacementsOn(platform),
    [EXAMPLE.node, world.nodeId],
    [EXAMPLE.backup, world.backupId],
    [EXAMPLE.otherTenant, world.fullTenant],
    [EXAMPLE.joinToken, await joinToken(platform.api(platform.acme.token), 'eu-1')],
    [EXAMPLE.otherJoinToken, world.foreignJoinToken],
  ] as const
  const path = dryRun && isWrite ? `${request.path}?dryRun=true` : request.path
  return send(platform, token, { ...request, path }, replacements)
}

/** Sends an example as acme's administrator to a platform in a special state. */
export const sendExampleAsAdmin = (platform: Platform, request: ExampleRequest): Promise<ApiAnswer> =>
  send(platform, platform.acme.token, request, replacementsOn(platform))

export const replacementsOn = (platform: Platform): Replacement[] => [
  [EXAMPLE.image, platform.image],
  [EXAMPLE.registry, platform.registryHost],
  [EXAMPLE.tenant, platform.acme.id],
  [EXAMPLE.newTenant, platform.globex.id],
]

function send(
  { baseUrl }: Platform,
  token: string | undefined,
  { method, path, body, headers }: ExampleRequest,
  replacements: readonly Replacement[],
): Promise<ApiAnswer> {
  const real = (text: string) =>
    replacements.reduce((replaced, [example, name]) => replaced.replaceAll(example, name), text)
  const sent = Object.entries(headers ?? {}).map(([name, value]) => [name, real(value)])
  return createApiClient(baseUrl, token).send(
    method,
    real(path),
    body === undefined ? undefined : real(JSON.stringify(body)),
    Object.fromEntries(sent),
  )
}

/** A text of a response with the names of the examples instead of the platform's own. */
export const asExample = (platform: Platform, text: string): string =>
  replacementsOn(platform).reduce((shown, [example, real]) => shown.replaceAll(real, example), text)
