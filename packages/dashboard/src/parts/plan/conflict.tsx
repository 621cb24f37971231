// The change of another person that a write would have overwritten.

import type { ArchiveEntry } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { tokenText } from '../../texts/author.ts'
import { texts } from '../../texts/en.ts'
import { Notice } from '../notice.tsx'
import { revisionChanges } from './changed-fields.ts'
import { FieldChanges } from './field-changes.tsx'

interface Props {
  readonly name: string
  readonly other: { readonly now: ArchiveEntry; readonly before?: ArchiveEntry } | undefined
  /** Starts again from the newest revision. */
  onRestart(): void
}

export function Conflict({ name, other, onRestart }: Props) {
  return (
    <Notice severity="error" title={texts.plan.conflict(name)} announced>
      {other === undefined ? <p>{texts.plan.conflictUnknown}</p> : <Other {...other} />}
      <div>
        <Button variant="default" size="compact-sm" onClick={onRestart}>
          {texts.plan.conflictNext}
        </Button>
      </div>
    </Notice>
  )
}

function Other({ now, before }: { readonly now: ArchiveEntry; readonly before?: ArchiveEntry }) {
  return (
    <>
      <p>{texts.plan.conflictBy(now.revision, tokenText(now.authorName, now.author))}</p>
      {before === undefined ? null : <FieldChanges changes={revisionChanges(before, now)} />}
    </>
  )
}
