// Each phase of a rotation in words: the part that only the person can do, and buttons that name their effects.

import type { CredentialRotation, RotationStep } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'

const words = texts.secrets.rotation

export const SHOWN_PHASES = ['idle', 'stage', 'overlap', 'cutover', 'retire'] as const

const versionText = (version: number | null, fallback: string): string =>
  version === null ? fallback : texts.secrets.version(version)

const oldOf = ({ versions }: CredentialRotation): string => versionText(versions.old, 'the old version')
const newOf = ({ versions }: CredentialRotation): string => versionText(versions.new, words.newVersion)

/** The part of the person in the current phase, the most urgent sentence first. */
export function yourPart(credential: CredentialRotation): readonly string[] {
  const [old, next] = [oldOf(credential), newOf(credential)]
  switch (credential.phase) {
    case 'idle':
      return [words.parts.idle]
    case 'stage':
      return [words.parts.stage(old, next), words.notSeen]
    case 'overlap':
      return [words.parts.overlap(old, next), words.notSeen, words.parts.restart(next)]
    case 'cutover':
      return credential.next.length === 0 ? [] : [words.parts.cutover(), words.parts.after(old)]
  }
}

export interface Move {
  readonly name: string
  readonly replicas: number
}

/** The deployments whose containers a cutover recreates: the named one first, the others after it. */
export function movesOf({ consumers, versions }: CredentialRotation, deployment: string): Move[] {
  const moves = consumers
    .filter(({ canary, pinned }) => canary !== true && pinned !== versions.new)
    .map(({ deployment: name, running }) => ({
      name,
      replicas: running.reduce((all, { replicas }) => all + replicas, 0),
    }))
    .filter(({ name, replicas }) => replicas > 0 && !name.startsWith('job/'))
  return [
    ...moves.filter(({ name }) => name === deployment),
    ...moves.filter(({ name }) => name !== deployment),
  ]
}

/** The order of a cutover; undefined if it moves at most one deployment. */
export function orderText(credential: CredentialRotation, deployment: string): string | undefined {
  const names = movesOf(credential, deployment).map(({ name }) => name)
  return names.length < 2 ? undefined : words.order(names)
}

/** The text of the button of a step; undefined for a step that this page does not know. */
export function actText(
  step: string,
  credential: CredentialRotation,
  deployment: string,
): string | undefined {
  const [old, next] = [oldOf(credential), newOf(credential)]
  switch (step) {
    case 'stage':
      return words.acts.stage(next)
    case 'overlap':
      return words.acts.overlap(old, next)
    case 'cutover':
      return words.acts.cutover(words.recreate(movesOf(credential, deployment)))
    case 'retire':
      return words.acts.retire(old)
    case 'abort':
      return words.acts.abort(old)
    default:
      return undefined
  }
}

const STEPS: readonly RotationStep[] = ['stage', 'overlap', 'cutover', 'retire', 'abort']
export const asStep = (step: string): RotationStep | undefined => STEPS.find((each) => each === step)
