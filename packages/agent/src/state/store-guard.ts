// Remembers the server's store on the node's disk: its epoch, the highest session and revision, and whether the node holds.
// A node that holds removes nothing. A restart of the agent does not end a hold; an operator does, by confirming the
// restored store. See docs/design/restored-stores.md#agents.

import { join } from 'node:path'
import {
  type AssignmentId,
  branded,
  type DesiredItem,
  encodeOpen,
  integer,
  type NodeId,
  object,
  optional,
  string,
} from '@holdfast/contract'
import { judgeShownStore, type SeenStore, type ShownStore } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { DesiredChange } from '../ports/session.ts'
import { writeDurably } from './durable-file.ts'
import type { NodeState } from './node-state.ts'
import { readOwnFile } from './read-own-file.ts'
import { createSaver } from './saver.ts'

const FILE = 'store.json'

const fileShape = object({
  v: integer(),
  nodeId: branded<NodeId>(),
  generation: integer(),
  epoch: optional(string()),
  session: integer(),
  revision: integer(),
  held: optional(string()),
})

export interface StoreGuard {
  /** Records the number of a session that the server has opened. Its first desired set is judged with this number. */
  noteSession(session: number): void
  /** Judges the store of a desired set, and returns the set without removals if the node holds. */
  check(change: DesiredChange, desired: DesiredItems): DesiredChange
  /** Why the node removes nothing; undefined while it may. */
  readonly held: string | undefined
  /** Resolves when what the node remembers is on disk, or could not be written. */
  settled(): Promise<void>
  close(): Promise<void>
}

type DesiredItems = ReadonlyMap<AssignmentId, Pick<DesiredItem, 'desired'>>
type Owner = Pick<NodeState, 'nodeId' | 'generation'>

export async function openStoreGuard(folder: string, owner: Owner, log: Logger): Promise<StoreGuard> {
  const path = join(folder, FILE)
  let seen = await readSeen(path, owner, log)
  let session = seen?.session ?? 0
  let isNewSession = false
  const { save, settled, close } = createSaver({
    write: async () => {
      if (seen === undefined) return
      const { epoch, held, ...numbers } = seen
      await writeDurably(path, `${encodeOpen({ v: 1, ...pick(owner), ...numbers, epoch, held })}\n`)
    },
    onFailed: (error) => log.error({ message: String(error) }, 'known store write failed, retrying'),
    onSaved: () => log.info({}, 'known store written'),
  })
  const judge = (shown: ShownStore): void => {
    const before = seen
    const next = judgeShownStore(before, shown)
    seen = next
    if (next.held !== before?.held) report(log, next)
    // The revision alone grows with every set, so it is written only together with another change.
    if (next.session !== before?.session || next.epoch !== before?.epoch || next.held !== before?.held) save()
  }
  if (seen?.held !== undefined) report(log, seen)
  return {
    noteSession(number) {
      session = number
      isNewSession = true
    },
    check(change, desired) {
      const { epoch, unconfirmed } = change.store ?? {}
      judge({ session, isNewSession, revision: change.revision, epoch, isUnconfirmed: unconfirmed })
      isNewSession = false
      return seen?.held === undefined ? change : withoutRemovals(change, desired)
    },
    get held() {
      return seen?.held
    },
    settled,
    close,
  }
}

const pick = ({ nodeId, generation }: Owner): Owner => ({ nodeId, generation })

function report(log: Logger, { held, epoch }: SeenStore): void {
  if (held === undefined) log.info({ epoch }, 'restored store confirmed, orphans are removed again')
  else
    log.error(
      { reason: held },
      'store was restored, nothing is removed until an operator runs holdfast-server restored --confirm',
    )
}

/**
 * The set as a change that adds and keeps: what a restored store lacks is no proof, and its orders to stop or remove may be
 * older than what runs.
 */
function withoutRemovals(change: DesiredChange, before: DesiredItems): DesiredChange {
  const isRunning = (id: AssignmentId): boolean => before.get(id)?.desired === 'running'
  const { wipePool: _wipe, offers: _offers, jobLogs: _logs, ...kept } = change
  return {
    ...kept,
    complete: false,
    items: change.items.filter(
      ({ assignmentId, desired }) => desired === 'running' || !isRunning(assignmentId),
    ),
    gone: [],
    unrouted: [],
    goneCopies: [],
    goneNetworks: [],
    ...(change.copies === undefined
      ? {}
      : { copies: change.copies.filter(({ desired }) => desired === 'present') }),
    ...(change.networks === undefined
      ? {}
      : { networks: change.networks.filter(({ desired }) => desired === 'present') }),
  }
}

/** An unreadable file is reported, and the node then remembers nothing. */
async function readSeen(path: string, owner: Owner, log: Logger): Promise<SeenStore | undefined> {
  try {
    const saved = await readOwnFile(path, fileShape, owner)
    if (saved === undefined) return undefined
    const { epoch, session, revision, held } = saved
    return { epoch, session, revision, held }
  } catch (error) {
    log.error({ message: String(error) }, 'known store on disk is unusable')
    return undefined
  }
}
