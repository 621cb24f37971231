import type { QuotaList } from '@holdfast/contract'
import { ofKind } from '../print/amounts.ts'
import type { Resource } from './resource.ts'

export const quotas: Resource<QuotaList['items'][number]> = {
  names: ['quotas', 'quota'],
  kind: 'quota',
  nameOf: ({ kind }) => kind,
  async list(client) {
    const listed = await client.tenants.quotas()
    return listed.ok ? { ok: true, value: listed.value.items } : listed
  },
  columns: [
    { header: 'KIND', value: ({ kind }) => kind },
    { header: 'USED', value: ({ kind, used }) => ofKind(kind, used) },
    { header: 'LIMIT', value: ({ kind, limit }) => ofKind(kind, limit) },
  ],
}
