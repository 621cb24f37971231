// The agent, put together: the session brings desired sets, the converging loop acts on them, the observer puts what it sees
// on the board, and the board reports through the session. Stopping it leaves every container as it is.

import { availableParallelism } from 'node:os'
import type { MachineContainer } from '@holdfast/contract'
import { readOwnLabels } from '@holdfast/core/reconcile'
import type { Logger } from 'pino'
import { type Converger, startConverging } from './converge.ts'
import { openDesiredFile } from './desired-file.ts'
import { machineFacts } from './machine.ts'
import { countStart, type NodeState } from './node-state.ts'
import { startObserving } from './observe.ts'
import type { Engine } from './ports/engine.ts'
import type { Session, StartSession } from './ports/session.ts'
import { createReadiness } from './readiness.ts'
import { createReplicaBoard, type ReplicaBoard } from './replica-board.ts'
import { createRequisites } from './requisites.ts'

/** Creates and starts at once: more only take longer. */
const WORK_PER_CORE = 2

export interface AgentOptions {
  readonly state: NodeState
  /** Where the node's state is kept. */
  readonly folder: string
  readonly engine: Engine
  readonly startSession: StartSession
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
  const board = createReplicaBoard(starts, (observations) => session.report(observations))
  const node = startNode(options, board, (host) => session.registryCredential(host))
  const session = options.startSession({
    state,
    machine: () => machineFacts(state, engineVersion),
    onDesired(change) {
      node.converger.setDesired(change, 'server')
      file.keep({ revision: change.revision, items: [...node.converger.desired().values()] })
    },
    containers: () => listMachine(engine, state, board),
    log,
  })
  if (kept !== undefined) node.converger.setDesired({ ...kept, complete: true, gone: [] }, 'kept')
  return {
    async close() {
      session.close()
      await node.close()
      await file.settled()
    },
  }
}

interface RunningNode {
  readonly converger: Converger
  close(): Promise<void>
}

function startNode(
  { state, engine, log, concurrency, monotonicMs }: AgentOptions,
  board: ReplicaBoard,
  registryCredential: Session['registryCredential'],
): RunningNode {
  const { tenant } = state
  const readiness = createReadiness({ engine, board, now: () => Date.now() })
  const observer = startObserving({
    engine,
    tenant,
    board,
    readiness,
    log,
    onChange: () => converger.nudge(),
    onUnsafe: (id) => converger.condemn(id),
  })
  const converger = startConverging({
    engine,
    tenant,
    board,
    observer,
    requisites: createRequisites({ engine, tenant, registryCredential }),
    concurrency: concurrency ?? WORK_PER_CORE * availableParallelism(),
    monotonicMs: monotonicMs ?? (() => performance.now()),
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
  board: ReplicaBoard,
): Promise<MachineContainer[]> {
  const listed = await engine.listContainers()
  return listed.map(({ id, name, image, state, labels }) => {
    const own = readOwnLabels(labels, tenant)
    const seen = own === undefined ? undefined : board.view(own.assignmentId)?.container
    const startedAt = typeof seen === 'object' && seen.id === id ? seen.startedAt : null
    return { id, name, image, state, startedAt, ours: own !== undefined }
  })
}
