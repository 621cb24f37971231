// Agents of different versions over HTTP and the agent protocol: a node whose agent lacks a capability gets no replica
// that needs it, keeps its replicas after a downgrade, and gets the waiting ones after an upgrade.

import { joinTemplates, type NodeId, type SentItem, type Why } from '@holdfast/contract'
import { makeSimulatedKeys, type SimulatedNode, waitUntil } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type RawAgent, reopenRaw } from '@holdfast/testkit/session/raw-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DEPLOYMENTS = '/api/v1/deployments'
const HEALTH_CHECK = { type: 'exec', command: ['true'], interval: '10s', startPeriod: '0s' }

let platform: Platform
let acme: ApiClient
let node: SimulatedNode
let agent: RawAgent | undefined

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  acme = platform.api(platform.acme.token)
  const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
  const id = await makeNode(platform.baseUrl, acme, 'acme-1', { sent: { publicKey, encryptionKey } })
  node = { nodeId: id as NodeId, generation: 1, identityKey }
})
afterAll(async () => {
  agent?.close()
  await platform.stop()
})

interface Build {
  readonly version: string
  readonly capabilities?: string[]
}

/** Replaces the node's agent by one of another build. */
async function runAgent(build: Build): Promise<RawAgent> {
  agent?.close()
  agent = await reopenRaw(platform.baseUrl, node, build)
  return agent
}

const itemsOf = ({ heard }: RawAgent): SentItem[] =>
  heard.flatMap((each) => (each.type === 'complete' || each.type === 'delta' ? joinTemplates(each) : []))
const sentTo = (to: RawAgent): Promise<SentItem[]> =>
  waitUntil(() => (itemsOf(to).length === 0 ? undefined : itemsOf(to)), { what: 'a desired item' })
const why = async (name: string): Promise<Why> =>
  (await acme.get(`${DEPLOYMENTS}/${name}/why`)).body as unknown as Why
const placedOn = async (name: string): Promise<unknown[]> => {
  const { body } = await acme.get(`${DEPLOYMENTS}/${name}/placements`)
  return Object.values(Object(body['items'])).map((each) => Object(each).nodeId)
}
const shown = async (member: string) => (await acme.get(`/api/v1/nodes/${node.nodeId}`)).body[member]
const versionShown = () => shown('agentVersion')

test('a replica waits for an agent that has the capabilities it needs, and stays after a downgrade', async () => {
  expect(await versionShown()).toBeUndefined()
  await runAgent({ version: '0.0.9', capabilities: [] })
  expect(await versionShown()).toBe('0.0.9')
  expect(await shown('agentOutdated')).toBe(true)
  const body = { kind: 'Deployment', name: 'web', image: platform.image, healthCheck: HEALTH_CHECK }
  expect((await acme.post(DEPLOYMENTS, body)).status).toBe(201)
  await expect.poll(async () => (await why('web')).summary).toContain('0 of 1 nodes')
  const { candidates, cure, summary } = await why('web')
  const fix = 'Upgrade the agent on acme-1.'
  expect(summary).toBe('0 of 1 nodes fit: 1 with an agent that is too old.')
  expect(cure).toEqual([fix])
  expect(candidates).toEqual([
    {
      nodeId: node.nodeId,
      nodeName: 'acme-1',
      refusals: [
        {
          filter: 'agent_version',
          code: 'agent_lacks_capability',
          required: ['health_check'],
          reported: '0.0.9',
          fix,
        },
      ],
      cure: { text: fix, changes: [{ kind: 'upgrade_agent', text: fix }] },
    },
  ])

  const [item] = await sentTo(await runAgent({ version: '0.1.1', capabilities: ['health_check'] }))
  expect(item).toMatchObject({ desired: 'running', needs: ['health_check'] })
  expect([await placedOn('web'), await versionShown()]).toEqual([[node.nodeId], '0.1.1'])

  const older = await runAgent({ version: '0.0.9', capabilities: [] })
  const plain = { ...body, name: 'plain', healthCheck: undefined }
  expect((await acme.post(DEPLOYMENTS, plain)).status).toBe(201)
  // The second deployment shows that the controllers have decided on the downgraded agent.
  await expect.poll(() => placedOn('plain')).toEqual([node.nodeId])
  await expect
    .poll(() => itemsOf(older).map(({ desired, needs }) => [desired, needs]))
    .toEqual([
      ['running', ['health_check']],
      ['running', undefined],
    ])
  expect(itemsOf(older)[0]?.assignmentId).toBe(item?.assignmentId)

  // An update is a new container, so it waits like a new replica while the old container stays.
  expect((await acme.put(`${DEPLOYMENTS}/web`, { environment: { A: 'b' } })).status).toBe(200)
  await expect.poll(async () => (await why('web')).cure).toEqual([fix])
  expect(await placedOn('web')).toEqual([node.nodeId])
})

test('an agent that states no capabilities has those of version 0.1.0', async () => {
  const known = await runAgent({ version: '0.1.0' })
  const checked = () => itemsOf(known).filter(({ needs }) => needs?.includes('health_check'))
  await expect.poll(() => new Set(checked().map(({ assignmentId }) => assignmentId)).size).toBe(2)
  expect(await versionShown()).toBe('0.1.0')
})
