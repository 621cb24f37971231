// Two builds side by side: the base version, and the current tree with one more member in every object that it stores or
// sends. Two servers and three agents change between them, one process at a time, forward and back, under traffic. No
// record becomes unreadable, no container is recreated, no request fails. The base version is older than volumes: it is
// refused work with them by name, and no container is started without its mount. See docs/design/packages.md#two-builds

import { describeFailures, type Load, waitUntil } from '@holdfast/testkit'
import { type ApiTraffic, type Request, startApiTraffic } from '@holdfast/testkit/builds/api-traffic'
import { containersOf, untilAtRest } from '@holdfast/testkit/builds/at-rest'
import { type Build, baseBuild, editedBuild } from '@holdfast/testkit/builds/build'
import { createFailureSearch } from '@holdfast/testkit/builds/failed-requests'
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
import {
  readVolume,
  readWritten,
  type Starts,
  untilVolume,
  untilWriting,
  volumesPath,
  WRITER,
  watchStarts,
  writerOf,
} from '@holdfast/testkit/builds/volume-writer'
import {
  ALL,
  DEPLOYMENTS,
  deployWorkloads,
  HOSTS,
  routed,
  startRoutedLoad,
  UNTOUCHED,
  urlOf,
  type Workloads,
} from '@holdfast/testkit/builds/workloads'
import { LONG } from '@holdfast/testkit/long-run'
import { makeTenant } from '@holdfast/testkit/platform/start-platform'
import { inTurn } from '@holdfast/testkit/rotation'
import { containerIds, containersOn } from '@holdfast/testkit/scenarios/lab-reads'
import { afterAll, beforeAll, expect, test } from 'vitest'

const SIZE = LONG ? 'full size' : 'short form; npm run long visits all mixtures, twice'
const PROCESSES = 5
/**
 * The order of a rolling update of both servers and one agent, and the order of the way back. A CI run has one of them, in
 * turn.
 */
const ORDERS = [
  { forward: [0, 2, 1], back: [1, 2, 0] },
  { forward: [3, 0, 1], back: [0, 3, 1] },
  { forward: [1, 0, 4], back: [4, 1, 0] },
]
/** Ways from the base version to the newer build and back. The long run visits every mixture each way. */
const WAYS: readonly { readonly forward: readonly Mixture[]; readonly back: readonly Mixture[] }[] = LONG
  ? Array.from({ length: 2 }, () => ({ forward: everyMixture(5), back: everyMixture(5).toReversed() }))
  : inTurn('two-builds', ORDERS).map(({ forward, back }) => ({
      forward: rollingMixtures(forward, PROCESSES),
      back: rollingMixtures(back, PROCESSES).toReversed(),
    }))
const PATIENCE = { timeout: LONG ? 3_600_000 : 240_000 }
/** Kinds of records that the newer build must have written. Others are short-lived, or written once, by the base. */
const KINDS =
  'arc aud cred dep evt exec format idem join node obs place reg route shard slot tenant token why'.split(' ')
const PER_SECOND = 30
/** The writer is a single container, and the other loads continue beside it. */
const WRITER_PER_SECOND = 10

let base: Build
let tip: Build
let platform: BuildsPlatform
let workloads: Workloads
let loads: readonly Load[] = []
let traffic: ApiTraffic
/** Kinds of records that had a member of the newer build at some step. */
const newerKinds = new Set<string>()

beforeAll(async () => {
  base = baseBuild()
  tip = editedBuild('the current tree', ADDED_MEMBERS)
  platform = await startBuildsPlatform(base)
  workloads = await deployWorkloads(platform)
  await untilAtRest(platform)
  for (const host of HOSTS) loads = [...loads, await startRoutedLoad(platform, host, PER_SECOND)]
  traffic = startApiTraffic(platform.api, workloads.requestsOf)
}, 240_000)
afterAll(async () => {
  await traffic?.stop()
  await Promise.all(loads.map((load) => load.stop()))
  await Promise.all(starts.map((each) => each.stop()))
  await platform?.stop()
  base?.remove()
  tip?.remove()
})

/** Node, container and start time of each replica of the deployments. */
async function containersIn(names: readonly string[]): Promise<string[]> {
  const placed = await Promise.all(names.map((name) => containersOf(platform.api, name)))
  return placed
    .flatMap((each) => each.map((one) => `${one.nodeName} ${one.containerId} ${one.startedAt}`))
    .sort()
}

/**
 * Writes kinds of records that the changes and the traffic do not write. Called while both servers run the newer build. The
 * route is one of a tenant without nodes: a reload of a router under load may lose a request in any version.
 */
