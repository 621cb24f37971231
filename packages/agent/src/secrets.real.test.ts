// Containers with secrets on real engines of both lines: what they are made with, what is said while it is not to be
// had, and that the material is nowhere but in the engine's own configuration.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredItem } from '@holdfast/contract'
import { PROOF_LABEL } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onBothEngines } from './fixtures/real-engine.fixture.ts'
import { EngineError } from './ports/engine.ts'
import { NoSessionError } from './ports/session.ts'

const CANARY = 'canary-e81b07d2'
const GIVEN = {
  kind: 'resolved',
  environment: { MODE: 'fast', DB_key: CANARY, URL: `db://u:${CANARY}@db?a=b` },
  proof: 'proof-of-version-1',
} as const
const REFUSED = { kind: 'unresolved', about: 'DB: store_unavailable' } as const
const SECRETS = {
  environment: { MODE: 'fast' },
  secrets: [{ name: 'DB', namespace: 'resources', label: 'db', version: 1 }],
  composedEnvironment: { URL: 'db://u:{{secret.db.key}}@db?a=b' },
}
/** Further than any wait for the next try. */
const BEYOND_MS = 60_000

onBothEngines('containers with secrets', (world) => {
  const inspect = (id: string | null) =>
    new Docker({ socketPath: world().docker.socketPath }).getContainer(id ?? '').inspect()
  const secretItem = (name = 'web'): DesiredItem => desiredItem(world().image, { ...SECRETS, name })
  const everything = (node: TestNode): string =>
    [
      ...node.logged,
      JSON.stringify(node.reports),
      ...readdirSync(node.folder).map((name) => readFileSync(join(node.folder, name), 'utf8')),
    ].join('\n')
  const tryAgain = (node: TestNode, items: readonly DesiredItem[]): void => {
    node.aheadMs += BEYOND_MS
    node.send(items)
  }

  it('are made with what was given, prove it, and leave it nowhere else', async () => {
    const { node, agent } = await world().newNode()
    node.environment = async () => GIVEN
    const item = secretItem()
    node.send([item])
    const seen = await node.until(item, 'ready', ({ state }) => state === 'ready')
    const found = await inspect(seen.containerId)
    expect(found.Config.Env).toEqual(
      expect.arrayContaining(Object.entries(GIVEN.environment).map(([name, value]) => `${name}=${value}`)),
    )
    expect(found.Config.Labels[PROOF_LABEL]).toBe(GIVEN.proof)
    expect(seen.proof).toBe(GIVEN.proof)
    const of = node.reports.filter(({ containerId }) => containerId !== null)
    expect(of.every(({ proof }) => proof === GIVEN.proof)).toBe(true)
    await agent.close()
    expect(readdirSync(node.folder)).toContain('desired.json')
    expect(everything(node)).not.toContain(CANARY)
    expect(JSON.stringify([found.Config.Labels, found.HostConfig, found.Name])).not.toContain(CANARY)
  })

  it('are not made while a secret is not to be had; others are, and it heals', async () => {
    const { node } = await world().newNode()
    node.environment = async () => REFUSED
    const [item, plain] = [secretItem(), desiredItem(world().image, { name: 'plain' })]
    node.send([item, plain])
    const refused = await node.until(item, 'refused', ({ reason }) => reason === 'secret_unresolved')
    expect(refused).toMatchObject({ state: 'starting', containerId: null, about: REFUSED.about })
    await node.until(plain, 'running', isUp)
    expect(await node.containersOf(item)).toEqual([])
    node.environment = async () => ({ kind: 'unresolved', about: 'DB: denied' })
    tryAgain(node, [item, plain])
    await node.until(item, 'refused otherwise', ({ about }) => about === 'DB: denied')
    node.environment = async () => GIVEN
    tryAgain(node, [item, plain])
    const healed = await node.until(item, 'running', isUp)
    expect([healed.reason, healed.about, healed.proof]).toEqual(['', undefined, GIVEN.proof])
    expect((await inspect(healed.containerId)).Config.Env).toContain(`DB_key=${CANARY}`)
  })

  it('that wait for an answer keep no other from being made', async () => {
    const { node } = await world().newNode()
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    let asked = 0
    node.environment = () => {
      asked += 1
      return answered.then(() => GIVEN)
    }
    const waiting = Array.from({ length: 12 }, (_, index) => secretItem(`waits-${index}`))
    const plain = desiredItem(world().image, { name: 'plain' })
    node.send(waiting)
    await waitUntil(() => asked === waiting.length, { what: 'all were asked for' })
    node.send([...waiting, plain])
    await node.until(plain, 'running', isUp)
    answer()
    for (const item of waiting) await node.until(item, 'running', isUp)
  })

  it('ask anew after each end of the agent, and are started without asking where they exist', async () => {
    const { node, agent } = await world().newNode((engine) => ({
      ...engine,
      createContainer: async () => {
        throw new EngineError('unavailable', 'the agent died before its create')
      },
    }))
    let asked = 0
    node.environment = async () => {
      asked += 1
      return { ...GIVEN, proof: `attempt-${asked}` }
    }
    const item = secretItem()
    node.send([item])
    await waitUntil(() => asked === 1, { what: 'it was asked' })
    await agent.close()
    const second = await node.start()
    node.send([item])
    const made = await node.until(item, 'running', isUp)
    expect([made.proof, await node.containersOf(item)]).toEqual([`attempt-${asked}`, [made.containerId]])
    await second.close()
    const before = asked
    await node.engine.stopContainer(made.containerId ?? '', 0)
    const seen = node.reports.length
    // With no server at all: what is kept on its disk is enough.
    const third = await node.start()
    await waitUntil(
      () => node.reports.slice(seen).some(({ state, proof }) => state === 'running' && proof === made.proof),
      {
        what: 'it runs again',
      },
    )
    expect([asked, await node.containersOf(item)]).toEqual([before, [made.containerId]])
    await third.close()
    expect(everything(node)).not.toContain(CANARY)
  })

  it('are not judged where no server could be asked', async () => {
    const { node } = await world().newNode()
    let asked = 0
    node.environment = async () => {
      asked += 1
      throw new NoSessionError()
    }
    const item = secretItem()
    node.send([item])
    await waitUntil(() => asked === 1, { what: 'it was asked' })
    tryAgain(node, [item])
    await waitUntil(() => asked === 2, { what: 'it was asked again' })
    expect(node.reports.filter(({ reason }) => reason !== '')).toEqual([])
    expect(await node.containersOf(item)).toEqual([])
  })

  it('are not quoted by an engine that fails to make or start them', async () => {
    const words = `invalid environment variable: DB_key=${CANARY}`
    const { node } = await world().newNode((engine) => ({
      ...engine,
      createContainer: async (name, body) => {
        if (name.startsWith('unmade')) throw new EngineError('failed', words)
        return engine.createContainer(name, body)
      },
      startContainer: async () => {
        throw new EngineError('failed', words)
      },
    }))
    node.environment = async () => GIVEN
    const [unmade, unstarted] = [secretItem('unmade'), secretItem('unstarted')]
    node.send([unmade, unstarted])
    await node.until(unmade, 'not made', ({ reason }) => reason === 'create_failed')
    await node.until(unstarted, 'not started', ({ reason }) => reason === 'start_failed')
    expect(everything(node)).toContain('The engine said: failed.')
    expect(everything(node)).not.toContain(CANARY)
  })
})
