import type { Volume } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { memory } from '../print/amounts.ts'
import { colorOf } from '../print/color.ts'
import { copiesText, residencyText, shareOf } from '../print/volume.ts'
import { findVolume, listVolumes } from './find-volume.ts'
import type { Resource } from './resource.ts'

export const volumes: Resource<Volume> = {
  names: ['volumes', 'volume', 'vol'],
  kind: 'volume',
  begin: 'holdfast volume create <name> --size 10Gi creates one',
  nameOf: ({ name }) => name,
  list: listVolumes,
  read: findVolume,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'PHASE', value: ({ phase }) => phase, tint: ({ phase }) => colorOf(phase) },
    { header: 'CLASS', drop: 3, value: (item) => item.class },
    { header: 'SIZE', value: ({ sizeBytes }) => memory(sizeBytes) },
    {
      header: 'USED',
      drop: 4,
      value: ({ usedBytes, sizeBytes }) =>
        usedBytes === null ? 'unknown' : `${memory(usedBytes)} (${shareOf(usedBytes, sizeBytes)})`,
    },
    { header: 'COPIES', value: copiesText },
    { header: 'PRIMARY', drop: 5, value: ({ primary }) => primary?.nodeName ?? '' },
    { header: 'EPOCH', wide: true, value: ({ primary }) => String(primary?.epoch ?? '') },
    { header: 'CONSUMERS', drop: 2, value: ({ consumers }) => consumers.join(', ') },
    { header: 'AGE', drop: 1, value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'RESIDENCY', wide: true, value: residencyText },
    { header: 'ID', wide: true, value: ({ id }) => id },
    { header: 'REASON', value: ({ reason }) => reason ?? '' },
  ],
}
