// Texts of the pages of backups.

import { formatCount } from '../format.ts'

export const backupTexts = {
  title: 'Backups',
  count: (count: number, more: boolean) => `${formatCount(count, 'backup')}${more ? ' and more' : ''}`,
  all: 'All backups',
  unknown: 'This backup',
  of: (deployment: string) => `Backup of ${deployment}`,
  backup: 'Backup',
  deployment: 'Deployment',
  revision: 'Revision',
  revisions: 'Archived revisions',
  omitted: (count: number) =>
    `${formatCount(count, 'older revision')} left out, because a backup has at most 16 MiB`,
  size: 'Size',
  created: 'Created',
  digest: 'Image digest',
  hash: 'Hash of the spec',
  scaling: 'Scaling policy',
  canary: 'Canary',
  included: 'included',
  none: 'none',
  facts: 'Facts',
  spec: 'Manifest of the backup',
  specNote: 'without secret values, which a backup never contains',

  create: 'Create a backup',
  submit: 'Create the backup',
  createHint:
    'The stored manifest, its archived revisions, its scaling policy and its canary; no data of volumes.',
  createdOf: (deployment: string) => `A backup of ${deployment} was created.`,

  restore: 'Restore',
  restoreTitle: (deployment: string) => `Restore ${deployment}`,
  restoreOf: (deployment: string, revision: number) => `Restore revision ${revision} of ${deployment}`,
  restoreActions: {
    create: 'The deployment does not exist. It is created again.',
    update: 'The deployment is changed back.',
    none: 'The deployment is already as in the backup. Nothing changes.',
  },
  restoreNone: 'Nothing that runs is stopped or moved.',
  restored: (deployment: string) => `${deployment} is being restored.`,

  remove: 'Delete this backup',
  removeNote: 'the deployment stays as it is',
  removeOf: (deployment: string) => `Delete the backup of ${deployment}`,
  removeEffect: 'The content of the backup is lost for good. The deployment and its archive stay.',
  removeNone: 'Nothing that runs changes.',
  removed: 'The backup was deleted.',

  emptyTitle: 'This tenant has no backup yet',
  emptyNext:
    'A backup keeps a deployment with its history, so that it can be created again after a deletion:',
  emptyCommand: 'holdfast backup create web',
} as const
