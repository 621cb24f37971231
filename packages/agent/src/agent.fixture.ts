// For the agent's tests on real engines: a node with an engine and a registry, a session whose server is the test itself,
// and desired items to send. One engine of each line serves all tests of a run; each test is a tenant of its own.

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import {
  type ContainerTemplate,
  type DesiredItem,
  decode,
  desiredItemShape,
  isTenantId,
  type NodeId,
  type Observation,
  type RoutedDeployment,
  type TenantId,
  ulid,
} from '@holdfast/contract'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { createDockerEngine } from './adapters/docker/docker-engine.ts'
import { type Agent, startAgent } from './agent.ts'
import type { SaidRole } from './node-role.ts'
import type { NodeState } from './node-state.ts'
import type { Engine } from './ports/engine.ts'
import type { RouterAdmin } from './ports/router.ts'
import type { RegistryCredential, Session, SessionOptions } from './ports/session.ts'

export function newTenant(): TenantId {
  const id = randomUUID()
  if (!isTenantId(id)) throw new Error('A UUID is no tenant id.')
  return id
}

let count = 0
const nextUlid = (): string => {
  count += 1
  const random = Buffer.alloc(10)
  random.writeUInt32BE(count, 6)
  return ulid(Date.now(), random)
}

/** An item as a server sends it; `template` over one that runs without a check. */
export function desiredItem(
  image: string,
  template: Partial<ContainerTemplate> = {},
  over: Partial<DesiredItem> = {},
): DesiredItem {
  return decode(desiredItemShape, {
    assignmentId: `rep_${nextUlid()}`,
    deployment: `dep_${nextUlid()}`,
    generation: 1,
    templateHash: 'sha256:0',
    desired: 'running',
    template: { name: 'web', image, environment: {}, labels: {}, stopGracePeriod: '2s', ...template },
    ...over,
  })
}

/** It runs; what has no check is called ready some seconds later, whether or not somebody has looked by then. */
export const isUp = ({ state }: Pick<Observation, 'state'>): boolean =>
  state === 'running' || state === 'ready'

export interface TestNode {
  readonly tenant: TenantId
  readonly folder: string
  readonly engine: Engine
  /** All that any agent of this node reported, in order. */
  readonly reports: Observation[]
  /** The lines that the agent logged. */
  readonly logged: string[]
  /** Each time that it told of containers that nobody wishes. */
  readonly orphans: string[][]
  /** As a session of the server begins. */
  welcome(said: SaidRole): void
  credential: RegistryCredential | undefined
  /** What the server answers for a container with secrets. */
  environment: Session['containerEnvironment']
  /** How far the clock of the node's next agents is ahead. */
  aheadMs: number
  /** A fresh agent on the node's state, as after a restart of its process; `over` stands between it and the engine. */
  start(over?: Engine, overRouter?: RouterAdmin): Promise<Agent>
  /** Under the next revision unless another is given. */
  send(
    items: readonly DesiredItem[],
    change?: { complete?: boolean; gone?: string[]; revision?: number; routes?: RoutedDeployment[] },
  ): void
  newest(item: DesiredItem): Observation | undefined
  until(item: DesiredItem, what: string, holds: (seen: Observation) => boolean): Promise<Observation>
  containersOf(item: DesiredItem): Promise<string[]>
  /** Removes every container of the node's tenant. */
  clear(): Promise<void>
}

/** `at`: of a node that another process knows as well. */
export function createTestNode(
  socketPath: string,
  router?: RouterAdmin,
  at: Pick<TestNode, 'tenant' | 'folder'> = { tenant: newTenant(), folder: makeTempFolder('agent').path },
): TestNode {
  const { tenant, folder } = at
  const engine = createDockerEngine(socketPath)
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(line) })
  const reports: Observation[] = []
  let session: SessionOptions | undefined
  let revision = 1000
  const state = testState(tenant, socketPath)
  const ownIds = async (): Promise<{ id: string; assignment: string | undefined }[]> =>
    (await engine.listContainers())
      .filter(({ labels }) => labels['holdfast.io/tenant'] === tenant)
      .map(({ id, labels }) => ({ id, assignment: labels['holdfast.io/assignment'] }))
  const newest = ({ assignmentId }: DesiredItem): Observation | undefined =>
    reports.findLast((one) => one.assignmentId === assignmentId)
  const node: TestNode = {
    tenant,
    folder,
    engine,
    reports,
    logged,
    orphans: [],
    welcome: (said) => session?.onWelcome?.(said),
    credential: undefined,
    environment: async () => ({ kind: 'unresolved', about: 'broker_unavailable' }),
    aheadMs: 0,
    start: (over = engine, overRouter = router) =>
      startAgent({
        state,
        folder,
        engine: over,
        log,
        startSession: (options) => open(options),
        ...(overRouter === undefined ? {} : { router: overRouter }),
        monotonicMs: () => performance.now() + node.aheadMs,
      }),
    send(items, { complete = true, gone = [], revision: given = revision + 1, routes } = {}) {
      revision = given
      session?.onDesired({ revision, complete, items, gone, ...(routes === undefined ? {} : { routes }) })
    },
    newest,
    until: (item, what, holds) =>
      waitUntil(
        () => {
          const seen = newest(item)
          return seen !== undefined && holds(seen) ? seen : undefined
        },
        { what: `${item.template.name} is ${what}` },
      ),
    containersOf: async ({ assignmentId }) =>
      (await ownIds()).filter(({ assignment }) => assignment === assignmentId).map(({ id }) => id),
    clear: async () => {
      for (const { id } of await ownIds()) await engine.removeContainer(id)
    },
  }
  const open = (options: SessionOptions): Session => {
    session = options
    return {
      report: (observations) => reports.push(...observations),
      reportOrphans: (names) => node.orphans.push([...names]),
      registryCredential: async () => node.credential,
      containerEnvironment: (id) => node.environment(id),
      close() {},
    }
  }
  return node
}

function testState(tenant: TenantId, socketPath: string): NodeState {
  const nodeId = `node_${nextUlid()}` as NodeId
  return {
    server: 'http://127.0.0.1:1',
    nodeId,
    nodeName: 'test',
    tenant,
    generation: 1,
    labels: {},
    engine: `unix://${socketPath}`,
    engineVersion: { version: '', apiVersion: '' },
    identityKey: generateKeyPairSync('ed25519').privateKey,
    encryptionKey: generateKeyPairSync('x25519').privateKey,
  }
}
