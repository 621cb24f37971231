// Docker Swarm for comparison: the time to create and run a service of several replicas on a separate engine, and the
// time for the same number of containers created directly on that engine.

import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { createDockerEngine } from '@holdfast/agent/adapters/docker/docker-engine'
import type { Engine } from '@holdfast/agent/ports/engine'
import { type DesiredItem, decode, desiredItemShape } from '@holdfast/contract'
import { startDockerEngine, startRegistry, waitUntil } from '@holdfast/testkit'
import { median } from '../stats.ts'
import { createBareSide } from './rollout-bare.ts'
import { type StartWatch, watchStarts } from './rollout-watch.ts'

const CALL_MS = 30_000
const NETWORK = 'bench'
const SERVICE = 'bench'
const SERVICE_LABEL = 'com.docker.swarm.service.name'

interface SwarmFigures {
  readonly replicas: number
  readonly swarm: number
  readonly bare: number
}

/** One of the two compared ways to run the containers: a Swarm service, or direct creates. */
interface Side {
  rollOut(replicas: number): Promise<void>
  clear(): Promise<void>
  readonly watch: StartWatch
}

export async function measureSwarm(sizes: readonly number[], rounds: number): Promise<SwarmFigures[]> {
  const machine = await startDockerEngine({ line: 'old', swarm: true })
  const registry = await startRegistry({ address: machine.hostAddress })
  try {
    const { digest } = await registry.pushBusyboxImage('bench/app', '1.0')
    const image = `${registry.host}/bench/app@${digest}`
    const engine = createDockerEngine(machine.socketPath)
    await engine.pullImage(image, undefined)
    const sides = {
      swarm: await createSwarmSide(machine.socketPath, image, await watchStarts([engine], SERVICE_LABEL)),
      bare: await createAloneSide(engine, image, await watchStarts([engine])),
    }
    await measure(sides.swarm, 1)
    const figures: SwarmFigures[] = []
    for (const replicas of sizes) figures.push(await measureBoth(sides, replicas, rounds))
    for (const { watch } of Object.values(sides)) watch.close()
    return figures
  } finally {
    await machine.stop()
    await registry.stop()
  }
}

/** Measures the Swarm service and the direct creates several times, in alternating order. */
async function measureBoth(
  sides: { readonly swarm: Side; readonly bare: Side },
  replicas: number,
  rounds: number,
): Promise<SwarmFigures> {
  const times = { swarm: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['swarm', 'bare'] as const) : (['bare', 'swarm'] as const)
    for (const side of order) times[side].push(await measure(sides[side], replicas))
  }
  return { replicas, swarm: median(times.swarm), bare: median(times.bare) }
}

async function measure(side: Side, replicas: number): Promise<number> {
  const started = side.watch.untilStarted(replicas)
  const began = performance.now()
  await side.rollOut(replicas)
  const elapsed = (await started) - began
  await side.clear()
  return elapsed
}

async function createAloneSide(engine: Engine, image: string, watch: StartWatch): Promise<Side> {
  const { rollOut, clear } = await createBareSide([engine], randomUUID())
  return { rollOut: (replicas) => rollOut([engine], replicas, itemOf(image)), clear, watch }
}

async function createSwarmSide(socketPath: string, image: string, watch: StartWatch): Promise<Side> {
  const post = (path: string, body: object) => call(socketPath, 'POST', path, body)
  await post('/swarm/init', { ListenAddr: '127.0.0.1:2377', AdvertiseAddr: '127.0.0.1:2377' })
  await post('/networks/create', { Name: NETWORK, Driver: 'bridge', Scope: 'swarm' })
  const filters = encodeURIComponent(JSON.stringify({ label: [SERVICE_LABEL] }))
  const isClear = async () =>
    Object(await call(socketPath, 'GET', `/containers/json?all=1&filters=${filters}`)).length === 0
  return {
    watch,
    rollOut: async (Replicas) => {
      await post('/services/create', {
        Name: SERVICE,
        TaskTemplate: { ContainerSpec: { Image: image }, Networks: [{ Target: NETWORK }] },
        Mode: { Replicated: { Replicas } },
      })
    },
    clear: async () => {
      await call(socketPath, 'DELETE', `/services/${SERVICE}`)
      await waitUntil(isClear, { what: 'the service is gone', timeoutMs: 60_000 })
    },
  }
}

function itemOf(image: string): DesiredItem {
  return decode(desiredItemShape, {
    assignmentId: 'rep_bare',
    owner: 'deployment/dep_01JCPZ0000000000000000000A',
    generation: 1,
    templateHash: 'f'.repeat(64),
    desired: 'running',
    template: { name: 'bench', image, environment: {}, labels: {}, stopGracePeriod: '10s' },
  })
}

function call(socketPath: string, method: string, path: string, body?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request(
      { socketPath, method, path, headers, signal: AbortSignal.timeout(CALL_MS) },
      async (answer) => {
        let text = ''
        for await (const chunk of answer) text += String(chunk)
        if ((answer.statusCode ?? 0) >= 300)
          reject(new Error(`${path} answered ${answer.statusCode}: ${text}`))
        else resolve(text === '' ? undefined : JSON.parse(text))
      },
    )
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
