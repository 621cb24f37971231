// The words and amounts of a volume for people.

import type { Volume } from '@holdfast/contract'
import { VOLUME_PHASE_TEXTS, VOLUME_REASON_TEXTS } from '../reference/volume-words.ts'
import { age } from './age.ts'
import { memory } from './amounts.ts'

/** `Ready`, or `Pending (unschedulable)`. */
export const phaseText = ({ phase, reason }: Pick<Volume, 'phase' | 'reason'>): string =>
  reason === null ? phase : `${phase} (${reason})`

/** The meaning of the reason, or of a phase without a reason, in words. */
export function phaseMeaning({ phase, reason }: Pick<Volume, 'phase' | 'reason'>): string {
  const word = reason === null ? undefined : new Map(Object.entries(VOLUME_REASON_TEXTS)).get(reason)
  return (word ?? VOLUME_PHASE_TEXTS[phase]).meaning
}

/** The bytes in use with their share of the size, and when they were measured; empty if no node has the volume. */
export function usageText({ usedBytes, sizeBytes, measuredAt, primary }: Volume, nowMs: number): string {
  if (primary === null) return ''
  if (usedBytes === null) return 'unknown: the node has not answered'
  const when = measuredAt === null ? '' : `, measured ${age(measuredAt, nowMs)} ago`
  return `${memory(usedBytes)} of ${memory(sizeBytes)} (${shareOf(usedBytes, sizeBytes)})${when}`
}

/** A share that is not zero is shown as at least 1 %, and one below the whole as at most 99 %. */
export function shareOf(part: number, whole: number): string {
  const percent = Math.round((part / whole) * 100)
  if (part > 0 && percent === 0) return '1%'
  return `${part < whole ? Math.min(99, percent) : percent}%`
}

/** How many copies are up to date, of those that the volume should have: `1/2`. Object storage has none. */
export function copiesText({ class: kind, copies, replicas }: Volume): string {
  if (kind === 'object') return ''
  return `${copies.filter(({ state }) => state === 'current').length}/${1 + replicas}`
}

export function residencyText({ residency }: Pick<Volume, 'residency'>): string {
  const { country, region, blockedCountries = [] } = residency ?? {}
  return [
    ...(country === undefined ? [] : [`country ${country}`]),
    ...(region === undefined ? [] : [`region ${region}`]),
    ...(blockedCountries.length === 0 ? [] : [`not in ${blockedCountries.join(', ')}`]),
  ].join(', ')
}

/** The command or change that comes next for a volume; undefined if nothing is to do. */
export function nextStep(volume: Volume): string | undefined {
  const { name, phase, reason, class: kind, primary, consumers } = volume
  switch (phase) {
    case 'Pending':
      return `holdfast why volume ${name}`
    case 'Materializing':
    case 'Resizing':
    case 'Promoting':
    case 'Deleting':
      return `holdfast get volume ${name} -w follows its phase`
    case 'Degraded':
      return primary === null ? `holdfast why volume ${name}` : `holdfast describe node ${primary.nodeName}`
    case 'Lost':
      return `holdfast volume delete ${name} frees its name`
    case 'Ready':
      if (reason === 'under_replicated') return `holdfast why volume ${name}`
      return consumers.length > 0 || kind === 'object'
        ? undefined
        : `mount it in a deployment: volumes: [{volume: ${name}, target: /var/lib/data, type: volume, readOnly: false}]`
  }
}

/** Completes the title of the remedies for a volume. */
export const PLACE_IT = 'place it'
