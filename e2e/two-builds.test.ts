// Two builds side by side: the base version, and the current tree with one more member in every object that it stores or
// sends. Two servers and three agents change between them, one process at a time, forward and back, under traffic. No
// record becomes unreadable, no container is recreated, no request fails. See docs/design/packages.md#two-builds

import { type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { type ApiTraffic, type Request, startApiTraffic } from '@holdfast/testkit/builds/api-traffic'
import { containersOf, untilAtRest } from '@holdfast/testkit/builds/at-rest'
import { type Build, baseBuild, editedBuild } from '@holdfast/testkit/builds/build'
import { compareMembers, kindOf } from '@holdfast/testkit/builds/kept-members'
import { findLogFaults } from '@holdfast/testkit/builds/log-faults'
import {
  changedProcess,
  everyMixture,
  type Mixture,
  nameOf,
  rollingMixtures,
} from '@holdfast/testkit/builds/mixtures'
import {
  ADDED_MEMBER,
  ADDED_MEMBERS,
  NEW_FORM,
  NEW_RECORD_FORM,
} from '@holdfast/testkit/builds/newer-versions'
import { type BuildsPlatform, startBuildsPlatform } from '@holdfast/testkit/builds/start-builds-platform'
import { LONG } from '@holdfast/testkit/long-run'
import { makeTenant } from '@holdfast/testkit/platform/start-platform'
import { containerIds } from '@holdfast/testkit/scenarios/lab-reads'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROUNDS = LONG ? 2 : 1
const SIZE = LONG ? 'full size' : 'short form; npm run long visits all mixtures, twice'
/** CI runs one rolling update and its way back, in another order; the long run visits every mixture each way. */
const FORWARD: readonly Mixture[] = LONG ? everyMixture(5) : rollingMixtures([0, 2, 3, 1, 4])
const BACK: readonly Mixture[] = (LONG ? FORWARD : rollingMixtures([2, 4, 1, 0, 3])).toReversed()
const PATH = [...FORWARD, ...BACK.slice(1)]
const PATIENCE = { timeout: LONG ? 3_600_000 : 240_000 }
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '5s' }
const GENERATE = { keys: ['password'], length: 32, charset: 'alphanumeric' }
const DEPLOYMENTS = '/api/v1/deployments'
/** Deployments whose containers no request of this test replaces. */
const UNTOUCHED = ['web', 'worker']
const ALL = [...UNTOUCHED, 'shop', 'elastic']
/** Kinds of records that the newer build must have written. Others are short-lived, or written once, by the base. */
const KINDS =
  'arc aud cred dep evt exec format idem join node obs place reg route shard slot tenant token why'.split(' ')
const PER_SECOND = 30

let base: Build
let tip: Build
let platform: BuildsPlatform
let image: string
let loads: readonly Load[] = []
let traffic: ApiTraffic
/** Kinds of records that had a member of the newer build at some step. */
const newerKinds = new Set<string>()

beforeAll(async () => {
  base = baseBuild()
  tip = editedBuild('the current tree', ADDED_MEMBERS)
  platform = await startBuildsPlatform(base)
  await deployAll()
  await untilAtRest(platform)
  const targets = platform.lab.nodes.map(({ address }) => `http://${address}:80`)
  const hosts = ['web.example', 'shop.example']
  for (const host of hosts) for (const target of targets) await untilServed(target, host)
  loads = hosts.map((host) => startLoad({ targets, host, perSecond: PER_SECOND }))
  traffic = startApiTraffic(platform.api, requestsOf)
}, 240_000)
afterAll(async () => {
  await traffic?.stop()
  await Promise.all(loads.map((load) => load.stop()))
  await platform?.stop()
  base?.remove()
  tip?.remove()
})

async function deployAll(): Promise<void> {
  ;({ reference: image } = await platform.lab.registry.pushBusyboxImage('acme/web', '1.0', { page: 'web' }))
  const secrets = [{ name: 'DB', vault_path: 'resources/db', anchor: 'process', generate: GENERATE }]
  const routed = (name: string) => ({
    healthCheck: CHECK,
    routes: [{ host: `${name}.example`, path: '/', port: 8080 }],
  })
  const environment = { A: '1' }
  await deploy({ name: 'web', replicas: 3, secrets, ...routed('web') })
  await deploy({
    name: 'worker',
    replicas: 2,
    environment,
    labels: { team: 'a' },
    dependsOn: { web: 'healthy' },
  })
  await deploy({ name: 'shop', replicas: 2, ...routed('shop') })
  await deploy({ name: 'elastic', replicas: 1, limits: { memoryBytes: 64 * 1024 ** 2 } })
}

async function deploy(spec: object): Promise<void> {
  const { status, text } = await platform.api.post(DEPLOYMENTS, { kind: 'Deployment', image, ...spec })
  expect(status, text).toBe(201)
}

