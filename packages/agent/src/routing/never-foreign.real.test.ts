// A route never serves another deployment's container. Random histories run on a real Caddy that receives requests all
// the time, and its configuration and files are read after each step.
//
// Every deployment has its own hosts, so an answer shows which deployment's container sent it. One shared host moves
// between deployments: any deployment that had it since Caddy was last known to serve the current routes may answer.

import { env } from 'node:process'
import type { AssignmentId, DeploymentUid } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roundsOf } from '../fixtures/rounds.fixture.ts'
import { routedDeployment, type SmallNode, startSmallNode } from './never-foreign.fixture.ts'

const STEPS = roundsOf('never-foreign', { fewest: 50, usual: 200, long: 10_000 })
const SEED = Number(env.HOLDFAST_SEED ?? Date.now() % 2 ** 31)
const NAMES = ['api', 'web', 'web-2', 'job'] as const
const SHARED = 'shared.test'
const PATHS = ['/', '/a/b']
/** Time after which the agent reuses an address that is no longer routed to. */
const WHILE_MS = 31_000

type Kind =
  | 'create'
  | 'ready'
  | 'unready'
  | 'end'
  | 'vanish'
  | 'route'
  | 'unroute'
  | 'rename'
  | 'share'
  | 'settle'
  | 'wait'
  | 'kill Caddy'
  | 'stop Caddy'
  | 'restart agent'
interface Step {
  readonly kind: Kind
  readonly of: number
  readonly more: number
}
const weighted = (weight: number, ...kinds: Kind[]) =>
  kinds.map((kind) => ({ arbitrary: fc.constant(kind), weight }))
const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...weighted(6, 'create', 'ready'),
    ...weighted(4, 'route'),
    ...weighted(3, 'end', 'stop Caddy'),
    ...weighted(2, 'vanish', 'share', 'unroute', 'wait', 'restart agent'),
    ...weighted(1, 'unready', 'rename', 'kill Caddy', 'settle'),
  ),
  of: fc.nat({ max: 11 }),
  more: fc.nat({ max: 17 }),
})

let node: SmallNode
beforeAll(async () => {
  node = await startSmallNode()
})
afterAll(() => node.close())

/** The uid of the current deployment, by deployment name. */
const uids = new Map<string, DeploymentUid>()
let deployments = 0
function newUid(): DeploymentUid {
  deployments += 1
  return `dep_${String(deployments).padStart(6, '0')}` as unknown as DeploymentUid
}
/** Names of the deployments that had the shared host since Caddy was last known to serve the current routes. */
let sharers = new Set<string>()
const foreign: string[] = []
const counts = { requests: 0, served: 0 }

const ownHosts = (name: string): string[] => [`${name}.test`, `other.${name}.test`]
const nameOf = (of: number): (typeof NAMES)[number] => NAMES[of % NAMES.length] ?? 'web'
let holders = 0
function newHolder(): AssignmentId {
  holders += 1
  return `rep_${holders}` as unknown as AssignmentId
}
const uidOf = (name: string): DeploymentUid => {
  const uid = uids.get(name) ?? newUid()
  uids.set(name, uid)
  return uid
}

function setRoutes(name: string, more: number, shared: boolean): void {
  const deployment = uidOf(name)
  const before = node.table.get(deployment)?.routes.some(({ host }) => host === SHARED) ?? false
  const [one, two] = ownHosts(name)
  const port = (at: number): number => node.ports[at % 2] ?? 0
  const path = (at: number): string => PATHS[at % 2] ?? '/'
  const routes = [
    { host: one, path: path(more), port: port(more) },
    ...(more % 4 > 1 ? [{ host: two, path: '/', port: port(more >> 1) }] : []),
    ...(more % 5 > 3 ? [{ host: one, path: '/c', port: port(more + 1) }] : []),
    ...(shared || before ? [{ host: SHARED, path: '/', port: port(more) }] : []),
  ]
  node.table.set(deployment, routedDeployment({ deployment, name, routes, peers: [] }))
  if (shared || before) sharers.add(name)
}

function share(name: string, more: number): void {
  for (const [uid, entry] of node.table)
    node.table.set(uid, { ...entry, routes: entry.routes.filter(({ host }) => host !== SHARED) })
  setRoutes(name, more, true)
}

/** Deletes the deployment and creates another with the same name; containers of the deleted one remain for a while. */
function rename(name: string, more: number): void {
  node.table.delete(uidOf(name))
  uids.set(name, newUid())
  setRoutes(name, more, false)
}

const pick = <T>(all: readonly T[], at: number): T | undefined => all[at % Math.max(1, all.length)]
const isAwayOf = { caddy: false }

async function perform({ kind, of, more }: Step): Promise<void> {
  const name = nameOf(of)
  const container = pick([...node.containers.values()], of)
  const unready = pick(
    [...node.containers.values()].filter(({ state }) => state !== 'serves'),
    of,
  )
  const { router } = node.life()
  if (kind === 'create') await node.create(newHolder(), uidOf(name), name)
  if (kind === 'ready' && unready !== undefined) unready.state = 'serves'
  if (kind === 'unready' && container !== undefined) container.state = 'out'
  if (kind === 'ready' || kind === 'unready') router.nudge()
  if (kind === 'end' && container !== undefined) {
    await router.withdraw(container.address, container.id, 1000)
    node.vanish(container.holder)
  }
  if (kind === 'vanish' && container !== undefined) node.vanish(container.holder)
  if (kind === 'route') setRoutes(name, more, false)
  if (kind === 'unroute') node.table.delete(uidOf(name))
  if (kind === 'rename') rename(name, more)
  if (kind === 'share') share(name, more)
  if (['route', 'unroute', 'rename', 'share'].includes(kind)) node.sendRoutes()
  if (kind === 'wait') node.aheadMs += WHILE_MS
  if (kind === 'restart agent') await node.restartAgent(more % 4)
  await disturbCaddy(kind)
  if (kind === 'settle') await settle()
}

