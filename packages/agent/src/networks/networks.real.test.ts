// Networks on both supported engines: containers of one network reach each other by name and nothing of other networks,
// a lost network is repaired, and networks that are not Holdfast's are never changed.

import type { DesiredItem, DesiredNetwork, NetworkId } from '@holdfast/contract'
import { engineNetworkName, NETWORK_LABEL } from '@holdfast/core/node'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from '../fixtures/agent.fixture.ts'
import { dyingAfter } from '../fixtures/dying.fixture.ts'
import { onEnginesAtOnce } from '../fixtures/real-engine.fixture.ts'
import { desiredNetwork, NO_NAME_SERVER, reaches, runIn, withNameServer } from './networks.fixture.ts'

/** Step between the engine calls at which the agent dies: every call in a long run, every third call in a short run. */
const STEP = inRun(3, 1)

const removed = (one: DesiredNetwork): DesiredNetwork => ({ ...one, desired: 'removed' })

const untilReported = (node: TestNode, { id }: DesiredNetwork, expected: string): Promise<unknown> =>
  waitUntil(
    () => {
      const newest = node.networkReports.findLast((report) => report.id === id)
      return newest !== undefined && `${newest.state} ${newest.reason}`.trim() === expected
    },
    {
      what: `network ${id} is ${expected}`,
      seen: () => [JSON.stringify(node.networkReports), ...node.logged.slice(-10)].join('\n'),
    },
  )

const found = async (node: TestNode, id: NetworkId) =>
  (await node.engine.listNetworks()).filter(({ labels }) => labels[NETWORK_LABEL] === id)

