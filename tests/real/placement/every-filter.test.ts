// Each filter refuses a node over HTTP: a dry run lists the node with the filter and its remedy. The table has a row for
// every filter of the contract, so a new filter needs a row here.

import {
  AGENT_CAPABILITIES,
  FILTERS,
  type FilterName,
  NODE_COUNTRY,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { nodeNames } from '@holdfast/server/store/records'
import { globally, placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import {
  addNodes,
  aNode,
  type Controllers,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const VOLUME = 'vol_01JD0000000000000000000000'
const agent = { version: '1.0.0', capabilities: [...AGENT_CAPABILITIES] }
const german = { labels: { [NODE_COUNTRY]: 'DE' }, attested: { country: 'DE' } }

const NODES = {
  steady: aNode('steady', { agent, ...german }),
  neighbour: aNode('neighbour', { agent }),
  silent: aNode('silent', { agent, status: 'pending' }),
  full: aNode('full', {
    agent,
    health: { epoch: 1, faults: [{ reason: 'disk_pressure', since: '2026-01-01T00:00:00.000Z' }] },
  }),
  hung: aNode('hung', {
    agent,
    health: { epoch: 1, faults: [{ reason: 'engine_silent', since: '2026-01-01T00:00:00.000Z' }] },
  }),
  cordoned: aNode('cordoned', { agent, schedulable: false }),
  reserved: aNode('reserved', { agent, controlPlane: true }),
  claimed: aNode('claimed', { agent }),
  old: aNode('old'),
  unable: aNode('unable', { agent }),
}
const CROWDED = aNode('crowded', { agent })

interface Row {
  readonly node: string
  readonly parts?: object
  /**
   * `lenient`: a server that does not enforce residency. `crowded`: a tenant whose quota allows no container. `avoiding`: a
   * deployment whose container a node could not create.
   */
  readonly asked?: 'lenient' | 'crowded' | 'avoiding'
}

const resides = (residency: object) => ({ placement: { residency } })
const ROWS: { readonly [name in FilterName]: Row } = {
  readiness: { node: 'silent' },
  engine: { node: 'hung' },
  disk_pressure: { node: 'full' },
  cordon: { node: 'cordoned' },
  control_plane_node: { node: 'reserved' },
  claims: { node: 'claimed' },
  agent_version: { node: 'old', parts: { networks: ['front'] } },
  creation: { node: 'unable', asked: 'avoiding' },
  named_node: { node: 'neighbour', parts: { nodeId: NODES.steady.id } },
  residency_enforcement: { node: 'steady', parts: resides({ country: 'DE' }), asked: 'lenient' },
  residency_country: { node: 'steady', parts: resides({ country: 'FR' }) },
  residency_region: { node: 'steady', parts: resides({ region: 'nordics' }) },
  blocked_country: { node: 'steady', parts: resides({ blockedCountries: ['DE'] }) },
  label_constraint: {
    node: 'steady',
    parts: { placement: { constraints: [{ label: 'disk', operator: 'exists' }] } },
  },
  affinity: { node: 'neighbour', parts: { placement: { affinity: ['db'] } } },
  anti_affinity: { node: 'steady', parts: { placement: { antiAffinity: ['db'] } } },
  resources: { node: 'steady', parts: { resources: { cpuMillis: 5_000 } } },
  volume_primary: {
    node: 'steady',
    parts: { volumes: [{ volume: VOLUME, target: '/data', type: 'volume' }] },
  },
  network_node: { node: 'neighbour', parts: { networks: ['front'] } },
  storage: { node: 'steady', parts: { volumes: [{ volume: VOLUME, target: '/data', type: 'volume' }] } },
  quota: { node: 'crowded', asked: 'crowded' },
}

let platform: Platform
let lenient: Replica
let controllers: Controllers

beforeAll(async () => {
  platform = await ownPlatform({ settings: { volumes: { enabled: true } } })
  const { regions } = platform.config.residency
  lenient = await startReplica(platform, { residency: { enforcement: false, regions } })
  const { acme, globex, server } = platform
  await addNodes(server.store, acme.id as TenantId, ...Object.values(NODES))
  await addNodes(server.store, globex.id as TenantId, CROWDED)
  await claimTwice(NODES.claimed.name, NODES.claimed.id)
  await storeReadyVolume(platform, acme.id, VOLUME)
  const quotas = { quotas: { containers: 0 } }
  expect((await platform.api().send('PATCH', `/api/v1/tenants/${globex.id}`, quotas)).status).toBe(200)
  controllers = startControllers(server.store)
  await placeDatabase(platform.api(acme.token))
  await placeAvoiding(platform.api(acme.token))
})
afterAll(async () => {
  await controllers.stop()
  await lenient.stop()
  await platform.stop()
})

async function claimTwice(name: string, nodeId: typeof NODES.claimed.id): Promise<void> {
  const claims = [platform.acme, platform.globex].map(({ id }) => {
    return { tenant: id as TenantId, nodeId, state: 'active' as const }
  })
  await write(platform.server.store, (transaction) =>
    transaction.put(globally(nodeNames, name), { v: 1, claims }),
  )
}

/** Creates a network, and a deployment whose replica is placed on the node `steady`. */
async function placeDatabase(api: ApiClient): Promise<void> {
  const nodeId = NODES.steady.id
  expect((await api.post('/api/v1/networks', { name: 'front', nodeId })).status).toBe(201)
  const created = await api.post(COLLECTION, {
    kind: 'Deployment',
    name: 'db',
    image: platform.image,
    nodeId,
  })
  expect(created.status, created.text).toBe(201)
  const isPlaced = async () => (await api.get(`${COLLECTION}/db/placements`)).text.includes(nodeId)
  await waitUntil(isPlaced, { what: 'the database is placed' })
}

const AVOIDING = 'picky'

/** Creates a deployment of which the node `unable` could not create a container. */
async function placeAvoiding(api: ApiClient): Promise<void> {
  const body = { kind: 'Deployment', name: AVOIDING, image: platform.image, nodeId: NODES.steady.id }
  const created = await api.post(COLLECTION, body)
  expect(created.status, created.text).toBe(201)
  const isPlaced = async () => (await api.get(`${COLLECTION}/${AVOIDING}/placements`)).text.includes('node_')
  await waitUntil(isPlaced, { what: 'the deployment is placed' })
  const { store } = platform.server
  const { uid } = Object(created.body['deployment'])
  const address = placementAt(platform.acme.id as TenantId, ownerOf('deployment', uid))
  const until = new Date(Date.now() + 5 * 60_000).toISOString()
  await write(store, (transaction) => {
    const placement = transaction.get(address)
    if (placement === undefined) throw new Error('the placement is missing')
    transaction.put(address, {
      ...placement,
      avoided: [{ nodeId: NODES.unable.id, until, cause: 'no space left on device' }],
    })
  })
}

function apiOf(asked: Row['asked']): ApiClient {
  if (asked === 'lenient') return lenient.api(platform.acme.token)
  return platform.api(asked === 'crowded' ? platform.globex.token : platform.acme.token)
}

test.each(FILTERS)('the filter %s refuses a node, with a remedy', async (filter) => {
  const { node, parts, asked } = ROWS[filter]
  const body = { kind: 'Deployment', name: 'web', image: platform.image, ...parts }
  const answer =
    asked === 'avoiding'
      ? await apiOf(asked).send('PUT', `${COLLECTION}/${AVOIDING}?dryRun=true`, { nodeId: null })
      : await apiOf(asked).post(`${COLLECTION}?dryRun=true`, body)
  expect(answer.status, answer.text).toBe(200)
  const { candidates } = Object(Object(answer.body['plan'])['placement'])
  const { refusals } = candidates.find(({ nodeName }: { nodeName: string }) => nodeName === node)
  expect(refusals).toContainEqual(expect.objectContaining({ filter, fix: expect.stringMatching(/\w+/) }))
})
