// An update to an image that does not run is rolled back or paused automatically while clients use the previous revision,
// without a failed request. The events state the cause and the remedy. All cases run at once on one lab.

import { ownerOf, type TenantId } from '@holdfast/contract'
import { deployments } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { describeFailures, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { type Mask, storyOf } from '@holdfast/testkit/scenarios/timeline'
import { type ReadyWatch, watchReady } from '@holdfast/testkit/scenarios/watch-ready'
import { afterAll, beforeAll, expect, test } from 'vitest'

const REPLICAS = 2
/** Requests per second for each deployment, over the routers of all three nodes. */
const PER_SECOND = 40
/** Health check with the shortest interval that admission accepts. A healthy container has the file /well. */
const CHECK = {
  type: 'exec',
  interval: '5s',
  retries: 3,
  timeout: '10s',
  command: ['sh', '-c', 'test -e /well && nc -w 1 127.0.0.1 8080'],
}

const SERVE = "trap 'exit 0' TERM; httpd -f -p 8080 -h /www &"
const GOOD = `touch /well; ${SERVE} wait`

interface Broken {
  readonly name: string
  /** The script that the shell of the broken image's container runs. */
  readonly script: string
  readonly lacksLayer?: true
  /** If true, the test makes one replica of the broken revision unhealthy after all replicas of the revision serve. */
  readonly becomesUnhealthy?: true
  readonly masks?: readonly Mask[]
  readonly update: { readonly failureAction: 'rollback' | 'pause'; readonly progressDeadline: string }
  /** Least number of ready replicas during the update: one less if the test makes a ready replica unhealthy. */
  readonly fewestReady: number
}

const BROKEN: readonly Broken[] = [
  {
    name: 'crashes',
    script: "echo 'no configuration' >&2; exit 3",
    update: { failureAction: 'rollback', progressDeadline: '60s' },
    fewestReady: REPLICAS,
  },
  {
    name: 'never-healthy',
    script: `${SERVE} wait`,
    update: { failureAction: 'rollback', progressDeadline: '10s' },
    fewestReady: REPLICAS,
  },
  {
    name: 'unhealthy-later',
    script: GOOD,
    becomesUnhealthy: true,
    // Both replicas of the rollback start at once and either may be ready first, so the number of ready ones is masked.
    masks: [
      [
        /\d( of 2 replicas of revision 1) (?:is|are) ready(?:: the rollback is complete)?\./g,
        '<n>$1 are ready.',
      ],
    ],
    update: { failureAction: 'rollback', progressDeadline: '60s' },
    fewestReady: REPLICAS - 1,
  },
  {
    name: 'cannot-be-pulled',
    script: GOOD,
    lacksLayer: true,
    // Each engine line has its own words for the missing layer, and they name the digest.
    masks: [[/(Cause: image pull failed:) .*?\. (?=The replicas return|Revision 1 runs)/g, '$1 <error>. ']],
    update: { failureAction: 'rollback', progressDeadline: '15s' },
    fewestReady: REPLICAS,
  },
  {
    name: 'crashes-paused',
    script: "echo 'no configuration' >&2; exit 3",
    update: { failureAction: 'pause', progressDeadline: '60s' },
    fewestReady: REPLICAS,
  },
]

let cluster: LabPlatform
const loads = new Map<string, Load>()
const watches = new Map<string, ReadyWatch>()

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 3, globex: 1 } })
  await Promise.all(BROKEN.map(({ name }) => runGoodRevision(name)))
})
afterAll(async () => {
  for (const watch of watches.values()) watch.stop()
  await Promise.all([...loads.values()].map((load) => load.stop()))
  await cluster?.stop()
})

const pathOf = (name: string): string => `/api/v1/deployments/${name}`

function push(name: string, tag: string, script: string) {
  const image = { page: `${name} ${tag}`, command: ['/bin/sh', '-c', script] }
  return cluster.lab.registry.pushBusyboxImage(`acme/${name}`, tag, image)
}

/** On a busy machine the first revision may miss its short progress deadline; it is retried and becomes ready. */
const LATE_START: Mask = [/^error +deployment\.failed progress_deadline\n +Revision 1 failed .*\n/gm, '']

/** Deploys a working revision, waits until it is recorded as the last good revision, and starts the load. */
async function runGoodRevision(name: string): Promise<void> {
  const api = cluster.api('acme')
  const host = `${name}.example`
  const { reference } = await push(name, 'one', GOOD)
  const body = {
    kind: 'Deployment',
    name,
    image: reference,
    replicas: REPLICAS,
    healthCheck: CHECK,
    // A short progress deadline shortens the watch of a finished update, which never exceeds the progress deadline.
    update: { progressDeadline: '1s' },
    routes: [{ host, path: '/', port: 8080 }],
  }
  const { status, text } = await api.post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
  await untilPhase(api, name, 'Running')
  await waitUntil(() => lastGoodRevision(name) === 1, {
    what: `revision 1 of ${name} is the last good revision`,
  })
  const targets = cluster.lab.nodes
    .filter(({ tenant }) => tenant === 'acme')
    .map(({ address }) => `http://${address}:80`)
  await waitUntil(
    async () => (await Promise.all(targets.map((each) => answers(each, host)))).every(Boolean),
    {
      what: `every router serves ${host}`,
    },
  )
  watches.set(name, watchReady(cluster.platform.server.store, cluster.platform.acme.id, name))
  loads.set(name, startLoad({ targets, host, perSecond: PER_SECOND }))
}

