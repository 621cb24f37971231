// The phases of one credential's rotation: allowed steps, their effect and what blocks them. At any time the target
// system, such as a database, accepts a version that is still stored, and no container has a destroyed version. The
// functions are pure; rotation-model.test.ts checks them exhaustively (docs/design/secrets.md#rotation).

import type { RotationPhase, RotationStep } from '@holdfast/contract'
import { type AnchoredVolume, type RotationCheckpoint, volumeBlockers } from './anchored-volumes.ts'

export interface Rotating {
  readonly phase: Exclude<RotationPhase, 'idle'>
  readonly old: number
  readonly new: number
  /** True while the cutover is being rolled back. The rollback ends when no container uses the new version. */
  readonly aborting?: boolean
  /** Checkpoints of anchored volumes, taken after every consumer had the new version. */
  readonly checkpoints?: readonly RotationCheckpoint[]
}

/** The state of one deployment, canary or job that uses the credential. */
export interface RotationConsumer {
  readonly name: string
  /** The secret version that the deployment's record pins; null if it pins none. */
  readonly pin: number | null
  /** The desired number of replicas of the deployment. */
  readonly desired: number
  /** Secret versions of containers that may still exist, and of the revision that a failed update would restore. */
  readonly held: readonly number[]
  /** Number of ready replicas that have proved to use a secret version, by version. */
  readonly proved: ReadonlyMap<number, number>
  /** True if the deployment is being deleted or no longer uses the secret. Its last containers still block a step. */
  readonly leaving: boolean
  /** True if a volume depends on the credential; then only a cutover changes the pinned version. */
  readonly anchored?: boolean
  /** Whether the consumer is a job, which no phase moves: it keeps its version until it ends or is retried. */
  readonly isJob?: boolean
  /** Whether the consumer is the canary of the named deployment, which no phase moves: it ends first. */
  readonly isCanary?: boolean
}

export interface RotationFacts {
  readonly rotation: Rotating | undefined
  /** Versions of the credential that are not destroyed, ascending. */
  readonly versions: readonly number[]
  readonly consumers: readonly RotationConsumer[]
  /** The volumes whose data depends on the credential. */
  readonly volumes: readonly AnchoredVolume[]
}

export type RotationTurn =
  | {
      readonly kind: 'turned'
      /** The state of the rotation after the step; undefined if the rotation has ended. */
      readonly rotation: Rotating | undefined
      /** The version to pin in the deployment that requested the step. */
      readonly pin?: number
      /** Versions to destroy: removed from the credential's record now, and from the secrets store afterwards. */
      readonly destroyed: readonly number[]
    }
  | { readonly kind: 'refused'; readonly blockedBy: readonly string[] }
  /** The step `stage` was requested without secret values, and no stored version is newer than the version in use. */
  | { readonly kind: 'empty' }

/** The rotation steps that may be requested now. */
export function nextSteps(rotation: Rotating | undefined): readonly RotationStep[] {
  if (rotation === undefined) return ['stage']
  if (rotation.aborting === true) return []
  return [FOLLOWS[rotation.phase], 'abort']
}

const FOLLOWS = { stage: 'overlap', overlap: 'cutover', cutover: 'retire' } as const

/** Decides a rotation step. `written` is the new version; if absent, `stage` uses the newest unused version. */
export function turnRotation(facts: RotationFacts, step: string, written?: number): RotationTurn {
  const { rotation } = facts
  if (!nextSteps(rotation).some((each) => each === step)) return refuse(blockers(facts))
  if (rotation === undefined) return stage(facts, written)
  if (step === 'abort') return abort(facts, rotation)
  if (step === 'retire') return retire(facts, rotation)
  const phase = step === 'overlap' ? 'overlap' : 'cutover'
  const turned = { kind: 'turned', rotation: { ...rotation, phase }, destroyed: [] } as const
  return phase === 'cutover' ? { ...turned, pin: rotation.new } : turned
}

/** Conditions that block the next rotation step, as sentences. */
export function blockers(facts: RotationFacts): string[] {
  const { rotation, consumers } = facts
  if (rotation === undefined) return stageBlockers(facts)
  if (rotation.aborting === true) return abortBlockers(consumers, rotation)
  if (rotation.phase !== 'cutover') return []
  const ofConsumers = consumerBlockers(facts)
  if (ofConsumers.length > 0) return ofConsumers
  return facts.volumes.flatMap((volume) => volumeBlockers(volume, rotation.checkpoints))
}

/** Why consumers block the end of a rotation. Only when none does may the checkpoints of volumes be taken. */
export const consumerBlockers = ({ rotation, consumers }: RotationFacts): string[] =>
  rotation === undefined ? [] : consumers.flatMap((each) => retireBlockers(each, rotation))

/** Why no step is possible during an abort. Never empty, because the abort ends the rotation without a further step. */
function abortBlockers(consumers: readonly RotationConsumer[], { new: version }: Rotating): string[] {
  const left = consumers.filter((each) => has(each, version))
  if (left.length === 0) return ['the cutover is being rolled back; no action is needed']
  return left.map(
    (each) => `the cutover is being rolled back; ${describe(each)} still uses version ${version}`,
  )
}

/** Whether every replica uses the new secret version and no update can restore the old one. */
export function hasProved(consumer: RotationConsumer, { new: version }: Rotating): boolean {
  const { pin, held, proved, desired } = consumer
  return pin === version && held.every((each) => each === version) && (proved.get(version) ?? 0) >= desired
}

