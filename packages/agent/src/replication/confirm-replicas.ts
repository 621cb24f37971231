// Asks the replicas which checkpoints they have and tells them which volumes have not changed. An unchanged volume whose
// newest checkpoint the replica has is up to date as of the start of the round, without any bytes being sent.

import type { NodeId, Peer } from '@holdfast/contract'
import { includesCheckpoint, isClean, newestTaken } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { CONFIRM_VOLUMES, type ConfirmItem } from '../peer/messages.ts'
import type { ConfirmedVolume, PeerRequests } from '../peer/requests.ts'
import type { PrimaryVolume } from './primary-volumes.ts'
import type { ReplicaTable } from './replica-table.ts'
import type { ObservedRound } from './rounds.ts'

export interface ConfirmDeps {
  readonly requests: Pick<PeerRequests, 'confirm'>
  readonly table: ReplicaTable
  /** Called after a node has answered. `isFirst`: it answered about a volume for the first time. */
  onAnswer(peer: Peer, isFirst: boolean): void
  readonly log: Logger
}

/** The volumes of a round, and when it began: unchanged ones have everything that was written before. */
export type ConfirmedRound = Pick<ObservedRound, 'volumes' | 'startedMs' | 'stamp'>

export interface Confirmer {
  /** Confirms the volumes of which the node has replicas, unless the last request is still under way. */
  start(peer: Peer, round: ConfirmedRound): void
  settled(): Promise<void>
}

export function createConfirmer(deps: ConfirmDeps): Confirmer {
  const running = new Map<NodeId, Promise<void>>()
  const messages = new Map<NodeId, string>()
  const explain = (peer: Peer, message: string): void => {
    if (messages.get(peer.nodeId) !== message && message !== '')
      deps.log.warn({ peer: peer.nodeId, message }, 'peer does not confirm')
    messages.set(peer.nodeId, message)
  }
  return {
    start(peer, round) {
      // The answer to a stream that has just begun says what a confirmation would say.
      const isBegun = ({ volume }: PrimaryVolume): boolean => {
        const { inFlight, servedMs } = deps.table.of(volume, peer.nodeId)
        return inFlight !== undefined && servedMs >= round.startedMs
      }
      const own = round.volumes.filter((one) => one.targets.includes(peer.nodeId) && !isBegun(one))
      if (own.length === 0 || running.has(peer.nodeId)) return
      const work = confirmAll(deps, peer, { ...round, volumes: own })
        .then((refusal) => explain(peer, refusal))
        .catch((error: unknown) => explain(peer, error instanceof Error ? error.message : String(error)))
        .finally(() => running.delete(peer.nodeId))
      running.set(peer.nodeId, work)
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}

/** Returns why the node refused volumes; empty if it refused none. */
async function confirmAll(
  { requests, table, onAnswer }: ConfirmDeps,
  peer: Peer,
  { volumes, startedMs, stamp }: ConfirmedRound,
): Promise<string> {
  const refusals = new Set<string>()
  let isFirst = false
  for (let at = 0; at < volumes.length; at += CONFIRM_VOLUMES) {
    const part = volumes.slice(at, at + CONFIRM_VOLUMES)
    const items = part.map(itemOf)
    const answers = await requests.confirm(peer, items, stamp)
    for (const item of items) {
      const answer = answers.find(({ volume }) => volume === item.volume)
      if (answer?.held === undefined) refusals.add(`${item.volume}: ${answer?.reason ?? 'no answer'}`)
      else if (record(table, peer, item, answer.held, startedMs)) isFirst = true
    }
  }
  onAnswer(peer, isFirst)
  return [...refusals].slice(0, 10).join(', ')
}

function itemOf({ volume, copy, facts }: PrimaryVolume): ConfirmItem {
  const newest = newestTaken(facts)
  const unchanged = newest && isClean(facts) ? { epoch: newest.epoch, number: newest.number } : undefined
  return { volume, epoch: copy.epoch, ...(unchanged && { unchanged }) }
}

/** Records an answer; returns whether it is the first one about the volume. */
function record(
  table: ReplicaTable,
  { nodeId }: Peer,
  { volume, unchanged }: ConfirmItem,
  held: NonNullable<ConfirmedVolume['held']>,
  startedMs: number,
): boolean {
  const entry = table.of(volume, nodeId)
  const isFirst = entry.held === undefined
  const isCurrent = unchanged !== undefined && includesCheckpoint(held, unchanged)
  table.acknowledge(entry, held, isCurrent ? startedMs : undefined)
  return isFirst
}
