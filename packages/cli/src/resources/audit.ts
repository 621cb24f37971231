import { readAll } from '@holdfast/client'
import type { AuditEntry } from '@holdfast/contract'
import { age } from '../print/age.ts'
import type { Resource } from './resource.ts'

export const audit: Resource<AuditEntry> = {
  names: ['audit'],
  kind: 'entry',
  plural: 'entries',
  nameOf: ({ id }) => id,
  selects: ({ id, subject }, name) => subject.name === name || id === name,
  // The newest entry is last, near the prompt, whatever the order of the server.
  list: async (client) => {
    const read = await readAll((page) => client.audit(page))
    return read.ok
      ? { ...read, value: read.value.toSorted((left, right) => (left.id < right.id ? -1 : 1)) }
      : read
  },
  columns: [
    { header: 'AGE', value: ({ time }, nowMs) => age(time, nowMs) },
    { header: 'ACTION', value: ({ action }) => action },
    {
      header: 'SUBJECT',
      value: ({ subject }) => `${subject.kind} ${subject.name}`,
      // The action begins with the kind.
      short: ({ subject }) => subject.name,
    },
    {
      header: 'REVISION',
      drop: 2,
      value: ({ revision }) => (revision === undefined ? '' : String(revision)),
    },
    { header: 'ROLE', drop: 1, value: ({ actor }) => actor.role },
    { header: 'BY', value: ({ actor }) => actor.name ?? actor.token },
    { header: 'TOKEN', wide: true, value: ({ actor }) => actor.token },
    { header: 'REQUEST', wide: true, value: ({ requestId }) => requestId },
  ],
}