function stage(facts: RotationFacts, written: number | undefined): RotationTurn {
  const [old] = usedVersions(facts)
  const blockedBy = stageBlockers(facts)
  if (old === undefined || blockedBy.length > 0) return refuse(blockedBy)
  const version = written ?? facts.versions.findLast((each) => each > old)
  if (version === undefined) return { kind: 'empty' }
  // Unused versions between the old and the newest version are destroyed, so that no update uses one of them. The newest
  // version is kept, because an update in progress may be pinning it.
  const held = new Set(facts.consumers.flatMap((each) => each.held))
  const newest = facts.versions.at(-1) ?? old
  const destroyed = facts.versions.filter((each) => each > old && each < newest && !held.has(each))
  return { kind: 'turned', rotation: { phase: 'stage', old, new: version }, destroyed }
}

function usedVersions({ consumers }: RotationFacts): number[] {
  return [...new Set(consumers.flatMap(({ pin, leaving }) => (leaving ? [] : (pin ?? []))))]
}

/** Blocks `stage` while two versions are in use, because an abort could not restore both. */
function stageBlockers(facts: RotationFacts): string[] {
  const used = usedVersions(facts)
  if (used.length === 1) return canaryBlockers(facts, used)
  if (used.length === 0) return ['no version is in use yet: write the first one with PUT /secrets']
  const newest = Math.max(...used)
  return facts.consumers
    .filter(({ pin, leaving }) => pin !== null && pin !== newest && !leaving)
    .map(({ name, pin, anchored }) => {
      const remedy =
        anchored === true
          ? 'a volume depends on it, so use another path for the others'
          : `restart ${name} first`
      return `${name} uses version ${pin} and others ${newest}: ${remedy}`
    })
}

/** A canary with another version blocks `stage`, which could stage that version or destroy it. */
const canaryBlockers = ({ consumers }: RotationFacts, [used]: readonly number[]): string[] =>
  consumers
    .filter(({ isCanary }) => isCanary === true)
    .flatMap(({ name, held }) => {
      const other = held.find((version) => version !== used)
      return other === undefined
        ? []
        : [`the canary of ${name} uses version ${other} and others ${used}: promote or abort it first`]
    })

const describe = ({ name, isCanary }: RotationConsumer): string =>
  isCanary === true ? `the canary of ${name}` : name

/**
 * Aborts a rotation. Before the cutover an unused new version is destroyed at once. Otherwise both versions are kept
 * until no container uses the new one.
 */
function abort({ consumers }: RotationFacts, rotation: Rotating): RotationTurn {
  if (rotation.phase !== 'cutover' && !consumers.some((each) => has(each, rotation.new)))
    return { kind: 'turned', rotation: undefined, destroyed: [rotation.new] }
  const back: Rotating = { ...rotation, phase: 'cutover', aborting: true }
  return { kind: 'turned', rotation: back, pin: rotation.old, destroyed: [] }
}

function retire(facts: RotationFacts, rotation: Rotating): RotationTurn {
  const blockedBy = blockers(facts)
  if (blockedBy.length > 0) return refuse(blockedBy)
  return { kind: 'turned', rotation: undefined, destroyed: [rotation.old] }
}

function retireBlockers(consumer: RotationConsumer, rotation: Rotating): string[] {
  const { name, pin, desired, held, proved } = consumer
  const version = rotation.new
  const other = held.find((each) => each !== version)
  if (consumer.leaving && other === undefined) return []
  if (consumer.isJob === true)
    return [`${name} still uses version ${other}: wait until it ends, or cancel it`]
  if (consumer.isCanary === true)
    return [`the canary of ${name} still uses version ${other}: promote or abort it`]
  if (consumer.leaving) return [`${name} no longer refers to it, but a container still uses version ${other}`]
  if (pin !== version) return [`${name} has not moved to version ${version} yet`]
  const ready = proved.get(version) ?? 0
  return [
    ...(other === undefined ? [] : [`${name} still uses version ${other} or may roll back to it`]),
    ...(ready >= desired ? [] : [`${name} has proved version ${version} on ${ready} of ${desired} replicas`]),
  ]
}

const has = ({ pin, held, leaving }: RotationConsumer, version: number): boolean =>
  (pin === version && !leaving) || held.includes(version)

const refuse = (blockedBy: readonly string[]): RotationTurn => ({ kind: 'refused', blockedBy })

/** The controller's next action during a cutover. */
export type RotationMove =
  | { readonly kind: 'pin'; readonly consumers: readonly string[]; readonly version: number }
  /** Ends the rotation, because the rollback of the cutover is complete. */
  | { readonly kind: 'end'; readonly destroyed: readonly number[] }

/**
 * The next move of a cutover. Deployments change to the new version one at a time, beginning with `first`. An abort
 * changes all of them back at once, because the old version is known to work.
 */
export function nextMove({ rotation, consumers }: RotationFacts, first: string): RotationMove | undefined {
  if (rotation?.phase !== 'cutover') return undefined
  const staying = consumers.filter(({ leaving }) => !leaving)
  const moved = staying.filter(({ pin }) => pin === rotation.new)
  if (rotation.aborting === true) {
    if (moved.length > 0) return pinTo(moved, rotation.old)
    return consumers.some((each) => has(each, rotation.new))
      ? undefined
      : { kind: 'end', destroyed: [rotation.new] }
  }
  if (!moved.every((each) => hasProved(each, rotation))) return undefined
  const waiting = staying.filter(({ pin }) => pin !== rotation.new)
  const [next] = [...waiting.filter(({ name }) => name === first), ...waiting]
  return next && pinTo([next], rotation.new)
}

function pinTo(consumers: readonly RotationConsumer[], version: number): RotationMove {
  return { kind: 'pin', consumers: consumers.map(({ name }) => name), version }
}