function lastGoodRevision(name: string): number | undefined {
  const { store } = cluster.platform.server
  const tenant = cluster.platform.acme.id as TenantId
  const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
  return uid && store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.lastGood?.revision
}

async function answers(target: string, host: string): Promise<boolean> {
  const probe = startLoad({ targets: [target], host, perSecond: 20 })
  await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
  return (await probe.stop()).failures.length === 0
}

async function pushBroken({ name, script, lacksLayer }: Broken): Promise<string> {
  const { reference, digest } = await push(name, 'broken', script)
  if (lacksLayer === true) await removeLastLayer(`acme/${name}`, digest)
  return reference
}

/** Deletes an image layer that no other image has. The registry still serves the manifest of the image. */
async function removeLastLayer(repository: string, digest: string): Promise<void> {
  const call = (path: string, method: string) =>
    fetch(`${cluster.lab.registry.url}/v2/${repository}/${path}`, {
      method,
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
      signal: AbortSignal.timeout(10_000),
    })
  const manifest = await (await call(`manifests/${digest}`, 'GET')).json()
  const layers: { digest: string }[] = Object(manifest).layers
  expect((await call(`blobs/${layers.at(-1)?.digest}`, 'DELETE')).status).toBe(202)
  expect((await call(`manifests/${digest}`, 'GET')).status).toBe(200)
}

interface Placed {
  readonly replica: number
  readonly nodeName: string
  readonly containerId: string
  readonly revision: number
  readonly state: string
}

async function placedOf(name: string): Promise<Placed[]> {
  return Object((await cluster.api('acme').get(`${pathOf(name)}/placements`)).body['items'])
}

/** Makes a ready replica of the new revision unhealthy before the server has declared the update successful. */
async function becomeUnhealthy(name: string): Promise<void> {
  const serving = () => placedOf(name).then((all) => all.filter(isServing))
  const isServing = ({ revision, state }: Placed) => revision === 2 && state === 'ready'
  await waitUntil(async () => (await serving()).length === REPLICAS, {
    what: `revision 2 of ${name} serves`,
    timeoutMs: 60_000,
  })
  const one = (await serving()).find(({ replica }) => replica === 1)
  await cluster.node(one?.nodeName ?? '').exec(['docker', 'exec', one?.containerId ?? '', 'rm', '/well'])
}

/**
 * Waits until the failure is reported and only the previous revision runs. If the update was paused, one failed replica
 * of the new revision remains.
 */
async function untilReverted({ name, update }: Broken): Promise<void> {
  const held = update.failureAction === 'pause' ? 1 : 0
  const reason = held === 1 ? 'update_paused' : 'rollback'
  const api = cluster.api('acme')
  let seen: unknown
  await waitUntil(
    async () => {
      const { body } = await api.get(pathOf(name))
      const placed = await placedOf(name)
      seen = [body['status'], placed]
      const old = placed.filter(({ revision, state }) => revision === 1 && state === 'ready')
      const { phase, reason: reportedReason } = Object(body['status'])
      return (
        phase === 'Degraded' &&
        reportedReason === reason &&
        old.length === REPLICAS &&
        placed.length === REPLICAS + held
      )
    },
    { what: `${name} is ${reason}, with revision 1 running`, timeoutMs: 80_000 },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last state: ${JSON.stringify(seen)}`)
  })
}

function unnoticed({ name, fewestReady }: Pick<Broken, 'name' | 'fewestReady'>): void {
  const seen = loads.get(name)?.result()
  expect(seen?.failures, describeFailures(seen?.failures ?? [])).toEqual([])
  expect(seen?.answered).toBeGreaterThan(0)
  expect(watches.get(name)?.lowest()).toBeGreaterThanOrEqual(fewestReady)
}

test.concurrent.for(BROKEN)(
  '$name: failure action $update.failureAction',
  async (broken, { expect: expectHere }) => {
    const { name, update } = broken
    const api = cluster.api('acme')
    const image = await pushBroken(broken)
    const sent = await api.put(pathOf(name), { image, update })
    expect(sent.status, sent.text).toBe(200)
    if (broken.becomesUnhealthy === true) await becomeUnhealthy(name)
    await untilReverted(broken)
    await expectHere(await storyOf(api, name, [LATE_START, ...(broken.masks ?? [])])).toMatchFileSnapshot(
      `golden/timeline-${name}.txt`,
    )
    unnoticed(broken)
    // The stored revision is still the broken one that the client sent, and the next update clears the failure.
    expect((await api.get(pathOf(name))).body['revision']).toBe(2)
    const { reference } = await push(name, 'two', GOOD)
    expect((await api.put(pathOf(name), { image: reference, update: {} })).status).toBe(200)
    await untilPhase(api, name, 'Running')
    unnoticed({ name, fewestReady: REPLICAS })
  },
)

test('loses no request during all failed updates', async () => {
  const results = await Promise.all([...loads.values()].map((load) => load.stop()))
  const sum = (of: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + of(result), 0)
  const failed = sum(({ failures }) => failures.length)
  console.log(
    `${sum(({ sent }) => sent)} requests at ${PER_SECOND * BROKEN.length} a second over three routers: ${failed} failed`,
  )
  expect(sum(({ answered }) => answered)).toBe(sum(({ sent }) => sent))
})
