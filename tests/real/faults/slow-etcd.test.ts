// etcd is slow: its members are paused half of the time, and once for longer than the deadline of a write. Clients retry
// with the same Idempotency-Key, some before they get a response, and each key creates exactly one record.

import { type EtcdCluster, startEtcd } from '@holdfast/testkit'
import { slowDown } from '@holdfast/testkit/faults/duty'
import { type Outcome, sendUntilMade } from '@holdfast/testkit/faults/send-until-made'
import {
  type Platform,
  type Replica,
  startPlatform,
  startReplica,
} from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const CLIENTS = 8
/** Pause of etcd in milliseconds: longer than the deadline of a batch of writes, so that responses are lost. */
const STANDSTILL_MS = 3_500

let cluster: EtcdCluster
let platform: Platform
let other: Replica

beforeAll(async () => {
  cluster = await startEtcd({ members: 3 })
  platform = await startPlatform({
    endpoints: cluster.endpoints,
    // A fast machine creates more deployments than the default quota allows.
    settings: { quotas: { deployments: 10_000 } },
  })
  other = await startReplica(platform)
})
afterAll(async () => {
  await other?.stop()
  await platform?.stop()
  await cluster?.stop()
})

/** Returns a request for a deployment or a token. Tokens are included, because a duplicate token is not rejected. */
function requestOf(client: number, turn: number) {
  const name = `c${client}-${turn}`
  if (client % 2 === 0)
    return {
      path: '/api/v1/deployments',
      body: { kind: 'Deployment', name, image: platform.image, replicas: 0 },
    }
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  return { path: `/api/v1/tenants/${platform.acme.id}/tokens`, body: { name, role: 'viewer', expiresAt } }
}

async function load(isOver: () => boolean): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const servers = [platform.baseUrl, other.baseUrl]
  const client = async (index: number): Promise<void> => {
    for (let turn = 0; !isOver(); turn += 1)
      outcomes.push(
        await sendUntilMade({
          servers,
          token: platform.acme.token,
          key: `${index}-${turn}`,
          ...requestOf(index, turn),
          // Half of the clients retry before they get a response.
          ...(index % 4 < 2 ? {} : { patienceMs: 400 }),
        }),
      )
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
  return outcomes
}

async function listed(path: string): Promise<string[]> {
  const api = platform.api(platform.acme.token)
  const names: string[] = []
  let cursor = ''
  do {
    const { body } = await api.get(`${path}?limit=500${cursor}`)
    names.push(...Object(body['items']).map(({ name }: { name: string }) => name))
    cursor = typeof body['nextCursor'] === 'string' ? `&cursor=${body['nextCursor']}` : ''
  } while (cursor !== '')
  return names
}

test('each Idempotency-Key creates one record, whatever the outcome of its first request was', async () => {
  let over = false
  const running = load(() => over)
  await slowDown(cluster, { cycles: 6, halfMs: 250, allAtOnceMs: STANDSTILL_MS })
  over = true
  const outcomes = await running
  const again = outcomes.filter(({ sent }) => sent > 1).length
  console.info(`slow etcd: ${outcomes.length} made, ${again} sent more than once`)
  expect(outcomes.flatMap(({ refused }) => refused)).toEqual([])
  expect(again).toBeGreaterThan(0)
  const created = outcomes.map(({ name }) => name).sort()
  const tokens = await listed(`/api/v1/tenants/${platform.acme.id}/tokens`)
  const found = [...(await listed('/api/v1/deployments')), ...tokens].filter((name) =>
    /^c\d+-\d+$/.test(name),
  )
  expect(found.sort()).toEqual(created)
})
