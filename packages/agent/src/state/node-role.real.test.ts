// On real engines: the agent of a control-plane node rejects new assignments, and an agent reports orphans that are too
// many to remove.

import { waitUntil } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { desiredItem, isUp } from '../fixtures/agent.fixture.ts'
import { onEngines } from '../fixtures/real-engine.fixture.ts'

onEngines('a control-plane node', (world) => {
  it('creates no new deployment, but recreates those it had, also by a new assignment', async () => {
    const { node, agent } = await world().newNode()
    const there = desiredItem(world().image)
    node.send([there])
    const { containerId } = await node.until(there, 'running', isUp)
    node.welcome({ controlPlane: true, platform: false })
    const more = desiredItem(world().image, { name: 'more' })
    node.send([there, more])
    await node.until(
      more,
      'refused',
      ({ state, reason }) => state === 'failed' && reason === 'refused_by_agent',
    )
    expect(await node.containersOf(more)).toEqual([])
    expect(await node.containersOf(there)).toEqual([containerId])
    await node.engine.removeContainer(containerId ?? '')
    await node.until(there, 'created again', (seen) => isUp(seen) && seen.containerId !== containerId)
    const successor = { ...desiredItem(world().image), owner: there.owner }
    node.send([there, more, successor])
    await node.until(successor, 'running', isUp)
    await agent.close()
    await node.clear()
  })

  it('creates assignments of the platform tenant', async () => {
    const { node, agent } = await world().newNode()
    node.welcome({ controlPlane: true, platform: true })
    const item = desiredItem(world().image)
    node.send([item])
    await node.until(item, 'running', isUp)
    await agent.close()
    await node.clear()
  })
})

onEngines('a node with orphaned containers', (world) => {
  it('keeps its orphans when they are most of its containers, and reports their names once', async () => {
    const { node, agent } = await world().newNode()
    const items = Array.from({ length: 5 }, () => desiredItem(world().image, { name: 'left' }))
    node.send(items)
    for (const item of items) await node.until(item, 'running', isUp)
    for (const aheadMs of [0, 61_000, 122_000, 183_000]) {
      node.aheadMs = aheadMs
      node.send([])
    }
    await waitUntil(() => node.orphans.length > 0, { what: 'they are reported' })
    expect(node.orphans).toEqual([['left', 'left.1', 'left.2', 'left.3', 'left.4']])
    expect((await Promise.all(items.map(node.containersOf))).flat()).toHaveLength(5)
    // The containers are desired again, so they are no longer orphans.
    node.send(items)
    await waitUntil(() => node.orphans.length > 1, { what: 'an empty list is reported' })
    expect(node.orphans[1]).toEqual([])
    await agent.close()
    await node.clear()
  })
})
