// A platform for rotating credentials: the normal API, controllers and the rotation loop on a separate store, and
// simulated agents that prove which version they run. A watcher checks the guarantee of a rotation: no container that
// should run uses a version that its credential does not list.

import {
  type Assignment,
  type ContainerTemplate,
  type DeploymentUid,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { type RotationLoopDeps, startRotations } from '@holdfast/server/loops/rotations'
import {
  containerProof,
  containerVersions,
  knownProofKey,
  proofKeyOf,
} from '@holdfast/server/operations/secrets/rotation/proof'
import {
  credentials,
  deployments,
  placements,
  type StoredCredential,
  type StoredDeployment,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { sharedEtcd, sharedSecretsStore } from '@holdfast/testkit'
import { expect } from 'vitest'
import { type ObedientAgents, type Report, startObedientAgents } from '../controllers/obedient-agents.ts'
import { addNodes, aNode, type Controllers, startControllers } from '../controllers/placing-world.ts'
import { scaledTimings } from '../controllers/timings.ts'
import type { ApiAnswer, ApiClient } from '../platform/api-client.ts'
import { type Platform, startPlatform } from '../platform/start-platform.ts'
import { openTestStore } from '../store/open-test-store.ts'
import { at, DEPLOYMENTS } from './secrets-world.ts'
import { createStoreEye, type StoreEye } from './store-eye.ts'

/** Start of a clock with 150 times the real speed, so that the 15 s watch of a new revision takes a tenth of a second. */
const BEGAN = Date.now()
const swift = { now: () => Date.now() * 150 - BEGAN * 149 }
const QUICK = scaledTimings(0.02)
const CHECK_MS = 20

type Behave = (template: ContainerTemplate, assignment: Assignment) => Report

export interface RotatingWorld {
  readonly platform: Platform
  readonly store: Store
  readonly tenant: TenantId
  readonly api: ApiClient
  readonly eye: StoreEye
  readonly violations: readonly string[]
  write(label: string, values?: object): Promise<ApiAnswer>
  /**
   * Creates a deployment, and simulated agents for its replicas. `behave` returns the report of a replica, by default
   * that the replica is ready. A proof of the secrets version is added to each report.
   */
  deploy(name: string, labels: readonly string[], replicas?: number, behave?: Behave): Promise<ObedientAgents>
  rotate(name: string, body: object, headers?: { [name: string]: string }): Promise<ApiAnswer>
  credential(label: string): StoredCredential | undefined
  deployment(name: string): StoredDeployment | undefined
  /** Waits until all replicas of the deployment's newest revision are ready and no other revision has replicas. */
  settled(name: string): Promise<void>
  stopControllers(): Promise<void>
  startControllers(replica: string): void
  stop(): Promise<void>
}

/** Starts the platform. With `moves: false`, the test itself changes the version that consumers use. */
export async function startRotatingWorld({ moves = true } = {}): Promise<RotatingWorld> {
  const platform = await startPlatform({ settings: { volumes: { enabled: true } } })
  const { endpoints } = await sharedEtcd()
  const opened = await openTestStore({ endpoints, root: platform.root })
  const { store } = opened
  const tenant = platform.acme.id as TenantId
  const api = platform.api(platform.acme.token)
  await proofKeyOf(store, ids)
  await addNodes(store, tenant, aNode('n1'), aNode('n2'), aNode('n3'))
  const agents: ObedientAgents[] = []
  const violations: string[] = []
  const unwatch = store.subscribe(() => violations.push(...broken(store, tenant)))
  let running = startAll(store, 'first', moves)
  const credential = (label: string) => store.get(inTenant(tenant, credentials, label))?.record
  const deployment = (name: string) => store.get(inTenant(tenant, deployments, name))?.record
  // Requests go to the platform's server, but tests read this separate store, so each request waits until it is current.
  const seen = (request: Promise<ApiAnswer>) => request.finally(() => store.fresh())
  return {
    platform,
    store,
    tenant,
    api,
    violations,
    credential,
    deployment,
    eye: createStoreEye({ ...(await sharedSecretsStore()), tenant }),
    write: (label, values = { password: 'first' }) => seen(api.put(at(label), { values })),
    async deploy(name, labels, replicas = 2, behave = () => ({})) {
      const uid = await create(platform, api, name, labels, replicas)
      const own = startObedientAgents(store, tenant, uid, proving(store, tenant, behave))
      agents.push(own)
      return own
    },
    rotate: (name, body, headers) => seen(api.post(`${DEPLOYMENTS}/${name}/secrets/rotate`, body, headers)),
    async settled(name) {
      await expect.poll(() => isSettled(store, tenant, deployment(name)), { timeout: 20_000 }).toBe(true)
    },
    stopControllers: () => running.stop(),
    startControllers(replica) {
      running = startAll(store, replica, moves)
    },
    async stop() {
      unwatch()
      await Promise.all(agents.map((each) => each.stop()))
      await running.stop()
      opened.close()
      await platform.stop()
    },
  }
}

function startAll(store: Store, replica: string, moves: boolean): { stop(): Promise<void> } {
  const controllers: Controllers = startControllers(store, { replica, timings: QUICK, clock: swift })
  const { leadership, errors } = controllers
  const rotations = moves ? startMoves(store, leadership, errors) : undefined
  return {
    async stop() {
      await rotations?.stop()
      await controllers.stop()
      expect(errors).toEqual([])
    },
  }
}

export function startMoves(
  store: Store,
  leadership: RotationLoopDeps['leadership'],
  errors: unknown[],
): { stop(): Promise<void> } {
  return startRotations({
    store,
    clock: swift,
    leadership,
    archiveRevisions: 50,
    callMeasure: async () => 'unreachable',
    checkMs: CHECK_MS,
    onError: (error) => errors.push(error),
  })
}

async function create(
  { image }: Platform,
  api: ApiClient,
  name: string,
  labels: readonly string[],
  replicas: number,
): Promise<DeploymentUid> {
  const secrets = labels.map((label, index) => ({
    name: `S${index}`,
    vault_path: `resources/${label}`,
    anchor: 'external',
  }))
  const update = { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '1h' }
  const body = { kind: 'Deployment', name, image, replicas, secrets, update }
  const answer = await api.post(DEPLOYMENTS, body)
  if (answer.status !== 201) throw new Error(`creating the deployment failed: ${answer.text}`)
  return Object(answer.body['deployment'])['uid']
}

/** Adds to a report the proof of the secrets version that the broker would have sent with the environment. */
function proving(store: Store, tenant: TenantId, behave: Behave): Behave {
  const initial = (label: string) => store.get(inTenant(tenant, credentials, label))?.record.initial
  return (template, assignment) => {
    const made = containerVersions(template.secrets ?? [], initial)
    const key = knownProofKey(store)
    const report = behave(template, assignment)
    if (made === undefined || key === undefined || report === undefined) return report
    return { proof: containerProof(key, assignment.id, made), ...report }
  }
}

function isSettled(store: Store, tenant: TenantId, stored: StoredDeployment | undefined): boolean {
  const placement = stored && store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))?.record
  if (stored === undefined || placement === undefined) return false
  const { assignments, lastGood, rollout } = placement
  const all = assignments.length === stored.spec.replicas
  return (
    all &&
    rollout === undefined &&
    lastGood?.revision === stored.revision &&
    assignments.every(({ desired }) => desired === 'running')
  )
}

/**
 * Returns violations: containers that should run with a version that their credential does not list. Unlisted versions
 * are destroyed, or about to be destroyed.
 */
function broken(store: Store, tenant: TenantId): string[] {
  return store.list(placements, tenant).flatMap(({ record: { name, templates } }) =>
    Object.values(templates).flatMap(({ secrets = [] }) =>
      secrets.flatMap(({ label, version }) => {
        const credential = store.get(inTenant(tenant, credentials, label))?.record
        const used = version ?? credential?.initial
        const listed = credential?.versions.some((each) => each.version === used) === true
        return listed || used === undefined || used === null
          ? []
          : [`${name} has version ${used} of ${label}`]
      }),
    ),
  )
}
