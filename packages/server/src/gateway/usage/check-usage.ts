// Checks the samples of an agent, which may be hostile: lengths and ranges. Shapes check types only.

import {
  MAX_SAMPLED_CONTAINERS,
  MAX_SENT_SAMPLES,
  MAX_SENT_SERIES,
  type SampleRound,
  type UsageMessage,
} from '@holdfast/contract'

/** Float32 keeps numbers up to this one, more than any machine has of anything. */
const MAX_VALUE = Number.MAX_SAFE_INTEGER

const isValue = (value: unknown): boolean =>
  typeof value !== 'number' || (Number.isInteger(value) && value >= 0 && value <= MAX_VALUE)

export const isValidRound = ({ ageMs, node, containers, unread }: SampleRound): boolean =>
  isValue(ageMs) &&
  isValue(unread) &&
  Object.values(node).every(isValue) &&
  containers.length <= MAX_SAMPLED_CONTAINERS &&
  containers.every((sample) => Object.values(sample).every(isValue))

export const isValidUsage = ({ agesMs, node = [], series }: UsageMessage): boolean =>
  agesMs.length <= MAX_SENT_SAMPLES &&
  agesMs.every(isValue) &&
  node.length <= agesMs.length &&
  node.every((sample) => Object.values(sample ?? {}).every(isValue)) &&
  series.length <= MAX_SENT_SERIES &&
  series.every(({ cpuMillis, memoryBytes, rx, tx }) =>
    [cpuMillis, memoryBytes, rx, tx].every(
      (column) => column.length <= agesMs.length && column.every(isValue),
    ),
  )
