// The table of a deployment's rotations: one row per credential, with the blockers of its next phase.

import type { CredentialRotation } from '@holdfast/contract'
import type { Printed } from './output.ts'

export const ROTATIONS: Printed<CredentialRotation> = {
  kind: 'rotation',
  nameOf: ({ secret }) => secret,
  columns: [
    { header: 'SECRET', value: ({ secret }) => secret },
    { header: 'PATH', value: ({ vault_path }) => vault_path },
    { header: 'PHASE', value: ({ phase }) => phase },
    { header: 'OLD', value: ({ versions }) => versionText(versions.old) },
    { header: 'NEW', value: ({ versions }) => versionText(versions.new) },
    { header: 'CONSUMERS', value: ({ consumers }) => consumers.map(consumerText).join('; ') },
    { header: 'NEXT', value: ({ next }) => next.join(', ') },
    { header: 'BLOCKED BY', value: ({ blockedBy }) => blockedBy.join('; ') },
  ],
}

const versionText = (version: number | null): string => (version === null ? '' : String(version))

function consumerText(consumer: CredentialRotation['consumers'][number]): string {
  const { deployment, canary, running, proved } = consumer
  const runs = running.map(({ version, replicas }) => `${replicas} on v${version}`).join(', ')
  return `${deployment}${canary ? ' (canary)' : ''}: ${proved ? 'proved' : runs || 'not running'}`
}
