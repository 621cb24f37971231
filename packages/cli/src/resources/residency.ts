import { readAll } from '@holdfast/client'
import type { ResidencyEntry } from '@holdfast/contract'
import type { Resource } from './resource.ts'

/** A deployment with the places of its replicas and of the copies of its volumes. */
export const residency: Resource<ResidencyEntry> = {
  names: ['residency'],
  kind: 'residency',
  nameOf: ({ deployment }) => deployment,
  list: (client) => readAll(client.tenants.residency),
  columns: [
    { header: 'DEPLOYMENT', value: ({ deployment }) => deployment },
    { header: 'DEMAND', value: ({ demand }) => showDemand(demand) },
    { header: 'MET', value: ({ holds }) => (holds ? 'yes' : 'no') },
    { header: 'PLACES', value: ({ replicas, copies }) => [...replicas, ...copies].map(showPlace).join(', ') },
  ],
}

function showDemand({ country, region, blockedCountries = [] }: ResidencyEntry['demand']): string {
  const parts = [
    ...(country === undefined ? [] : [country]),
    ...(region === undefined ? [] : [`region ${region}`]),
    ...blockedCountries.map((blocked) => `not ${blocked}`),
  ]
  return parts.join(', ')
}

const showPlace = ({
  node,
  country,
  attested,
}: ResidencyEntry['replicas'][number] | ResidencyEntry['copies'][number]) =>
  `${node} (${country ?? 'no country'}${attested ? '' : ', not attested'})`
