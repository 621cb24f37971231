import { asNetworkId, asTenantId, decode, desiredItemShape } from '@holdfast/contract'
import { containerLabels, engineNetworkName } from '@holdfast/core/node'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { InspectedContainer, ListedContainer, NetworkFacts } from '../ports/engine.ts'
import { startNetworkKeeper } from './keep-networks.ts'

const TENANT = asTenantId('6f1c2f0e-8f0a-4d7e-9b35-2f6f0c1d9a44')
const network = (name: string, id: string) => ({
  id: asNetworkId(id),
  desired: 'present' as const,
  options: { name, driver: 'bridge' as const, labels: {}, internal: false },
})
const front = network('front', 'net_01JD7QAF7T1B3V9W5Y8Z2A4C6D')
const back = network('back', 'net_01JD7QAF7T1B3V9W5Y8Z2A4C6E')
const FRONT = engineNetworkName(TENANT, 'front')
const BACK = engineNetworkName(TENANT, 'back')

const web = decode(desiredItemShape, {
  assignmentId: 'rep_01JD7QAF7T1B3V9W5Y8Z2A4C6F',
  owner: 'deployment/dep_01JD7QAF7T1B3V9W5Y8Z2A4C6G',
  generation: 1,
  templateHash: 'sha256:0',
  desired: 'running',
  template: {
    name: 'web',
    image: `web@sha256:${'0'.repeat(64)}`,
    environment: {},
    labels: {},
    stopGracePeriod: '2s',
    networks: ['front', 'back'],
  },
})
const running: ListedContainer = {
  id: 'c1',
  name: 'web',
  image: 'web',
  state: 'running',
  createdAt: 0,
  labels: containerLabels(web, TENANT),
  addresses: [],
}
const inspected: Omit<InspectedContainer, 'settings'> = {
  id: 'c1',
  state: 'running',
  startedAt: null,
  finishedAt: null,
  exitCode: null,
  restarts: 0,
  health: 'none',
  oomKilled: false,
  failedChecks: undefined,
  address: null,
  error: '',
  name: 'web',
  labels: running.labels,
}

/** An engine that lost the networks of a container that runs. `failing`: the calls that fail. */
function brokenEngine() {
  const networks: NetworkFacts[] = []
  const attached: string[] = []
  const failing = new Set<string>()
  const failIf = (call: string): void => {
    if (failing.has(call)) throw new Error(`no answer to ${call}`)
  }
  const engine = {
    listNetworks: async () => [...networks],
    async createNetwork(name: string, labels: NetworkFacts['labels']) {
      failIf(`create ${name}`)
      networks.push({ engineId: name, name, internal: false, labels, subnets: [] })
    },
    removeNetwork: async () => {},
    listLabelled: async () => [running],
    inspectContainer: async () => ({
      ...inspected,
      settings: {
        HostConfig: {},
        NetworkSettings: { Networks: Object.fromEntries(attached.map((name) => [name, {}])) },
      },
    }),
    async connectNetwork(name: string) {
      failIf('connect')
      if (!networks.some((each) => each.name === name)) throw new Error(`no network ${name}`)
      attached.push(name)
    },
  }
  return { engine, attached, networks, failing }
}

/** Starts the part of an agent that keeps networks, with the two desired ones. */
function startAgent({ engine }: ReturnType<typeof brokenEngine>, checkMs: number) {
  const keeper = startNetworkKeeper({
    engine,
    tenant: TENANT,
    items: new Map([[web.assignmentId, web]]),
    addresses: { assign: () => undefined, setSubnet() {} },
    report() {},
    checkMs,
    log: pino({ level: 'silent' }),
  })
  onTestFinished(keeper.close)
  keeper.apply({ revision: 1, complete: true, items: [web], gone: [], networks: [front, back] }, 'server')
  return keeper
}
const stateOf = (keeper: ReturnType<typeof startAgent>, { id }: typeof front) =>
  keeper.observed().find((each) => each.id === id)?.state

const HOUR_MS = 3_600_000

test('attaches running containers that a dead agent left without a network that it had created', async () => {
  const broken = brokenEngine()
  broken.failing.add('connect')
  const first = startAgent(broken, HOUR_MS)
  await expect.poll(() => broken.networks).toHaveLength(2)
  await first.close()
  expect(broken.attached).toEqual([])
  broken.failing.clear()
  startAgent(broken, HOUR_MS)
  await expect.poll(() => broken.attached).toEqual([FRONT, BACK])
})

test('attaches running containers after the engine refused it once', async () => {
  const broken = brokenEngine()
  broken.failing.add('connect')
  const keeper = startAgent(broken, 1)
  await expect.poll(() => stateOf(keeper, back)).toBe('failed')
  broken.failing.clear()
  await expect.poll(() => [stateOf(keeper, front), stateOf(keeper, back)]).toEqual(['present', 'present'])
  expect(broken.attached).toEqual([FRONT, BACK])
})

test('reports a network as present although another network of its containers cannot be created', async () => {
  const broken = brokenEngine()
  broken.failing.add(`create ${BACK}`)
  const keeper = startAgent(broken, HOUR_MS)
  await expect.poll(() => stateOf(keeper, back)).toBe('failed')
  expect([stateOf(keeper, front), broken.attached]).toEqual(['present', [FRONT]])
})

test('inspects no container of a network that is present since the last check', async () => {
  const broken = brokenEngine()
  let passes = 0
  let lists = 0
  const { engine } = broken
  const counting = {
    ...engine,
    listNetworks: () => {
      passes += 1
      return engine.listNetworks()
    },
    listLabelled: () => {
      lists += 1
      return engine.listLabelled()
    },
  }
  const keeper = startAgent({ ...broken, engine: counting }, 1)
  await expect.poll(() => stateOf(keeper, back)).toBe('present')
  const [after, before] = [passes, lists]
  await expect.poll(() => passes).toBeGreaterThan(after + 2)
  expect(lists).toBe(before)
})
