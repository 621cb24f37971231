// Counts the engine calls of a rollout other than creates and starts. Every inspect costs the engine CPU time, and a list
// of all containers costs as much as a create. The engine decides the counts: by the order of its events and answers.

import { waitUntil } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { desiredItem, isUp } from '../fixtures/agent.fixture.ts'
import { onEngines } from '../fixtures/real-engine.fixture.ts'
import type { Engine } from '../ports/engine.ts'

const CONTAINERS = 20
const FEW = 3
const TURNS = 2
/** Interval at which the agent lists all containers. */
const LIST_EVERY_MS = 30_000

/** Wraps an engine so that its calls are counted by name. */
function counted(engine: Engine, calls: Map<string, number>): Engine {
  return new Proxy(engine, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1)
        return Reflect.apply(member, target, args)
      }
    },
  })
}

onEngines('a rollout', (world, line) => {
  it(`inspects each of ${CONTAINERS} new containers once`, { timeout: 120_000 }, async () => {
    const calls = new Map<string, number>()
    const { node } = await world().newNode((engine) => counted(engine, calls))
    const warm = desiredItem(world().image)
    node.send([warm])
    await node.until(warm, 'running', isUp)
    calls.clear()
    const before = node.reports.length
    const items = Array.from({ length: CONTAINERS }, () => desiredItem(world().image))
    node.send([warm, ...items])
    const begun = performance.now()
    const areUp = () => items.map(node.newest).every((seen) => seen !== undefined && isUp(seen))
    await waitUntil(areUp, { what: 'all run', timeoutMs: 90_000 })
    const lists = 2 + Math.floor((performance.now() - begun) / LIST_EVERY_MS)
    const per = (name: string): number => (calls.get(name) ?? 0) / CONTAINERS
    const reports = node.reports.length - before
    console.log(
      `${line} engine, for each of ${CONTAINERS}: ${per('inspectContainer')} inspects, ${reports / CONTAINERS} reports`,
    )
    expect(['createContainer', 'startContainer'].map(per)).toEqual([1, 1])
    // Slightly more than one inspect per container: a container may be inspected again if its start event came before the
    // answer to the start call.
    expect(per('inspectContainer')).toBeLessThanOrEqual(1.1)
    expect(calls.get('listContainers')).toBeLessThanOrEqual(lists)
    await node.clear()
  })

  it('replaces a few containers under the first name it tries, and does not list all', async () => {
    const calls = new Map<string, number>()
    const { node } = await world().newNode((engine) => counted(engine, calls))
    // A container name that no other container on this engine has.
    const template = { name: 'replaced' }
    const newItems = () => Array.from({ length: FEW }, () => desiredItem(world().image, template))
    let items = newItems()
    node.send(items)
    for (const item of items) await node.until(item, 'running', isUp)
    calls.clear()
    const begun = performance.now()
    for (let turn = 0; turn < TURNS; turn += 1) {
      const old = items.map((item) => ({ ...item, desired: 'removed' as const }))
      items = newItems()
      node.send([...items, ...old], { complete: false })
      for (const item of items) await node.until(item, 'running', isUp)
      for (const item of old) await node.until(item, 'gone', ({ gone }) => gone)
    }
    const replaced = FEW * TURNS
    expect(
      ['createContainer', 'startContainer', 'stopContainer', 'removeContainer'].map((name) =>
        calls.get(name),
      ),
    ).toEqual(Array.from({ length: 4 }, () => replaced))
    // Two lists of each new assignment and one of each old one; an event that arrives late causes another one.
    expect(calls.get('listLabelled')).toBeLessThanOrEqual(3 * replaced + FEW)
    expect(calls.get('listContainers') ?? 0).toBeLessThanOrEqual(
      Math.ceil((performance.now() - begun) / LIST_EVERY_MS),
    )
    await node.clear()
  })
})