async function untilServed(target: string, host: string): Promise<void> {
  const isServed = async () => {
    const probe = startLoad({ targets: [target], host, perSecond: 20 })
    await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
    return (await probe.stop()).failures.length === 0
  }
  await waitUntil(isServed, { what: `${target} serves ${host}` })
}

/** A round of API traffic: reads of every kind, and writes that replace no container of an untouched deployment. */
function requestsOf(round: number): Request[] {
  const get = (path: string): Request => ({ method: 'GET', path: `/api/v1${path}` })
  const name = `brief-${round}`
  return [
    get('/deployments'),
    get('/deployments/web/status'),
    get('/deployments/web/why'),
    get('/deployments/web/placements'),
    get('/deployments/web/logs?tail=2'),
    { method: 'PUT', path: `${DEPLOYMENTS}/worker`, body: { stopGracePeriod: `${10 + (round % 20)}s` } },
    { method: 'POST', path: DEPLOYMENTS, body: { kind: 'Deployment', name, image, replicas: 0 } },
    get('/nodes'),
    ...platform.nodeIds.map((id) => get(`/nodes/${id}/containers`)),
    get('/events?limit=20'),
    get('/archives/deployments/worker'),
    { method: 'POST', path: `${DEPLOYMENTS}/web/exec`, body: { command: ['true'], tty: false } },
    { method: 'PUT', path: `${DEPLOYMENTS}/web?dryRun=true`, body: { replicas: 2 } },
    { method: 'PUT', path: '/api/v1/secrets/resources/other', body: { values: { password: name } } },
    get('/secrets'),
    get('/quotas'),
    { method: 'DELETE', path: `${DEPLOYMENTS}/${name}` },
  ]
}

/** Changes a deployment while a process is replaced; the kinds of changes alternate. */
async function changeSomething(step: number): Promise<void> {
  const { api } = platform
  const kinds = [
    () => api.put(`${DEPLOYMENTS}/shop`, { environment: { STEP: String(step) } }),
    () => api.put(`${DEPLOYMENTS}/elastic`, { replicas: 1 + (step % 3) }),
    () => api.post(`${DEPLOYMENTS}/shop/restart`, undefined),
  ]
  const answer = await kinds[step % kinds.length]?.()
  expect(answer?.status, answer?.text).toBe(200)
}

/** Node, container and start time of each replica of the deployments. */
async function containersIn(names: readonly string[]): Promise<string[]> {
  const placed = await Promise.all(names.map((name) => containersOf(platform.api, name)))
  return placed
    .flatMap((each) => each.map((one) => `${one.nodeName} ${one.containerId} ${one.startedAt}`))
    .sort()
}

/**
 * Writes kinds of records that the changes and the traffic do not write. Called while only the newer build runs. The
 * route is one of a tenant without nodes: a reload of a router under load may lose a request in any version.
 */
async function writeMoreKinds(): Promise<void> {
  const { admin, api, lab, servers } = platform
  const { token } = await makeTenant(admin, 'globex')
  const routes = [{ host: 'late.example', path: '/', port: 8080 }]
  const late = { kind: 'Deployment', name: 'late', image, replicas: 0, routes }
  const credential = { username: 'any', password: 'not used by an open registry' }
  const answers = [
    await servers[0]?.api(token).post(DEPLOYMENTS, late),
    await api.post('/api/v1/nodes/join-tokens', { nodeName: 'spare' }),
    await api.put(`/api/v1/registries/${lab.registry.host}/credential`, credential),
  ]
  expect(answers.map((answer) => answer?.status)).toEqual([201, 201, 200])
}

async function noteKinds(): Promise<void> {
  if (KINDS.every((kind) => newerKinds.has(kind))) return
  for (const [key, { value }] of Object.entries(await platform.dump()))
    if (value.includes(ADDED_MEMBER)) newerKinds.add(kindOf(key))
}

function expectNoFault(mixture: Mixture): void {
  for (const [process, name] of platform.processes.entries())
    expect(findLogFaults(platform.output(process)), `${name} at ${nameOf(mixture)}`).toEqual([])
  expect(loads.flatMap((load) => load.result().failures)).toEqual([])
  expect(traffic.result().failures).toEqual([])
}

