// Backups for `get`: one row per backup, without its content.

import { readAll } from '@holdfast/client'
import type { Backup } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { memory } from '../print/amounts.ts'
import type { Resource } from './resource.ts'

export const backups: Resource<Backup> = {
  names: ['backups', 'backup'],
  kind: 'backup',
  begin: 'holdfast backup create <deployment> creates one',
  nameOf: ({ id }) => id,
  list: (client) => readAll((page) => client.backups.list(page)),
  read: (client, id) => client.backups.read(id),
  columns: [
    { header: 'ID', value: ({ id }) => id },
    { header: 'DEPLOYMENT', value: ({ deploymentName }) => deploymentName },
    { header: 'REVISION', value: ({ deploymentRevision }) => String(deploymentRevision) },
    { header: 'REVISIONS', drop: 2, value: ({ revisionCount }) => String(revisionCount) },
    { header: 'SIZE', drop: 1, value: ({ sizeBytes }) => memory(sizeBytes) },
    { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'OMITTED', wide: true, value: ({ revisionsOmitted }) => String(revisionsOmitted) },
    { header: 'CREATED', wide: true, value: ({ createdAt }) => createdAt },
    { header: 'SPEC HASH', wide: true, value: ({ specHash }) => specHash },
  ],
}
