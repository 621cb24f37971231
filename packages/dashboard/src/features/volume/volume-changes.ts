// The differences between a volume and the same volume after a planned change, as a person reads them.

import type { Volume } from '@holdfast/contract'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatBytes } from '../../texts/format.ts'

export interface VolumeChange {
  readonly name: string
  readonly from: string
  readonly to: string
}

const nodesOf = ({ copies }: Pick<Volume, 'copies'>): string =>
  copies
    .map(({ nodeName }) => nodeName)
    .sort()
    .join(', ')

type Compared = Pick<Volume, 'sizeBytes' | 'replicas' | 'copies'>

export function volumeChanges(before: Compared, after: Compared): VolumeChange[] {
  const { size, replicas, nodes } = volumeTexts.changes
  return [
    { name: size, from: formatBytes(before.sizeBytes), to: formatBytes(after.sizeBytes) },
    { name: replicas, from: String(before.replicas), to: String(after.replicas) },
    { name: nodes, from: nodesOf(before), to: nodesOf(after) },
  ].filter(({ from, to }) => from !== to)
}
