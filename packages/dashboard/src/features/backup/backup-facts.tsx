// The facts of a backup.

import type { BackupRecord } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import { formatBytes } from '../../texts/format.ts'

export function BackupFacts({ backup }: { readonly backup: BackupRecord }) {
  const { id, deploymentRevision, revisionCount, revisionsOmitted, sizeBytes, createdAt } = backup
  const { specHash, digest, scalingPolicy, canary } = backup
  return (
    <Panel title={backupTexts.facts}>
      <Facts>
        <Fact name={backupTexts.revision}>{deploymentRevision}</Fact>
        <Fact name={backupTexts.revisions}>
          {revisionCount}
          {revisionsOmitted === 0 ? null : `; ${backupTexts.omitted(revisionsOmitted)}`}
        </Fact>
        <Fact name={backupTexts.size}>{formatBytes(sizeBytes)}</Fact>
        <Fact name={backupTexts.created}>
          <Moment iso={createdAt} />
        </Fact>
        <Fact name={backupTexts.scaling}>
          {scalingPolicy === null ? backupTexts.none : backupTexts.included}
        </Fact>
        <Fact name={backupTexts.canary}>{canary === null ? backupTexts.none : backupTexts.included}</Fact>
        <Fact name={backupTexts.backup}>
          <code>{id}</code>
        </Fact>
        <Fact name={backupTexts.hash}>
          <code>{specHash.slice(0, 16)}</code>
        </Fact>
        {digest === undefined ? null : (
          <Fact name={backupTexts.digest}>
            <code>{digest}</code>
          </Fact>
        )}
      </Facts>
    </Panel>
  )
}
