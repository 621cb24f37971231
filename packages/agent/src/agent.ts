// The agent, put together: the session brings desired sets, the converging loop acts on them, the observer puts what it sees
// on the board, and the board reports through the session. Stopping it leaves every container as it is.

import { availableParallelism } from 'node:os'
import { engineWarnings, type MachineContainer } from '@holdfast/contract'
import { readOwnLabels } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type ConvergeDeps, type Converger, startConverging } from './converge/converge.ts'
import { createRequisites } from './converge/requisites.ts'
import { startObserving } from './observe/observe.ts'
import { createReadiness } from './observe/readiness.ts'
import { createReplicaStatusTable, type ReplicaStatusTable } from './observe/replica-status-table.ts'
import type { Engine } from './ports/engine.ts'
import type { RouterAdmin } from './ports/router.ts'
import type { Session, StartSession } from './ports/session.ts'
import { type Routing, startRouting } from './routing/start-routing.ts'
import { openDesiredFile } from './state/desired-file.ts'
import { machineFacts } from './state/machine.ts'
import { createNodeRole } from './state/node-role.ts'
import { countStart, type NodeState } from './state/node-state.ts'
import { createSessionStreams } from './streams/node-streams.ts'

/** Creates and starts at once: more only take longer. */
const WORK_PER_CORE = 2

export interface AgentOptions {
  readonly state: NodeState
  /** Where the node's state is kept. */
  readonly folder: string
  readonly engine: Engine
  readonly startSession: StartSession
  /** Undefined: this node routes nothing. */
  readonly router?: RouterAdmin
  /** Where its router takes what other nodes of the tenant forward. */
  readonly peerAddress?: string
  readonly concurrency?: number
  /** Milliseconds of a clock that never goes back; that of the process unless given. */
  monotonicMs?(): number
  readonly log: Logger
}

export interface Agent {
  close(): Promise<void>
}

export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { state, folder, engine, log } = options
  const file = openDesiredFile(folder, state, (error) =>
    log.error({ message: String(error) }, 'the kept desired set cannot be used'),
  )
  const starts = await countStart(folder)
  const kept = await file.read()
  const engineVersion = await engine.version().catch(() => state.engineVersion)
  for (const warning of engineWarnings(engineVersion.version)) log.warn(warning, 'of the engine')
  const role = createNodeRole(folder, state, log)
  const board = createReplicaStatusTable(starts, (observations) => routing.report(observations))
  const routing = startRouting({
    engine,
    admin: options.router,
    desired: () => node.converger.desired(),
    view: board.view,
    report: (observations) => session.report(observations),
    monotonicMs: clockOf(options),
    log,
  })
  const node = startNode(options, board, routing, {
    registryCredential: (host) => session.registryCredential(host),
    containerEnvironment: (id) => session.containerEnvironment(id),
    onOrphansLeft: (names) => session.reportOrphans(names),
    mayMake: role.mayMake,
  })
  const session = options.startSession({
    state,
    machine: () => machineFacts({ ...state, ...peerOf(options) }, engineVersion),
    onWelcome: (said) => role.take(said, node.converger.desired().keys()),
    onDesired(change) {
      node.converger.setDesired(change, 'server')
      routing.take(change)
      const routes = routing.table()
      const items = [...node.converger.desired().values()]
      file.keep({ revision: change.revision, items, ...(routes === undefined ? {} : { routes }) })
    },
    containers: () => listMachine(engine, state, board),
    streams: createSessionStreams({ engine, tenant: state.tenant, log }),
    log,
  })
  if (kept !== undefined) {
    node.converger.setDesired({ ...kept, complete: true, gone: [] }, 'kept')
    routing.take({ ...kept, complete: true })
  }
  return {
    async close() {
      session.close()
      await node.close()
      routing.close()
      await file.settled()
      await role.settled()
    },
  }
}

const clockOf = ({ monotonicMs }: AgentOptions): (() => number) => monotonicMs ?? (() => performance.now())
const peerOf = ({ peerAddress }: AgentOptions): { peerAddress?: string } =>
  peerAddress === undefined ? {} : { peerAddress }

/** What the node asks of its session, and what its sessions have told it. */
type Server = Pick<Session, 'registryCredential' | 'containerEnvironment'> &
  Pick<ConvergeDeps, 'onOrphansLeft' | 'mayMake'>

interface RunningNode {
  readonly converger: Converger
  close(): Promise<void>
}

function startNode(
  options: AgentOptions,
  board: ReplicaStatusTable,
  { engine, addresses, drain }: Routing,
  { registryCredential, ...server }: Server,
): RunningNode {
  const { log, concurrency } = options
  const { tenant } = options.state
  const readiness = createReadiness({ engine, board, now: () => Date.now() })
  const observer = startObserving({
    engine,
    tenant,
    board,
    readiness,
    log,
    onChange: (id) => converger.nudge(id),
    onUnsafe: (id) => converger.condemn(id),
  })
  const converger = startConverging({
    engine,
    tenant,
    board,
    observer,
    requisites: createRequisites({
      engine,
      tenant,
      registryCredential,
      onNetwork: addresses.setSubnet,
      log,
    }),
    addresses,
    drain,
    ...server,
    concurrency: concurrency ?? WORK_PER_CORE * availableParallelism(),
    monotonicMs: clockOf(options),
    random: Math.random,
    log,
  })
  return {
    converger,
    async close() {
      observer.close()
      readiness.close()
      await converger.close()
    },
  }
}

/** Every container of the machine, ours or not; never its environment. */
async function listMachine(
  engine: Engine,
  { tenant }: NodeState,
  board: ReplicaStatusTable,
): Promise<MachineContainer[]> {
  const listed = await engine.listContainers()
  return listed.map(({ id, name, image, state, labels }) => {
    const own = readOwnLabels(labels, tenant)
    const seen = own === undefined ? undefined : board.view(own.assignmentId)?.container
    const startedAt = typeof seen === 'object' && seen.id === id ? seen.startedAt : null
    return { id, name, image, state, startedAt, ours: own !== undefined }
  })
}
