// Formats the events of a deployment as readable lines, oldest first. Parts that differ from run to run are masked, so
// that the lines can be compared with a golden file.

import type { ApiClient } from '../platform/api-client.ts'

interface Step {
  readonly severity: string
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly count: number
}

export type Mask = readonly [RegExp, string]

const MASKS: readonly Mask[] = [
  [/\b(dep|node|evt)_[0-9A-Za-z]{20,}/g, '<$1>'],
  [/\b[0-9]{1,3}(\.[0-9]{1,3}){3}(:[0-9]+)?/g, '<address>'],
  [/sha256:[0-9a-f]{64}/g, '<digest>'],
  [/\bacme-[0-9]+/g, '<node>'],
  // Measured times have a fraction of a second; configured times have none and are not masked.
  [/\b[0-9]+\.[0-9] s\b/g, '<n> s'],
]

export async function storyOf(api: ApiClient, name: string, masks: readonly Mask[] = []): Promise<string> {
  const { body } = await api.get(`/api/v1/deployments/${name}/status`)
  const { phase, reason, message } = Object(body)
  const steps: Step[] = Object.values(Object(body['timeline']))
  const lines = [...steps.toReversed().map(lineOf), '', `${phase} (${reason}): ${message}`]
  return [...MASKS, ...masks].reduce(
    (text, [pattern, mask]) => text.replaceAll(pattern, mask),
    `${lines.join('\n')}\n`,
  )
}

function lineOf({ severity, type, reason, message, count }: Step): string {
  const times = count === 1 ? '' : ` (${count} times)`
  return `${severity.padEnd(7)} ${type} ${reason}${times}\n        ${message}`
}