async function writeMoreKinds(): Promise<void> {
  const { admin, api, lab, servers } = platform
  const { token } = await makeTenant(admin, 'globex')
  const routes = [{ host: 'late.example', path: '/', port: 8080 }]
  const late = { kind: 'Deployment', name: 'late', image: workloads.image, replicas: 0, routes }
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

/** Log lines of the base version that refuses to start beside volumes, or to run a container with a mount. */
const REFUSALS = /Start version 0\.2\.0|"unsafe":\["Mounts","Mounts"\]/
const faultsOf = (process: number): string[] =>
  findLogFaults(platform.output(process)).filter((line) => !REFUSALS.test(line))

function expectNoFault(mixture: Mixture, reloaded: readonly string[]): void {
  for (const [process, name] of platform.processes.entries())
    expect(faultsOf(process), `${name} at ${nameOf(mixture)}`).toEqual([])
  expectNoFailure(reloaded)
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
    for (const { forward, back } of WAYS) {
      const path = [...forward, ...back.slice(1)]
      for (const [at, mixture] of path.slice(1).entries()) {
        const process = changedProcess(path[at] ?? [], mixture)
        await workloads.changeSomething(steps)
        await platform.change(process, mixture[process] === true ? tip : base)
        await untilAtRest(platform)
        expect(await containersIn(UNTOUCHED), nameOf(mixture)).toEqual(before)
        // Agents of the two builds configure their router differently.
        expectNoFault(mixture, platform.processes.slice(process, process + 1))
        if (mixture === WAYS[0]?.forward.at(-1)) await writeMoreKinds()
        await noteKinds()
        steps += 1
        seen.add(nameOf(mixture))
      }
    }
    const seconds = Math.round((performance.now() - began) / 1000)
    const results = loads.map((load) => load.result())
    const routed = results.reduce((sum, each) => sum + each.sent, 0)
    const resent = results.reduce((sum, each) => sum + each.resent.length, 0)
    const { sent, versionRefusals } = traffic.result()
    const causes = [...platform.api.repeated()].map(([cause, count]) => `${count} ${cause}`).join(', ')
    console.log(
      `${base.name} and ${tip.name}: ${seen.size} of 32 mixtures, ${steps} changes of a process in ${seconds} s (${SIZE}); ${routed} routed requests (${resent} sent twice at a reload), ${sent} API requests, 0 failed, ${versionRefusals} refused by version; repeated attempts: ${causes || 'none'}`,
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

const MIB = 1024 ** 2
let volume = ''
let starts: readonly Starts[] = []
const primaryNode = async () => platform.node((await readVolume(platform, volume)).primary?.nodeName ?? '')
const processOf = (name: string): number => platform.processes.indexOf(name)

/** Requests of a round with reads of volumes. */
const requestsWithVolumes = (round: number): Request[] => {
  const path = volumesPath(platform)
  const reads = [path, `${path}/${volume}`, `${path}/${volume}/why`]
  return [...workloads.requestsOf(round), ...reads.map((each) => ({ method: 'GET', path: each }))]
}

async function createAndDeleteVolume(step: number): Promise<void> {
  const body = { name: `brief-${step}`, class: 'ephemeral', sizeBytes: 16 * MIB }
  const created = await platform.api.post(volumesPath(platform), body)
  expect(created.status, created.text).toBe(201)
  const deleted = await platform.api.delete(`${volumesPath(platform)}/${Object(created.body['volume']).id}`)
  expect(deleted.status, deleted.text).toBeLessThan(300)
}

test('refuses volumes while a server of the base version runs, and names it', async () => {
  const { servers, token } = platform
  await platform.change(0, tip)
  const body = { name: 'data', class: 'replicated', sizeBytes: 64 * MIB, replicas: 1 }
  const [byNew, byBase] = await Promise.all(
    servers.map((server) => server.api(token).post(volumesPath(platform), body)),
  )
  expect(byNew?.codes).toEqual(['store_unavailable'])
  expect(byNew?.text).toMatch(/too old: \S+ \(0\.1\.0\)/)
  expect(byBase?.status, byBase?.text).toBe(404)
  await platform.change(1, tip)
  const created = await platform.api.post(volumesPath(platform), body)
  expect(created.status, created.text).toBe(201)
  volume = Object(created.body['volume']).id
  // No agent can hold a copy yet; the explanation names the version and what helps.
  expect((await readVolume(platform, volume)).phase).toBe('Pending')
  const why = await platform.api.get(`${volumesPath(platform)}/${volume}/why`)
  expect(why.text).toContain('agent_lacks_capability')
  expectNoFailure()
})

test('a base server ends with 78 once a volume exists, and the others continue', async () => {
  const [, second] = platform.servers
  await second?.terminate()
  expect(await second?.exitCodeOf(base.folder)).toBe(78)
  expect(second?.output()).toContain('Start version 0.2.0 or later')
  await second?.start(tip.folder)
  expectNoFailure()
})

test('places copies and writers only on nodes with a newer agent', async () => {
  starts = platform.lab.nodes.map(watchStarts)
  await platform.change(2, tip)
  const { primary } = await untilVolume(
    platform,
    volume,
    'the volume is ready',
    ({ phase }) => phase === 'Ready',
  )
  expect(primary?.nodeName).toBe(platform.processes[2])
  await platform.change(3, tip)
  await untilReplicated()
  await workloads.deploy({ ...writerOf(volume), ...routed(WRITER) })
  await untilAtRest(platform)
  await untilWriting(await primaryNode(), volume)
  const { copies } = await readVolume(platform, volume)
  expect(copies.map(({ nodeName }) => nodeName).sort()).toEqual(platform.processes.slice(2, 4))
  // The writer has a route, which every router serves.
  expectNoFailure(platform.processes)
})

async function untilReplicated(): Promise<void> {
  await untilVolume(
    platform,
    volume,
    'the volume has a current replica',
    ({ phase, reason, copies }) => phase === 'Ready' && reason === null && copies.length === 2,
  )
}

test('an agent that goes back to the base version keeps the data and creates no container without it', async () => {
  const node = await primaryNode()
  const process = processOf(node.name)
  await platform.change(process, base)
  const reasons = async () => (await platform.api.get(`${DEPLOYMENTS}/${WRITER}/placements`)).text
  await waitUntil(async () => (await reasons()).includes('agent_version'), {
    what: 'the replica waits for a newer agent',
    timeoutMs: 60_000,
  })
  await untilVolume(platform, volume, 'the volume waits too', ({ reason }) => reason === 'agent_version')
  const listed = await Promise.all(platform.lab.nodes.map(({ name }) => containersOn(platform, name)))
  expect(listed.flat().filter((line) => line.startsWith(WRITER))).toEqual([])
  const before = await readWritten(node, volume)
  await platform.change(process, tip)
  await untilReplicated()
  await untilAtRest(platform)
  await untilWriting(node, volume)
  const { numbers } = await readWritten(node, volume)
  expect(numbers.slice(0, before.numbers.length)).toEqual(before.numbers)
  expectNoFailure([node.name])
})

test('a writer keeps its container and its volume while processes change to another build', async () => {
  const load = await startRoutedLoad(platform, 'writer.example', WRITER_PER_SECOND)
  loads = [...loads, load]
  traffic = startApiTraffic(platform.api, requestsWithVolumes)
  const head = editedBuild('the current tree, unedited', [])
  const before = await containersIn([...UNTOUCHED, WRITER])
  // The agent of the writer, and before it a server or the agent of the other copy, in turn.
  const some = inTurn('two-builds', [0, 1, 3]).flatMap((process) => [process, 2])
  const path = LONG ? everyMixture(PROCESSES) : rollingMixtures([...new Set(some)], PROCESSES)
  for (const [at, mixture] of path.slice(1).entries()) {
    const process = changedProcess(path[at] ?? [], mixture)
    await workloads.changeSomething(at)
    await createAndDeleteVolume(at)
    await platform.change(process, mixture[process] === true ? head : tip)
    await untilAtRest(platform)
    expect(await containersIn([...UNTOUCHED, WRITER]), nameOf(mixture)).toEqual(before)
    // The last agent is of the base version until it changes.
    expectNoFault(mixture, platform.processes.slice(-1))
  }
  await traffic.stop()
  await load.stop()
  loads = loads.filter((each) => each !== load)
  const { starts: noted, numbers } = await readWritten(await primaryNode(), volume)
  const started = starts.flatMap((each) => each.ids())
  expect(started.length).toBeGreaterThanOrEqual(2)
  expect(started.filter((id) => !noted.includes(id))).toEqual([])
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  console.log(
    `volumes in two builds: ${path.length - 1} changes of a process, ${load.result().sent} requests to the writer, 0 failed; ${started.length} starts of its container, all with its mount; ${numbers.length} numbers in order`,
  )
  head.remove()
})

const findFailures = createFailureSearch()
/** `reloaded`: the names of the nodes whose routers were reloaded. */
function expectNoFailure(reloaded: readonly string[] = []): void {
  const nodes = platform.lab.nodes.filter(({ name }) => reloaded.includes(name))
  const routers = nodes.map(({ address }) => urlOf(address))
  const found = findFailures(loads, routers)
  expect(found, describeFailures(found)).toEqual([])
}

test('a new form is written once the last older server has ended, and an older server then ends with 78', async () => {
  const newer = editedBuild('a new form of records', NEW_RECORD_FORM)
  const [first, second] = platform.servers
  await platform.change(0, newer)
  await untilAtRest(platform)
  await writeDeployment()
  expect(await formsOf('dep')).toEqual([1])
  // A killed server counts as alive for some seconds, one that ends gracefully does not.
  await (LONG ? second?.kill() : second?.terminate())
  const isWritten = async () => {
    await writeDeployment()
    return (await formsOf('dep')).includes(NEW_FORM.v)
  }
  await waitUntil(isWritten, { what: 'a record of the new form is written', intervalMs: 200 })
  expect(await second?.exitCodeOf(tip.folder)).toBe(78)
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