onEnginesAtOnce('networks', (world, line) => {
  const bare = () => new Docker({ socketPath: world().docker.socketPath })

  /** Removes a network of the engine although the containers of these items run on it. */
  async function removeUsed(node: TestNode, engineId: string, items: readonly DesiredItem[]): Promise<void> {
    const network = bare().getNetwork(engineId)
    for (const item of items) {
      const [id = ''] = await node.containersOf(item)
      await network.disconnect({ Container: id, Force: true })
    }
    await network.remove()
  }

  it('connects containers of one network by name, and no others', async () => {
    const { node } = await world().newNode(withNameServer(NO_NAME_SERVER))
    const [front, back] = [desiredNetwork('front'), desiredNetwork('back')]
    const { image } = world()
    const web = desiredItem(image, { name: 'web', networks: ['front'] })
    const api = desiredItem(image, { name: 'api', networks: ['front', 'back'] })
    const database = desiredItem(image, { name: 'database', networks: ['back'] })
    const other = desiredItem(image, { name: 'other' })
    const all = [web, api, database, other]
    node.send(all, { networks: [front, back] })
    for (const item of all) await node.until(item, 'running', isUp)
    await waitUntil(() => reaches(node, web, 'api'), { what: 'web reaches api' })
    await waitUntil(() => reaches(node, api, 'database'), { what: 'api reaches database' })
    await waitUntil(() => reaches(node, database, 'api'), { what: 'database reaches api' })
    const apart = [
      [web, 'database'],
      [database, 'web'],
      [other, 'web'],
      [web, 'other'],
    ] as const
    const reached = await Promise.all(apart.map(([item, name]) => reaches(node, item, name)))
    expect(reached).toEqual([false, false, false, false])
    const [id = ''] = await node.containersOf(api)
    const inspected = await bare().getContainer(id).inspect()
    const names = ['back', 'front'].map((name) => engineNetworkName(node.tenant, name))
    expect(Object.keys(inspected.NetworkSettings.Networks).toSorted()).toEqual(names)
    // Without a name, the address of a container on another network is out of reach, too.
    const [target = ''] = await node.containersOf(database)
    const { address } = await node.engine.inspectContainer(target)
    expect((await runIn(node, web, `echo x | nc -w 1 ${address} 8080`)).exitCode).not.toBe(0)
  })

  it('repairs a network that the engine lost, and attaches its containers again', async () => {
    const { node } = await world().newNode()
    const lost = desiredNetwork('lost', true)
    const { image } = world()
    const [web, client] = [
      desiredItem(image, { name: 'web', networks: ['lost'] }),
      desiredItem(image, { name: 'client', networks: ['lost'] }),
    ]
    node.send([web, client], { networks: [lost] })
    for (const item of [web, client]) await node.until(item, 'running', isUp)
    const [before] = await found(node, lost.id)
    await removeUsed(node, before?.engineId ?? '', [web, client])
    await waitUntil(async () => (await found(node, lost.id)).length === 1, { what: 'the network is back' })
    const [after] = await found(node, lost.id)
    expect(after?.engineId).not.toBe(before?.engineId)
    expect(after?.internal).toBe(true)
    await waitUntil(() => reaches(node, client, 'web'), { what: 'client reaches web again' })
  })

  it('attaches the running containers of a network that a dead agent had only created', async () => {
    const { node, agent } = await world().newNode()
    const lost = desiredNetwork('lost')
    const { image } = world()
    const [web, client] = [
      desiredItem(image, { name: 'web', networks: ['lost'] }),
      desiredItem(image, { name: 'client', networks: ['lost'] }),
    ]
    node.send([web, client], { networks: [lost] })
    for (const item of [web, client]) await node.until(item, 'running', isUp)
    await agent.close()
    const [{ engineId } = { engineId: '' }] = await found(node, lost.id)
    await removeUsed(node, engineId, [web, client])
    const dead = () => Promise.reject(new Error('the agent is dead'))
    const mortal = await node.start({ ...node.engine, connectNetwork: dead })
    await waitUntil(async () => (await found(node, lost.id)).length === 1, { what: 'the network is back' })
    await mortal.close()
    await node.start()
    await waitUntil(() => reaches(node, client, 'web'), { what: 'client reaches web again' })
  })

  it('replaces a leftover network of an earlier enrollment', async () => {
    const { node } = await world().newNode()
    const [former, current] = [desiredNetwork('front'), desiredNetwork('front', true)]
    node.send([], { networks: [former] })
    await untilReported(node, former, 'present')
    const web = desiredItem(world().image, { name: 'web', networks: ['front'] })
    node.send([web], { networks: [current] })
    await node.until(web, 'running', isUp)
    expect(await found(node, former.id)).toEqual([])
    const states = node.networkReports.filter(({ id }) => id === current.id).map(({ state }) => state)
    expect(states).toEqual(['present'])
  })

  it('never changes a network that is not its own', async () => {
    const { node } = await world().newNode()
    const taken = desiredNetwork('taken')
    const name = engineNetworkName(node.tenant, 'taken')
    const foreign = await bare().createNetwork({ Name: name, Driver: 'bridge', CheckDuplicate: true })
    node.send([], { networks: [taken] })
    await untilReported(node, taken, 'failed name_in_use')
    node.send([], { networks: [removed(taken)] })
    await untilReported(node, taken, 'removed')
    node.send([], { networks: [] })
    const second = desiredNetwork('taken')
    node.send([], { networks: [second] })
    await untilReported(node, second, 'failed name_in_use')
    expect((await foreign.inspect()).Id).toBe(foreign.id)
    await foreign.remove()
    await untilReported(node, second, 'present')
  })

  it('removes a network only after the containers that join it are gone', async () => {
    const { node } = await world().newNode()
    const used = desiredNetwork('used')
    const item = desiredItem(world().image, { name: 'web', networks: ['used'] })
    node.send([item], { networks: [used] })
    await node.until(item, 'running', isUp)
    node.send([item], { networks: [removed(used)] })
    await untilReported(node, used, 'failed in_use')
    expect(await found(node, used.id)).toHaveLength(1)
    node.send([{ ...item, desired: 'removed' }], { networks: [removed(used)] })
    await node.until(item, 'gone', ({ gone }) => gone)
    node.send([], { networks: [removed(used)] })
    await untilReported(node, used, 'removed')
    expect(await found(node, used.id)).toEqual([])
    const orphan = desiredNetwork('orphan')
    node.send([], { networks: [orphan] })
    await untilReported(node, orphan, 'present')
    node.send([], { networks: [] })
    await waitUntil(async () => (await found(node, orphan.id)).length === 0, {
      what: 'the orphan is removed',
    })
  })

  it('a new agent recovers after its predecessor died at any call', { timeout: 600_000 }, async () => {
    const { node, agent: unused } = await world().newNode()
    await unused.close()
    for (let n = line === 'old' ? 1 : 2, survived = false; !survived; n += STEP) {
      const [front, back] = [desiredNetwork('front'), desiredNetwork('back', true)]
      const networks = [front, back]
      const item = desiredItem(world().image, { name: 'web', networks: ['front', 'back'] })
      const dying = dyingAfter(node.engine, n)
      const mortal = await node.start(dying.engine)
      node.send([item], { networks })
      const isDone = () => dying.died() || isUp(node.newest(item) ?? { state: 'pending' })
      await waitUntil(isDone, { what: `call ${n} is made` })
      survived = !dying.died()
      await mortal.close()
      const second = await node.start()
      node.send([item], { networks })
      await node.until(item, `up after a death at ${n}`, isUp)
      for (const one of networks) {
        const [only, ...others] = await found(node, one.id)
        expect([only?.internal, others]).toEqual([one.options.internal, []])
      }
      const [id = '', ...more] = await node.containersOf(item)
      expect(more).toEqual([])
      const { NetworkSettings } = await bare().getContainer(id).inspect()
      expect(Object.keys(NetworkSettings.Networks)).toHaveLength(2)
      node.send([{ ...item, desired: 'removed' }], { networks })
      await node.until(item, 'gone', ({ gone }) => gone)
      node.send([], { networks: networks.map(removed) })
      for (const one of networks) await untilReported(node, one, 'removed')
      await second.close()
    }
  })
})
