// The agent, its engine or its machine fails and recovers: an assignment never has more than one container, and
// containers that need no change are kept. See docs/design/agent.md#static-stability

import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { DesiredItem } from '@holdfast/contract'
import type { FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, it } from 'vitest'
import { MIB } from './adapters/btrfs/pool.fixture.ts'
import { startFencedWriter } from './fencer/fenced-writers.fixture.ts'
import { writesIn } from './fencer/fencer.fixture.ts'
import { desiredItem, isUp } from './fixtures/agent.fixture.ts'
import { dyingAfter } from './fixtures/dying.fixture.ts'
import { onOwnEngines } from './fixtures/real-engine.fixture.ts'
import { EngineError } from './ports/engine.ts'

/** Step between the engine calls at which the agent dies: every call in a long run, every third call in a short run. */
const STEP = inRun(3, 1)

onOwnEngines('faults', (world, line, isLast) => {
  const first = STEP === 1 || line === 'old' ? 1 : 2

  it('a new agent recovers after its predecessor died at any call', {
    timeout: 600_000,
  }, async () => {
    const { node, agent: unused } = await world().newNode()
    await unused.close()
    const counts: number[] = []
    for (let n = first, survived = false; !survived; n += STEP) {
      const items = [desiredItem(world().image), desiredItem(world().image, { name: 'other' })]
      const dying = dyingAfter(node.engine, n)
      const mortal = await node.start(dying.engine)
      node.send(items)
      const areUp = () => items.map(node.newest).every((seen) => seen !== undefined && isUp(seen))
      await waitUntil(() => dying.died() || areUp(), { what: `call ${n} is made` })
      survived = !dying.died()
      await mortal.close()
      for (const item of items) expect((await node.containersOf(item)).length).toBeLessThanOrEqual(1)
      const before = new Set((await Promise.all(items.map(node.containersOf))).flat())

      const second = await node.start()
      node.send(items)
      for (const item of items) await node.until(item, `up after a death at ${n}`, isUp)
      const up = (await Promise.all(items.map(node.containersOf))).flat()
      expect(up.length).toBe(items.length)
      // The next agent keeps the containers of the agent that died.
      for (const id of before) expect(up).toContain(id)
      node.send(items.map((item) => ({ ...item, desired: 'removed' as const })))
      for (const item of items) await node.until(item, 'gone', ({ gone }) => gone)
      await second.close()
      counts.push(dying.calls.length)
    }
    expect(counts.length * STEP).toBeGreaterThan(8)
  })

  it('a new agent recovers after its predecessor died while stopping or removing', {
    timeout: 600_000,
  }, async () => {
    const { node, agent: unused } = await world().newNode()
    await unused.close()
    for (let n = first, survived = false; !survived; n += STEP) {
      const items = [desiredItem(world().image), desiredItem(world().image, { name: 'other' })]
      const [stopping, going] = items
      if (stopping === undefined || going === undefined) throw new Error('two items')
      const maker = await node.start()
      node.send(items)
      for (const item of items) await node.until(item, 'running', isUp)
      await maker.close()
      const desired = [
        { ...stopping, desired: 'stopped' as const },
        { ...going, desired: 'removed' as const },
      ]
      const dying = dyingAfter(node.engine, n)
      const mortal = await node.start(dying.engine)
      node.send(desired)
      const isDone = () => node.newest(going)?.gone === true && node.newest(stopping)?.state === 'stopped'
      await waitUntil(() => dying.died() || isDone(), { what: `call ${n} is made` })
      survived = !dying.died()
      await mortal.close()
      const second = await node.start()
      node.send(desired)
      await node.until(going, 'gone', ({ gone }) => gone)
      await node.until(stopping, 'stopped', ({ state }) => state === 'stopped')
      expect([(await node.containersOf(stopping)).length, (await node.containersOf(going)).length]).toEqual([
        1, 0,
      ])
      await second.close()
      await node.clear()
    }
  })

  it('keeps the same containers through a restart of agent, engine and containerd', {
    timeout: 120_000,
  }, async () => {
    const { docker, image } = world()
    const { node, agent } = await world().newNode()
    const items = [desiredItem(image), desiredItem(image, { name: 'other' })]
    node.send(items)
    for (const item of items) await node.until(item, 'ready', ({ state }) => state === 'ready')
    const ids = (await Promise.all(items.map(node.containersOf))).flat()
    const starts = async () =>
      (await Promise.all(ids.map((id) => node.engine.inspectContainer(id)))).map(({ startedAt }) => startedAt)
    const before = await starts()
    await agent.close()
    const next = await node.start()
    node.send(items)
    await docker.kill()
    await docker.restart()
    await docker.killContainerd()
    await docker.restartContainerd()
    await waitUntil(async () => (await starts()).length === ids.length, { what: 'the engine answers' })
    // A new container shows that the agent works; the existing containers are untouched.
    const added = desiredItem(image, { name: 'added' })
    node.send([...items, added])
    await node.until(added, 'running', isUp)
    expect((await Promise.all(items.map(node.containersOf))).flat()).toEqual(ids)
    expect(await starts()).toEqual(before)
    const seqs = node.reports
      .filter(({ assignmentId }) => assignmentId === items[0]?.assignmentId)
      .map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    await next.close()
    await node.clear()
  })

  it('resumes work after an engine that hung answers again', { timeout: 120_000 }, async () => {
    const { docker, image } = world()
    const { node, agent } = await world().newNode()
    const items = [desiredItem(image), desiredItem(image)]
    await docker.pause()
    node.send(items)
    await waitUntil(() => node.logged.some((line) => line.includes('container list failed')), {
      what: 'a call timed out',
    })
    expect(node.reports).toEqual([])
    await docker.resume()
    for (const item of items) await node.until(item, 'running', isUp)
    for (const item of items) expect((await node.containersOf(item)).length).toBe(1)
    await agent.close()
    await node.clear()
  })

  it('a fencer ends the writers without agent and engine, also one that the engine starts later', {
    timeout: 120_000,
  }, async () => {
    const { docker, image } = world()
    const writer = await startFencedWriter(docker, image)
    const { name, fencer, node, item, volumes, mountPoint } = writer
    const isMounted = () => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${mountPoint} `)
    const late = await writer.createLate()
    expect([await fencer.link.guards(name), isMounted()]).toEqual([true, true])
    docker.pause()
    const starting = late.container.start().catch(() => {})
    const leaseEndMs = await writer.renew(3_000)
    try {
      const isGone = (one: FencerReport) => one.fences.get(name)?.emptyMs !== undefined
      const { fences } = await fencer.until('the writer is gone', isGone)
      expect(fences.get(name)?.emptyMs).toBeLessThan(leaseEndMs)
      await waitUntil(() => !isMounted(), { what: 'the volume is unmounted' })
    } finally {
      docker.resume()
    }
    const { lastMs } = writesIn(writer.file)
    expect(lastMs).toBeLessThan(leaseEndMs)
    await starting
    await waitUntil(async () => !(await late.container.inspect()).State.Running, { what: 'it has ended' })
    // A container that was killed before its first write has no file.
    const wroteMs = existsSync(late.file) ? writesIn(late.file).lastMs - writesIn(late.file).firstMs : 0
    process.stdout.write(
      `fencer, ${line} engine: last write ${Math.round(leaseEndMs - lastMs)} ms before the end of the lease; a late writer wrote for ${Math.round(wroteMs)} ms\n`,
    )
    expect((await late.container.inspect()).State.ExitCode).not.toBe(0)
    await late.container.remove()

    // A renewed lease lifts the fence: the volume is mounted and its container started again.
    await writer.renew(60_000)
    await fencer.until('the fence is lifted', (one) => !one.fences.has(name))
    await volumes.home.pool.provision(name, 32 * MIB)
    const agent = await node.start()
    node.send([item])
    await waitUntil(() => writesIn(writer.file).lastMs > leaseEndMs, { what: 'the writer writes again' })
    expect(await fencer.link.guards(name)).toBe(true)
    await agent.close()
    await writer.remove()
  })

  it('starts existing containers of the saved set while no server answers, and creates none', async () => {
    const { image } = world()
    const { node, agent } = await world().newNode()
    const [kept, stopped, lost] = [desiredItem(image), desiredItem(image), desiredItem(image)]
    node.send([kept, { ...stopped, desired: 'stopped' }, lost])
    const { containerId } = await node.until(kept, 'running', isUp)
    const { containerId: lostId } = await node.until(lost, 'running', isUp)
    await agent.close()
    await node.engine.stopContainer(containerId ?? '', 0)
    await node.engine.removeContainer(lostId ?? '')
    const alone = await node.start()
    await waitUntil(async () => (await node.engine.inspectContainer(containerId ?? '')).state === 'running', {
      what: 'it runs again',
    })
    expect(await node.containersOf(kept)).toEqual([containerId])
    expect(await node.containersOf(lost)).toEqual([])
    node.send([kept, { ...stopped, desired: 'stopped' }, lost])
    await node.until(lost, 'created again', ({ containerId: id }) => id !== null && id !== lostId)
    await alone.close()
    await node.clear()
  })

  it('removes containers that two complete sets a minute apart omit, but never most of a node', async () => {
    const { image } = world()
    const { node, agent } = await world().newNode()
    const items = Array.from({ length: 5 }, (_, index) => desiredItem(image, { name: `item-${index}` }))
    node.send(items)
    for (const item of items) await node.until(item, 'running', isUp)
    const held = async () => (await Promise.all(items.map(node.containersOf))).flat().length
    node.send(items.slice(1))
    node.aheadMs = 61_000
    node.send(items.slice(1))
    await waitUntil(async () => (await held()) === 4, { what: 'the orphan is gone' })
    expect(await node.containersOf(items[0] ?? desiredItem(image))).toEqual([])
    node.send([])
    node.aheadMs = 122_000
    node.send([])
    await waitUntil(() => node.logged.some((one) => one.includes('too many orphaned')), {
      what: 'the orphans are logged',
    })
    expect(await held()).toBe(4)
    await agent.close()
    await node.clear()
  })

  it('does not report a replica as gone while its create is queued or running', async () => {
    const { image } = world()
    const creates = Promise.withResolvers<void>()
    const seen = { creates: 0, lists: 0 }
    const { node, agent } = await world().newNode((engine) => ({
      ...engine,
      listContainers() {
        seen.lists += 1
        return engine.listContainers()
      },
      async createContainer(name, body) {
        seen.creates += 1
        await creates.promise
        return engine.createContainer(name, body)
      },
    }))
    // The test sends more desired items than the number of containers that the agent creates concurrently.
    const items = Array.from({ length: 2 * availableParallelism() + 2 }, () => desiredItem(image))
    const goneOf = ({ assignmentId }: DesiredItem) =>
      node.reports.filter((one) => one.assignmentId === assignmentId && one.gone).length
    node.send(items)
    await waitUntil(() => seen.creates > 1, { what: 'creates are under way' })
    const before = seen.lists
    node.send(items.map((item) => ({ ...item, desired: 'removed' as const })))
    await waitUntil(() => seen.lists > before, { what: 'the engine is listed' })
    expect(items.map(goneOf)).toEqual(items.map(() => 0))
    creates.resolve()
    for (const item of items) {
      await node.until(item, 'gone', ({ gone }) => gone)
      expect(await node.containersOf(item)).toEqual([])
    }
    // Each item is reported as gone exactly once, so no container appeared after the report.
    expect(items.map(goneOf)).toEqual(items.map(() => 1))
    await agent.close()
  })

  it.runIf(isLast)('retries a failed create in time, whichever passes run in between', async () => {
    let failed = false
    const { node, agent } = await world().newNode((engine) => ({
      ...engine,
      async createContainer(name, body) {
        if (failed) return engine.createContainer(name, body)
        failed = true
        throw new EngineError('failed', 'not this time')
      },
    }))
    const item = desiredItem(world().image)
    node.send([item])
    await node.until(item, 'create failed', ({ reason }) => reason === 'create_failed')
    node.send([item])
    const isItUp = () => isUp(node.newest(item) ?? { state: 'pulling' })
    await waitUntil(isItUp, { what: 'it is up', timeoutMs: 20_000 })
    await agent.close()
    await node.clear()
  })

  it.runIf(isLast)('restarts a container that ends during its start', async () => {
    const ended = Promise.withResolvers<void>()
    let starts = 0
    const { node, agent } = await world().newNode((engine) => ({
      ...engine,
      async startContainer(id) {
        starts += 1
        await engine.startContainer(id)
        if (starts > 1) return
        await engine.stopContainer(id, 0)
        await ended.promise
      },
      async inspectContainer(id) {
        const found = await engine.inspectContainer(id)
        // The wrapped start call returns only after the agent has seen the container's exit.
        if (found.state === 'exited') setTimeout(ended.resolve)
        return found
      },
    }))
    const item = desiredItem(world().image)
    node.send([item])
    await waitUntil(() => starts === 2, { what: 'it is started again', timeoutMs: 20_000 })
    expect((await node.containersOf(item)).length).toBe(1)
    await agent.close()
    await node.clear()
  })

  it.runIf(isLast)(
    'creates nothing from the saved set because of a change to another assignment',
    async () => {
      const { image } = world()
      const { node, agent } = await world().newNode()
      const [lost, added] = [desiredItem(image), desiredItem(image, { name: 'added' })]
      node.send([lost])
      const { containerId } = await node.until(lost, 'running', isUp)
      await agent.close()
      await node.engine.removeContainer(containerId ?? '')
      const next = await node.start()
      node.send([added], { complete: false })
      await node.until(added, 'running', isUp)
      await next.close()
      expect(await node.containersOf(lost)).toEqual([])
      await node.clear()
    },
  )

  it.runIf(isLast)(
    'removes nothing after the store revision went back, also after a restart, until another epoch is confirmed',
    async () => {
      const { image } = world()
      const { node, agent } = await world().newNode()
      const items = [desiredItem(image), desiredItem(image)]
      const store = { epoch: 'e1' }
      const held = async () => (await Promise.all(items.map(node.containersOf))).flat().length
      node.send(items, { store })
      for (const item of items) await node.until(item, 'running', isUp)
      // No container is removed, even once revisions are higher again: the restored store may lack assignments.
      for (const revision of [3, 4, 5000, 5001]) {
        node.send([], { revision, store })
        node.aheadMs += 61_000
      }
      const added = desiredItem(image, { name: 'added' })
      node.send([added], { store })
      await node.until(added, 'running', isUp)
      await agent.close()
      expect(await held()).toBe(2)
      expect(node.logged.filter((one) => one.includes('store was restored'))).toHaveLength(1)
      const next = await node.start()
      const later = desiredItem(image, { name: 'later' })
      for (const unconfirmed of [undefined, true]) {
        node.send([added, later], { store: { epoch: unconfirmed ? 'e2' : 'e1', unconfirmed } })
        node.aheadMs += 61_000
      }
      await node.until(later, 'running', isUp)
      expect(await held()).toBe(2)
      for (let minute = 0; minute < 2; minute += 1) {
        node.send([added, later], { store: { epoch: 'e2' } })
        node.aheadMs += 61_000
      }
      await waitUntil(async () => (await held()) === 0, { what: 'the orphans are gone' })
      await next.close()
      await node.clear()
    },
  )
})
