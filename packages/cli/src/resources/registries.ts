import type { Registry } from '@holdfast/contract'
import { age } from '../print/age.ts'
import type { Resource } from './resource.ts'

export const registries: Resource<Registry> = {
  names: ['registries', 'registry'],
  kind: 'registry',
  plural: 'registries',
  nameOf: ({ host }) => host,
  async list(client) {
    const listed = await client.registries.list()
    return listed.ok ? { ok: true, value: listed.value.items } : listed
  },
  columns: [
    { header: 'HOST', value: ({ host }) => host },
    { header: 'CREDENTIAL', value: ({ credential }) => (credential ? 'stored' : 'none') },
    { header: 'UPDATED', value: ({ updatedAt }, nowMs) => age(updatedAt, nowMs) },
  ],
}
