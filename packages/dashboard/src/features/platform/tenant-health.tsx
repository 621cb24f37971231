// Whether a tenant needs a person: its worst severity, and how many items there are of each.

import type { TenantSummary } from '@holdfast/contract'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import { formatCount } from '../../texts/format.ts'

const NOUNS: { readonly [severity: string]: string } = { error: 'problem', info: 'note' }
const nounOf = (severity: string): string => NOUNS[severity] ?? severity

export function TenantHealth({ tenant: { worst, attention, deleting } }: { readonly tenant: TenantSummary }) {
  if (deleting) return <PhaseBadge word="Deleting" label={texts.platform.tenant.deleting} />
  if (worst === null) return <PhaseBadge word="ready" label={texts.platform.tenant.well} />
  const counts = Object.entries(attention).filter(([, count]) => count > 0)
  return (
    <PhaseBadge
      word={worst}
      label={counts.map(([word, count]) => formatCount(count, nounOf(word))).join(', ')}
    />
  )
}
