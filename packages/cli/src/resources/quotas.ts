import type { QuotaList } from '@holdfast/contract'
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
    { header: 'USED', value: ({ used }) => String(used) },
    { header: 'LIMIT', value: ({ limit }) => String(limit) },
  ],
}
