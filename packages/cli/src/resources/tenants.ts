import { readAll } from '@holdfast/client'
import type { Tenant } from '@holdfast/contract'
import { age } from '../print/age.ts'
import type { Resource } from './resource.ts'

export const tenants: Resource<Tenant> = {
  names: ['tenants', 'tenant'],
  kind: 'tenant',
  nameOf: ({ id }) => id,
  list: (client) => readAll((page) => client.tenants.list(page)),
  read: (client, id) => client.tenants.read(id),
  columns: [
    { header: 'ID', value: ({ id }) => id },
    { header: 'NAME', value: ({ name }) => name },
    {
      header: 'STATE',
      value: ({ deleting, platform }) => (deleting ? 'deleting' : platform ? 'platform' : 'active'),
    },
    { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
  ],
}