async function disturbCaddy(kind: Kind): Promise<void> {
  if (kind === 'kill Caddy' && !isAwayOf.caddy) await node.caddy.kill()
  if (kind !== 'stop Caddy') return
  // The test alternately stops Caddy for some steps and starts Caddy again from its files.
  if (isAwayOf.caddy) await node.caddy.start()
  else await node.caddy.stop()
  isAwayOf.caddy = !isAwayOf.caddy
}

/** Waits until Caddy serves and has saved the current routes, and no longer answers with earlier routes. */
async function settle(): Promise<void> {
  if (isAwayOf.caddy) await node.caddy.start()
  isAwayOf.caddy = false
  await waitUntil(async () => (await node.readConfig()) !== undefined, { what: 'Caddy answers' })
  const routed = [...node.table.values()].filter(({ routes }) => routes.length > 0)
  const desired = summary(routed.map(({ name, routes }) => ({ name, text: JSON.stringify(routes) })))
  await waitUntil(
    async () => {
      await node.life().router.applied(5000)
      return summary(await node.readConfig()) === desired && summary(node.readSavedConfig()) === desired
    },
    { what: 'Caddy has the routes' },
  )
  const owners = routed.filter(({ routes }) => routes.some(({ host }) => host === SHARED))
  sharers = new Set(owners.map(({ name }) => name))
  // Caddy reports a load as done just before it closes the listener of the previous configuration.
  await waitUntil(
    async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => node.ask(SHARED, '/c')))
      return answers.every((answer) => answer?.status !== 200 || sharers.has(answer.text.split(' ')[0] ?? ''))
    },
    { what: 'the previous routes are no longer served' },
  )
}

/** The names of the routed deployments, with a mark at the deployment that has the shared host. */
const summary = (routed: readonly { name: string; text: string }[]): string =>
  routed
    .map(({ name, text }) => `${name}${text.includes(`"${SHARED}"`) ? ' shares' : ''}`)
    .toSorted()
    .join()

async function askAll(when: string, isSettled: boolean): Promise<void> {
  const hosts = [
    ...NAMES.flatMap((name) => ownHosts(name).map((host) => ({ host, names: new Set([name as string]) }))),
  ]
  const requests = [...hosts, { host: SHARED, names: sharers }].flatMap(({ host, names }) =>
    ['/a/b', '/c'].map(async (path) => {
      const answer = await node.ask(host, path)
      counts.requests += 1
      if (answer?.status !== 200) return
      counts.served += 1
      const [name = '', uid = ''] = answer.text.split(' ')
      const isOld = isSettled && uids.get(name) !== (uid as unknown)
      if (!names.has(name) || isOld) foreign.push(`${when}: ${host}${path} is answered by ${answer.text}`)
    }),
  )
  await Promise.all(requests)
}

/** Checks Caddy's configuration and files: no route contains the hosts, files or containers of another deployment. */
async function readAll(when: string): Promise<void> {
  const owners = new Map([...node.containers.values()].map(({ address, name }) => [address, name]))
  for (const { name, line } of node.readUpstreamLines())
    for (const address of new Set(line.match(/\d+\.\d+\.\d+\.\d+/g) ?? []))
      if ((owners.get(address) ?? name) !== name)
        foreign.push(`${when}: ${name} is routed to ${address} of ${owners.get(address)}`)
  if (isAwayOf.caddy) return
  for (const { name, text } of await node.readConfig())
    for (const other of NAMES)
      if (other !== name && (text.includes(`"${other}.test"`) || text.includes(`/${other}.`)))
        foreign.push(`${when}: the route of ${name} names ${other}`)
}

test(`no history makes a route serve another deployment's container (seed ${SEED})`, {
  timeout: LONG ? 3_600_000 : 120_000,
}, async () => {
  const begun = performance.now()
  const done = new Map<Kind, number>()
  const steps = fc.sample(stepArbitrary, { numRuns: STEPS, seed: SEED })
  for (const [at, step] of steps.entries()) {
    const when = `step ${at}, ${step.kind} ${nameOf(step.of)} ${step.of}`
    const concurrent = askAll(`${when}, concurrently`, false)
    await perform(step)
    await concurrent
    await askAll(when, step.kind === 'settle')
    await readAll(when)
    done.set(step.kind, (done.get(step.kind) ?? 0) + 1)
    expect(foreign).toEqual([])
  }
  await settle()
  await askAll('at the end', true)
  expect(foreign).toEqual([])
  // The expected number of served requests is small, because few requests are served if Caddy is stopped for long.
  expect(counts.served).toBeGreaterThan(STEPS / 20)
  process.stdout.write(
    `${STEPS} steps in ${Math.round(performance.now() - begun)} ms (seed ${SEED}): ${counts.requests} requests, ${counts.served} served, none foreign; ${[...done].map(([kind, count]) => `${kind} ${count}`).join(', ')}\n`,
  )
})
