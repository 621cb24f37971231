// POST /deployments/{name}/exec: issues a ticket to run one command in one container, once and within 30 seconds. The audit
// entry has the program and the length of the command, never its arguments.

import {
  type Assignment,
  decode,
  execRequestShape,
  type IssuedExec,
  type Json,
  type Owner,
  ownerOf,
  type Rejection,
  type ReplicaState,
  type TenantId,
} from '@holdfast/contract'
import { isCanaryReplica, isReady, reject, safeKey } from '@holdfast/core'
import { isLost } from '../../../liveness/node-status.ts'
import type { Clock, IdSource } from '../../../ports/clock.ts'
import { execTickets, observations } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant, placementAt } from '../../../store/transaction.ts'
import { type Caller, done, limited, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import { requireLiveCaller } from '../../preconditions.ts'
import { recordAudit } from '../../record-write.ts'
import { findStored } from '../read/find-deployment.ts'
import { EXEC_TICKET_MS, type ExecOrder, mintExecTicket } from './exec-ticket.ts'

export interface ExecDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
}

const MAX_WORDS = 256
const MAX_COMMAND_BYTES = 8 * 1024
const MAX_PROGRAM = 128
/** The most unused exec tickets that one token may have. */
const MAX_TICKETS = 32

export async function issueExec(
  { store, clock, ids }: ExecDeps,
  caller: Caller,
  path: string,
  sent: Json,
): Promise<Outcome<IssuedExec>> {
  const faults = checkShape(execRequestShape, sent, { checks: { command: checkCommand } })
  if (faults.length > 0) return refused(...faults)
  const { command, replica, canary = false, tty = false } = decode(execRequestShape, sent)
  await store.fresh()
  const found = findStored(store, caller.tenant, path)
  if (!found.ok) return found
  const owner = ownerOf('deployment', found.value.uid)
  const place = choosePlace(store, caller, owner, { replica, canary })
  if (place === undefined) return refused(noReplica(replica, canary))
  if (openTickets(store, caller, clock) >= MAX_TICKETS) return limited('Authorization', EXEC_TICKET_MS / 1000)
  const { text, secretHash, sealed } = mintExecTicket(ids, { ...place, command, tty })
  const id = ids.ulid()
  return store.transact((transaction) => {
    const gone = requireLiveCaller(transaction, caller)
    if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
    const { tenant, token, role, onBehalf } = caller
    const { name } = found.value.spec
    const expiresAt = new Date(clock.now() + EXEC_TICKET_MS).toISOString()
    const record = { v: 1, tenant, token, role, onBehalf, owner, name, secretHash, sealed, expiresAt }
    transaction.put(globally(execTickets, id), record)
    recordAudit(transaction, clock, caller, {
      action: 'deployments:exec',
      subject: { kind: 'Deployment', name },
      detail: { ...detailOf(command, place.replica), ...(canary ? { canary: 'true' } : {}) },
    })
    return { kind: 'commit', result: done({ id: `exec_${id}`, ticket: text }) }
  })
}

function detailOf(command: readonly string[], replica: number): { [name: string]: string } {
  const bytes = command.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
  const program = safeKey((command[0] ?? '').slice(0, MAX_PROGRAM))
  return { program, commandBytes: String(bytes), replica: String(replica) }
}

function checkCommand(value: Json): Rejection | undefined {
  const words = Array.isArray(value) ? value.map(String) : []
  if (words.length > MAX_WORDS) return reject('list_too_long', 'command', words.length, { max: MAX_WORDS })
  const bytes = Buffer.byteLength(JSON.stringify(words))
  const isCommand = words[0] !== undefined && words[0] !== '' && words.every((word) => !word.includes('\0'))
  if (isCommand && bytes <= MAX_COMMAND_BYTES) return undefined
  // The rejection does not quote the command, because an argument may contain a secret.
  return reject(
    'field_type_invalid',
    'command',
    undefined,
    { accepted: `a program and its arguments, at most ${MAX_COMMAND_BYTES} bytes` },
    `<redacted list, ${words.length} entries>`,
  )
}

type Place = Pick<ExecOrder, 'assignmentId' | 'nodeId' | 'replica'>
const RUNNING: readonly ReplicaState[] = ['running', 'ready']

/**
 * Chooses the replica to run a command in: the requested one, or the first ready one, or the first running one. A canary
 * runs another version, so its replicas are chosen only if they are asked for.
 */
function choosePlace(
  store: Store,
  { tenant }: Caller,
  owner: Owner,
  { replica, canary }: { readonly replica: number | undefined; readonly canary: boolean },
): Place | undefined {
  const assignments = store.get(placementAt(tenant, owner))?.record.assignments ?? []
  const [first] = assignments
    .filter((each) => each.desired === 'running' && isCanaryReplica(each) === canary)
    .filter((each) => replica === undefined || each.replica === replica)
    .map((each) => ({ ...each, rank: rankOf(store, tenant, each) }))
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank || left.replica - right.replica)
  return first && { assignmentId: first.id, nodeId: first.nodeId, replica: first.replica }
}

/**
 * Rank of a replica as the target of a command; 0 if it does not run. Replicas on unreachable nodes rank below all
 * others.
 */
function rankOf(store: Store, tenant: TenantId, { id, nodeId }: Assignment): 0 | 1 | 2 | 3 {
  const seen = store.get(inTenant(tenant, observations, id))?.record
  if (seen === undefined || !RUNNING.includes(seen.state)) return 0
  if (isLost(store, tenant, nodeId)) return 1
  return isReady(seen) ? 3 : 2
}

const noReplica = (replica: number | undefined, canary: boolean): Rejection =>
  reject('field_type_invalid', 'replica', replica, {
    accepted: canary ? 'the number of a running replica of the canary' : 'the number of a running replica',
  })

function openTickets(store: Store, { token }: Caller, clock: Clock): number {
  const now = clock.now()
  return store
    .list(execTickets)
    .filter(({ record }) => record.token === token && Date.parse(record.expiresAt) > now).length
}
