// The events about a backup. The name of the subject is the deployment's, so that its history includes its backups.

import type { StoredBackup, StoredDeployment } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

type Described = Pick<StoredBackup, 'id' | 'deploymentName' | 'deploymentRevision'>

const common = ({ id, deploymentName }: Described) => ({
  severity: 'info' as const,
  subject: { kind: 'Backup', name: deploymentName, uid: id },
})

export function backupCreatedEvent(backup: StoredBackup): NewEvent {
  const { id, deploymentName, deploymentRevision, revisionCount, sizeBytes } = backup
  return {
    type: 'backup.created',
    ...common(backup),
    cause: 'created',
    reason: 'created',
    message: `Backup ${id} of deployment ${deploymentName}, revision ${deploymentRevision}, was created.`,
    data: { deploymentName, deploymentRevision, revisionCount, sizeBytes },
  }
}

export function backupRestoredEvent(
  backup: Described,
  { uid, revision }: Pick<StoredDeployment, 'uid' | 'revision'>,
): NewEvent {
  const { id, deploymentName, deploymentRevision } = backup
  return {
    type: 'backup.restored',
    ...common(backup),
    cause: `${uid}/${revision}`,
    reason: revision === 1 ? 'created' : 'updated',
    message: `Backup ${id} was restored; deployment ${deploymentName} has revision ${revision} now.`,
    data: { deploymentName, deploymentRevision, revision },
  }
}

export function backupDeletedEvent(backup: Described): NewEvent {
  const { id, deploymentName, deploymentRevision } = backup
  return {
    type: 'backup.deleted',
    ...common(backup),
    cause: 'deleted',
    reason: 'deleted',
    message: `Backup ${id} of deployment ${deploymentName} was deleted.`,
    data: { deploymentName, deploymentRevision },
  }
}