test(
  'processes change between two builds without a failed request or a recreated container',
  PATIENCE,
  async () => {
    const before = await containersIn(UNTOUCHED)
    expect(before.length).toBe(5)
    const seen = new Set<string>()
    const began = performance.now()
    let steps = 0
    for (let round = 1; round <= ROUNDS; round += 1)
      for (const [at, mixture] of PATH.slice(1).entries()) {
        const process = changedProcess(PATH[at] ?? [], mixture)
        await changeSomething(steps)
        await platform.change(process, mixture[process] === true ? tip : base)
        await untilAtRest(platform)
        expect(await containersIn(UNTOUCHED), nameOf(mixture)).toEqual(before)
        expectNoFault(mixture)
        if (round === 1 && mixture.every(Boolean)) await writeMoreKinds()
        await noteKinds()
        steps += 1
        seen.add(nameOf(mixture))
      }
    const seconds = Math.round((performance.now() - began) / 1000)
    const routed = loads.reduce((sum, load) => sum + load.result().sent, 0)
    const { sent, versionRefusals } = traffic.result()
    const causes = [...platform.api.repeated()].map(([cause, count]) => `${count} ${cause}`).join(', ')
    console.log(
      `${base.name} and ${tip.name}: ${seen.size} of 32 mixtures, ${steps} changes of a process in ${seconds} s (${SIZE}); ${routed} routed requests, ${sent} API requests, 0 failed, ${versionRefusals} refused by version; repeated attempts: ${causes || 'none'}`,
    )
  },
)

test('leaves one container for each replica, and every record readable in both builds', async () => {
  await traffic.stop()
  await untilAtRest(platform)
  const machines = await Promise.all(platform.lab.nodes.map(({ name }) => containerIds(platform, name)))
  const placed = await containersIn(ALL)
  expect(machines.flat().sort()).toEqual(placed.map((line) => line.split(' ')[1]).sort())
  const dump = await platform.dump()
  for (const build of [base, tip]) {
    const { read, unknown, faults } = await platform.readDump(dump, build)
    expect(faults, build.name).toEqual([])
    expect(read + unknown.length).toBe(Object.keys(dump).length)
    // A base version may be older than a kind of records; such records are left alone.
    if (build === tip) expect(unknown).toEqual([])
  }
})

test('members of the newer build survive writes of the base version', async () => {
  const before = await platform.dump()
  const { api, nodeIds } = platform
  for (const name of ALL) await api.put(`${DEPLOYMENTS}/${name}`, { stopGracePeriod: '33s' })
  await api.put('/api/v1/secrets/resources/other', { values: { password: 'another' } })
  await api.post(`/api/v1/nodes/${nodeIds[0]}/cordon`, undefined)
  await api.post(`/api/v1/nodes/${nodeIds[0]}/uncordon`, undefined)
  // The sessions of its nodes and its shards move from a server that stops to the other one.
  await platform.change(0, base)
  await untilAtRest(platform)
  const { compared, lost } = compareMembers(before, await platform.dump(), ADDED_MEMBER)
  expect(lost).toEqual([])
  expect([...newerKinds].sort()).toEqual(expect.arrayContaining(KINDS))
  expect([...compared.keys()]).toEqual(expect.arrayContaining(['dep', 'place', 'node', 'cred']))
  const count = ([kind, records]: readonly [string, number]) => `${records} ${kind}`
  console.log(
    `kinds of records with a member of the newer build: ${[...newerKinds].sort().join(', ')}; kept in writes of ${base.name}: ${[...compared].map(count).join(', ')}`,
  )
})

test('a new form is written once the last base server has ended, and a base server then ends with 78', async () => {
  const newer = editedBuild('a new form of records', NEW_RECORD_FORM)
  const [first, second] = platform.servers
  await platform.change(0, newer)
  await untilAtRest(platform)
  await writeDeployment()
  expect(await formsOf('dep')).toEqual([1])
  // A killed server counts as alive for some seconds, one that ends gracefully does not.
  await (LONG ? second?.kill() : second?.terminate())
  const began = performance.now()
  const isWritten = async () => {
    await writeDeployment()
    return (await formsOf('dep')).includes(NEW_FORM.v)
  }
  await waitUntil(isWritten, { what: 'a record of the new form is written', intervalMs: 200 })
  const seconds = (performance.now() - began) / 1000
  console.log(
    `the new form was written ${seconds.toFixed(1)} s after the last base server ${LONG ? 'was killed' : 'had ended'}`,
  )
  expect(seconds).toBeLessThan(10)
  expect(await second?.exitCodeOf(base.folder)).toBe(78)
  expect(second?.output()).toContain(`Start version ${NEW_FORM.since} or later`)
  expect(findLogFaults(first?.output() ?? '')).toEqual([])
  newer.remove()
})

let written = 0
/** Writes a deployment without an effect on its containers. */
async function writeDeployment(): Promise<void> {
  written += 1
  const { status, text } = await platform.api.put(`${DEPLOYMENTS}/worker`, {
    stopGracePeriod: `${40 + written}s`,
  })
  expect(status, text).toBe(200)
}

/** The forms in which the records of a kind are stored. */
async function formsOf(kind: string): Promise<number[]> {
  const stored = Object.entries(await platform.dump()).filter(([key]) => kindOf(key) === kind)
  return [...new Set(stored.map(([, { value }]) => Number(Object(JSON.parse(value)).v)))].sort()
}
