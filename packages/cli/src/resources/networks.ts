import type { Network } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { colorOf } from '../print/color.ts'
import { findNetwork, listNetworks } from './find-network.ts'
import type { Resource } from './resource.ts'

export const networks: Resource<Network> = {
  names: ['networks', 'network', 'net'],
  kind: 'network',
  begin: 'holdfast network create <name> --node <node> creates one',
  nameOf: ({ name }) => name,
  list: listNetworks,
  read: findNetwork,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'PHASE', value: ({ phase }) => phase, tint: ({ phase }) => colorOf(phase) },
    { header: 'NODE', value: ({ nodeName }) => nodeName },
    { header: 'INTERNAL', drop: 3, value: ({ internal }) => (internal ? 'yes' : 'no') },
    { header: 'ATTACHED', drop: 2, value: ({ attached }) => attached.join(', ') },
    { header: 'AGE', drop: 1, value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'ID', wide: true, value: ({ id }) => id },
    { header: 'REASON', value: ({ reason }) => reason ?? '' },
  ],
}
