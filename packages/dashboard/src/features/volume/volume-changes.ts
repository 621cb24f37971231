// The differences between a volume and the same volume after a planned change, as a person reads them.

import type { Volume } from '@holdfast/contract'
import type { ChangedField } from '../../parts/plan/changed-fields.ts'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatBytes } from '../../texts/format.ts'

const nodesOf = ({ copies }: Pick<Volume, 'copies'>): string =>
  copies
    .map(({ nodeName }) => nodeName)
    .sort()
    .join(', ')

type Compared = Pick<Volume, 'sizeBytes' | 'replicas' | 'copies'>

export function volumeChanges(before: Compared, after: Compared): ChangedField[] {
  const { size, replicas, nodes } = volumeTexts.changes
  return [
    {
      field: 'sizeBytes',
      label: size,
      from: formatBytes(before.sizeBytes),
      to: formatBytes(after.sizeBytes),
    },
    { field: 'replicas', label: replicas, from: String(before.replicas), to: String(after.replicas) },
    { field: 'copies', label: nodes, from: nodesOf(before), to: nodesOf(after) },
  ].filter(({ from, to }) => from !== to)
}
