// Asks the agents of primaries for the bytes in use and the ages of the copies. Nothing of it is stored: answers are kept
// for ten seconds, and an agent that does not answer leaves the values unknown.

import type { Measurement, NodeId, TenantId, VolumeId } from '@holdfast/contract'
import { createBoundedMap } from '../../lib/bounded-map.ts'
import type { StoredVolume } from '../../store/records.ts'

/** Asks a node for measurements of all its copies. `unreachable` means that they are unknown, not that there are none. */
export type CallMeasure = (
  tenant: TenantId,
  nodeId: NodeId,
  method: 'measure' | 'checkpoint',
) => Promise<readonly Measurement[] | 'unreachable'>

/** Finds the measurement of a volume in the answers. */
export type FindMeasurement = (volume: StoredVolume) => Measurement | undefined

export interface Measurements {
  /** The last measurement of a volume that its node sent, however old it is; undefined if this server has none. */
  lastKnown(tenant: TenantId, volume: StoredVolume): Measurement | undefined
  /** Asks the node of each primary once; nodes that do not answer in time leave their volumes unmeasured. */
  measure(tenant: TenantId, volumes: readonly StoredVolume[]): Promise<FindMeasurement>
}

const KEPT_MS = 10_000
const MAX_NODES = 10_000
/** Number of nodes that one request asks at the same time. */
const AT_ONCE = 32

interface Asked {
  readonly at: number
  readonly answer: Promise<ReadonlyMap<VolumeId, Measurement> | undefined>
}

export function createMeasurements(callMeasure: CallMeasure, now: () => number): Measurements {
  const asked = createBoundedMap<string, Asked>(MAX_NODES)
  const answered = createBoundedMap<string, ReadonlyMap<VolumeId, Measurement>>(MAX_NODES)
  const ask = (tenant: TenantId, nodeId: NodeId): Asked['answer'] => {
    const key = `${tenant}/${nodeId}`
    const before = asked.get(key)
    if (before !== undefined && now() - before.at < KEPT_MS) return before.answer
    const answer = callMeasure(tenant, nodeId, 'measure').then(byVolume, () => undefined)
    const entry = { at: now(), answer }
    asked.set(key, entry)
    // A node that did not answer is asked again by the next request.
    void answer.then((found) => {
      if (found !== undefined) answered.set(key, found)
      else if (asked.get(key) === entry) asked.delete(key)
    })
    return answer
  }
  return {
    lastKnown: (tenant, { id, primary }) =>
      primary === null ? undefined : answered.get(`${tenant}/${primary.nodeId}`)?.get(id),
    async measure(tenant, volumes) {
      const ids = [...new Set(volumes.flatMap(({ primary }) => primary?.nodeId ?? []))]
      const found = new Map<NodeId, ReadonlyMap<VolumeId, Measurement> | undefined>()
      for (let from = 0; from < ids.length; from += AT_ONCE)
        await Promise.all(
          ids.slice(from, from + AT_ONCE).map(async (id) => found.set(id, await ask(tenant, id))),
        )
      return ({ id, primary }) => (primary === null ? undefined : found.get(primary.nodeId)?.get(id))
    },
  }
}

/** The valid measurements of an answer; undefined if there was none. */
export function byVolume(
  answer: readonly Measurement[] | 'unreachable',
): ReadonlyMap<VolumeId, Measurement> | undefined {
  if (answer === 'unreachable') return undefined
  return new Map(answer.filter(isValid).map((measurement) => [measurement.volume, measurement]))
}

/** The schema of the protocol checks types only; a wrong number must not reach a client. */
function isValid({ usedBytes, measuredAt, checkpoint: own, highest, replicas = [] }: Measurement): boolean {
  const checkpoints = [own, ...replicas.map(({ checkpoint }) => checkpoint)]
  const numbers = [
    usedBytes,
    highest?.bytes ?? 0,
    ...checkpoints.flatMap((one) => (one === undefined ? [] : [one.epoch, one.number])),
    ...replicas.map(({ age }) => age ?? 0),
  ]
  const areTimes = TIME.test(measuredAt) && DAY.test(highest?.since ?? measuredAt)
  return areTimes && numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
}

const DAY = /^\d{4}-\d\d-\d\d/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
