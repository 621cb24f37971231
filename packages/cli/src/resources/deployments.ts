import { readAll } from '@holdfast/client'
import type { DeploymentRecord } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { shortImage } from '../print/amounts.ts'
import { colorOf } from '../print/color.ts'
import type { Resource } from './resource.ts'

export const deployments: Resource<DeploymentRecord> = {
  names: ['deployments', 'deployment', 'dep', 'deploy'],
  kind: 'deployment',
  begin: 'holdfast init <name> writes a starter manifest',
  nameOf: ({ name }) => name,
  list: (client) => readAll((page) => client.deployments.list(page)),
  read: (client, name) => client.deployments.read(name),
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    {
      header: 'PHASE',
      value: ({ status }) => status.phase,
      tint: ({ status }) => colorOf(status.phase),
    },
    { header: 'READY', value: ({ status: { replicas } }) => `${replicas.ready}/${replicas.desired}` },
    { header: 'PLACED', wide: true, value: ({ status: { replicas } }) => String(replicas.placed) },
    { header: 'REVISION', drop: 2, value: ({ revision }) => String(revision) },
    { header: 'IMAGE', drop: 1, value: ({ image }) => image, short: ({ image }) => shortImage(image) },
    { header: 'AGE', drop: 3, value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'UID', wide: true, value: ({ uid }) => uid },
    { header: 'REASON', value: ({ status }) => status.reason },
  ],
}
