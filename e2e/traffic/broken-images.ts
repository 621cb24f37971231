// An update to an image that does not run is rolled back or paused automatically while clients use the previous revision,
// without a failed request. The events state the cause and the remedy. All cases run at once.

import { defined, ownerOf, type TenantId } from '@holdfast/contract'
import { deployments } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { hostOf } from '@holdfast/testkit/scenarios/routed-page'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { type Mask, storyOf } from '@holdfast/testkit/scenarios/timeline'
import type { Traffic } from '@holdfast/testkit/scenarios/traffic'
import { describe, expect, test } from 'vitest'

const REPLICAS = 2
/** Requests per second for each deployment, over the routers of all nodes. */
const PER_SECOND = inRun(15, 40)
/** A healthy container has the file /well. The agent checks a new container at once, whatever the interval. */
const CHECK = {
  type: 'exec',
  interval: '30s',
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
  /** The interval of the health check if a failed check decides; the shortest that admission accepts. */
  readonly interval?: '5s'
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
    interval: '5s',
    script: `${SERVE} wait`,
    update: { failureAction: 'rollback', progressDeadline: '20s' },
    fewestReady: REPLICAS,
  },
  {
    name: 'unhealthy-later',
    interval: '5s',
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
    update: { failureAction: 'rollback', progressDeadline: '20s' },
    fewestReady: REPLICAS,
  },
  {
    name: 'crashes-paused',
    script: "echo 'no configuration' >&2; exit 3",
    update: { failureAction: 'pause', progressDeadline: '60s' },
    fewestReady: REPLICAS,
  },
]

/** On a busy machine the first revision may miss its short progress deadline; it is retried and becomes ready. */
const LATE_START: Mask = [/^error +deployment\.failed progress_deadline\n +Revision 1 failed .*\n/gm, '']
/** Another suite on this lab cordons its nodes, which the timelines of all deployments on them show. */
const CORDONS: Mask = [/^info +node\.cordoned (?:un)?cordoned\n .*\n/gm, '']

const pathOf = (name: string): string => `/api/v1/deployments/${name}`

/** Runs beside other concurrent suites. */
export function testBrokenImages(cluster: () => LabPlatform, traffic: () => Traffic): void {
  describe('an update to a broken image', { concurrent: true }, () => {
    test.for(BROKEN)(
      '$name: failure action $update.failureAction',
      { timeout: 300_000 },
      async (broken, { expect: expectHere }) => {
        const { name, update, fewestReady } = broken
        const api = cluster().api('acme')
        await traffic().begin(name, PER_SECOND)
        const image = await pushBroken(cluster(), broken)
        const sent = await api.put(pathOf(name), { image, update })
        expect(sent.status, sent.text).toBe(200)
        if (broken.becomesUnhealthy === true) await becomeUnhealthy(cluster(), name)
        await untilReverted(cluster(), broken)
        await expectHere(
          await storyOf(api, name, [LATE_START, CORDONS, ...(broken.masks ?? [])]),
        ).toMatchFileSnapshot(`golden/timeline-${name}.txt`)
        traffic().expectUnnoticed(name, fewestReady)
        // The stored revision is still the broken one that the client sent, and the next update clears the failure.
        expect((await api.get(pathOf(name))).body['revision']).toBe(2)
        const { reference } = await push(cluster(), name, 'two', GOOD)
        expect((await api.put(pathOf(name), { image: reference, update: {} })).status).toBe(200)
        await untilPhase(api, name, 'Running')
        traffic().expectUnnoticed(name, REPLICAS)
      },
    )
  })
}

/** Deploys a working revision for each case. */
export async function deployGoodRevisions(cluster: LabPlatform): Promise<void> {
  await Promise.all(BROKEN.map((broken) => runGoodRevision(cluster, broken)))
}

function push({ lab }: LabPlatform, name: string, tag: string, script: string) {
  const image = { page: `${name} ${tag}`, command: ['/bin/sh', '-c', script] }
  return lab.registry.pushBusyboxImage(`acme/${name}`, tag, image)
}

/** Deploys a working revision, and waits until it is recorded as the last good revision. */
async function runGoodRevision(cluster: LabPlatform, { name, interval }: Broken): Promise<void> {
  const api = cluster.api('acme')
  const { reference } = await push(cluster, name, 'one', GOOD)
  const body = {
    kind: 'Deployment',
    name,
    image: reference,
    replicas: REPLICAS,
    healthCheck: { ...CHECK, ...defined({ interval }) },
    // A short progress deadline shortens the watch of a finished update, which never exceeds the progress deadline.
    update: { progressDeadline: '1s' },
    routes: [{ host: hostOf(name), path: '/', port: 8080 }],
  }
  const { status, text } = await api.post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
  await untilPhase(api, name, 'Running')
  await waitUntil(() => lastGoodRevision(cluster, name) === 1, {
    what: `revision 1 of ${name} is the last good revision`,
  })
}

function lastGoodRevision({ store, platform }: LabPlatform, name: string): number | undefined {
  const tenant = platform.acme.id as TenantId
  const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
  return uid && store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.lastGood?.revision
}

async function pushBroken(cluster: LabPlatform, { name, script, lacksLayer }: Broken): Promise<string> {
  const { reference, digest } = await push(cluster, name, 'broken', script)
  if (lacksLayer === true) await removeLastLayer(cluster, `acme/${name}`, digest)
  return reference
}

/** Deletes an image layer that no other image has. The registry still serves the manifest of the image. */
async function removeLastLayer({ lab }: LabPlatform, repository: string, digest: string): Promise<void> {
  const call = (path: string, method: string) =>
    fetch(`${lab.registry.url}/v2/${repository}/${path}`, {
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

async function placedOf(cluster: LabPlatform, name: string): Promise<Placed[]> {
  return Object((await cluster.api('acme').get(`${pathOf(name)}/placements`)).body['items'])
}

/** Makes a ready replica of the new revision unhealthy before the server has declared the update successful. */
async function becomeUnhealthy(cluster: LabPlatform, name: string): Promise<void> {
  const isServing = ({ revision, state }: Placed) => revision === 2 && state === 'ready'
  const serving = async () => (await placedOf(cluster, name)).filter(isServing)
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
async function untilReverted(cluster: LabPlatform, { name, update }: Broken): Promise<void> {
  const held = update.failureAction === 'pause' ? 1 : 0
  const reason = held === 1 ? 'update_paused' : 'rollback'
  let seen: unknown
  await waitUntil(
    async () => {
      const { body } = await cluster.api('acme').get(pathOf(name))
      const placed = await placedOf(cluster, name)
      seen = [body['status'], placed]
      const old = placed.filter(({ revision, state }) => revision === 1 && state === 'ready')
      const { phase, reason: reportedReason } = Object(body['status'])
      const isReported = phase === 'Degraded' && reportedReason === reason
      return isReported && old.length === REPLICAS && placed.length === REPLICAS + held
    },
    {
      what: `${name} is ${reason}, with revision 1 running`,
      timeoutMs: 120_000,
      seen: () => `Last state: ${JSON.stringify(seen)}`,
    },
  )
}
