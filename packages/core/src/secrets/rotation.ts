// The phases of one credential's rotation: what may be asked for, what it leads to, and what stands in its way. DECISIONS 5,
// SAFETY 4d: at every moment some version is accepted by the target and is in the store, and no container is left with one
// that is destroyed. Pure: who has which version is given. The exhaustive model in rotation-model.test.ts runs these functions.

import type { RotationPhase, RotationStep } from '@holdfast/contract'

export interface Rotating {
  readonly phase: Exclude<RotationPhase, 'idle'>
  readonly old: number
  readonly new: number
  /** A cutover that is taken back: it ends when nobody has the new version any more. */
  readonly aborting?: boolean
}

/** What a consumer is to have, has, and may come to have without another word of anybody. */
export interface RotationConsumer {
  readonly name: string
  /** The version that its record says; null while it has none. */
  readonly pin: number | null
  /** How many replicas it is to have. */
  readonly wished: number
  /** Of its containers that are not confirmed gone, and of the revision that a failed update would go back to. */
  readonly held: readonly number[]
  /** By version: replicas that are ready and have proved to be made with it. */
  readonly proved: ReadonlyMap<number, number>
  /** It is being deleted, or refers to the path no more: it makes no container with it and counts until its last is gone. */
  readonly leaving: boolean
  /** A volume of it depends on the credential: its pin moves by a cutover only (DECISIONS 5). */
  readonly anchored?: boolean
  /**
   * Every promotable replica of the volume that the entry is anchored to holds a checkpoint newer than the cutover: one from
   * before would want the old version. True where there is no such anchor, and as long as volumes are not replicated.
   */
  readonly promotableHoldCheckpoint: boolean
}

export interface RotationFacts {
  readonly rotation: Rotating | undefined
  /** Those that are not destroyed, ascending. */
  readonly versions: readonly number[]
  readonly consumers: readonly RotationConsumer[]
}

export type RotationTurn =
  | {
      readonly kind: 'turned'
      /** Undefined: idle again. */
      readonly rotation: Rotating | undefined
      /** What the deployment that asked is pinned to from now on. */
      readonly pin?: number
      /** Versions that leave the record now and the store thereafter. */
      readonly destroyed: readonly number[]
    }
  | { readonly kind: 'refused'; readonly blockedBy: readonly string[] }
  /** `stage` without material: nothing newer than what is used was written. */
  | { readonly kind: 'empty' }

/** What may be asked for now. */
export function nextSteps(rotation: Rotating | undefined): readonly RotationStep[] {
  if (rotation === undefined) return ['stage']
  if (rotation.aborting === true) return []
  return [FOLLOWS[rotation.phase], 'abort']
}

const FOLLOWS = { stage: 'overlap', overlap: 'cutover', cutover: 'retire' } as const

/** `written` is the version that was written for this step; absent: `stage` takes the newest that nobody uses. */
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

/** What the step after the current phase waits for, in sentences. */
export function blockers(facts: RotationFacts): string[] {
  const { rotation, consumers } = facts
  if (rotation === undefined) return stageBlockers(facts)
  if (rotation.aborting === true) return abortBlockers(consumers, rotation)
  return rotation.phase === 'cutover' ? consumers.flatMap((each) => retireBlockers(each, rotation)) : []
}

/** Never empty: it ends by itself, a moment after the last one has gone back. */
function abortBlockers(consumers: readonly RotationConsumer[], { new: version }: Rotating): string[] {
  const left = consumers.filter((each) => has(each, version))
  if (left.length === 0) return ['the cutover is being taken back, and ends by itself']
  return left.map(({ name }) => `the cutover is being taken back, and ${name} still has version ${version}`)
}

/** Whether every replica of the consumer serves with the new version, and nothing can bring the old one back. */
export function hasProved(consumer: RotationConsumer, { new: version }: Rotating): boolean {
  const { pin, held, proved, wished } = consumer
  return pin === version && held.every((each) => each === version) && (proved.get(version) ?? 0) >= wished
}

function stage(facts: RotationFacts, written: number | undefined): RotationTurn {
  const [old, ...others] = usedVersions(facts)
  if (old === undefined || others.length > 0) return refuse(stageBlockers(facts))
  const version = written ?? facts.versions.findLast((each) => each > old)
  if (version === undefined) return { kind: 'empty' }
  // Written on the way and used by nobody: a deployment that is updated now must not take one of them. Not so the newest that
  // was listed before: somebody may be taking it at this moment.
  const held = new Set(facts.consumers.flatMap((each) => each.held))
  const newest = facts.versions.at(-1) ?? old
  const destroyed = facts.versions.filter((each) => each > old && each < newest && !held.has(each))
  return { kind: 'turned', rotation: { phase: 'stage', old, new: version }, destroyed }
}

function usedVersions({ consumers }: RotationFacts): number[] {
  return [...new Set(consumers.flatMap(({ pin, leaving }) => (leaving ? [] : (pin ?? []))))]
}

/** With two versions in use there is no one to go back to. */
function stageBlockers(facts: RotationFacts): string[] {
  const used = usedVersions(facts)
  if (used.length === 1) return []
  if (used.length === 0) return ['no version is in use yet: write the first one with PUT /secrets']
  const newest = Math.max(...used)
  return facts.consumers
    .filter(({ pin, leaving }) => pin !== null && pin !== newest && !leaving)
    .map(({ name, pin, anchored }) => {
      const cure =
        anchored === true ? 'a volume keeps it there, so give the others another path' : `restart ${name}`
      return `${name} uses version ${pin} and others ${newest}: ${cure} first`
    })
}

/** Both versions stay until nobody has the new one; where nobody ever had it, it goes at once. */
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
  const { name, pin, wished, held, proved, promotableHoldCheckpoint } = consumer
  const version = rotation.new
  const other = held.find((each) => each !== version)
  if (consumer.leaving)
    return other === undefined ? [] : [`${name} is giving it up and still has version ${other}`]
  if (pin !== version) return [`${name} is not moved to version ${version} yet`]
  const ready = proved.get(version) ?? 0
  return [
    ...(other === undefined ? [] : [`${name} still has version ${other}, or may go back to it`]),
    ...(ready >= wished ? [] : [`${name} has proved version ${version} with ${ready} of ${wished} replicas`]),
    ...(promotableHoldCheckpoint ? [] : [`a volume of ${name} has a replica from before the cutover`]),
  ]
}

const has = ({ pin, held, leaving }: RotationConsumer, version: number): boolean =>
  (pin === version && !leaving) || held.includes(version)

const refuse = (blockedBy: readonly string[]): RotationTurn => ({ kind: 'refused', blockedBy })

/** What the controller does while a rotation is in cutover; undefined: it waits. */
export type RotationMove =
  | { readonly kind: 'pin'; readonly consumers: readonly string[]; readonly version: number }
  /** The cutover is taken back to the end. */
  | { readonly kind: 'end'; readonly destroyed: readonly number[] }

/** Forward one after another, `first` before all; back all at once, since the old version is known to serve. */
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
